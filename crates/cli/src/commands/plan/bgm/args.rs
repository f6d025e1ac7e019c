//! Arguments of `plan bgm`.

use clap::Args;

use crate::args::{LengthArgs, RuleArg, SamplerArgs, StatementArgs, count, epsilon, seed};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  dpscope plan bgm --epsilon 9\n  dpscope plan bgm --noise-multiplier 1 --steps 100 --observations 1e7"
)]
pub(crate) struct BgmPlanArgs {
    /// Epsilon that the bound should be able to reach.
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    pub(crate) epsilon: Option<f64>,
    /// Observations in both worlds together.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) observations: Option<u64>,
    /// Predict the bound for this noise multiplier and the length of the run.
    #[arg(long, value_name = "S")]
    pub(crate) noise_multiplier: Option<f64>,
    #[command(flatten)]
    pub(crate) length: LengthArgs,
    #[command(flatten)]
    pub(crate) sampler: SamplerArgs,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    /// How the threshold is chosen.
    #[arg(long, value_enum, default_value = "simultaneous")]
    pub(crate) threshold_rule: RuleArg,
    /// Seed of the prediction [default: fresh entropy].
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}
