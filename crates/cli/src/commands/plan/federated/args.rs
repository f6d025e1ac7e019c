//! Arguments of `plan federated`.

use std::path::PathBuf;

use clap::Args;

use crate::args::{DELTA_ABOVE_0, StatementArgs, epsilon, number, positive};
use crate::commands::audit::federated::{AttackerArg, DesignArg, design};

#[derive(Debug, Args)]
#[command(
    mut_arg("delta", |arg| arg.help(DELTA_ABOVE_0)),
    after_help = "Examples:\n  dpscope plan federated --design poisson:1000 --delta 1e-6\n  \
        dpscope plan federated --dimension 1e5 --design poisson:1000 --delta 1e-6 \\\n    \
        --out clients"
)]
pub(crate) struct FederatedPlanArgs {
    /// How the number of canaries is drawn: poisson:MEAN; fixed:NUMBER gives weaker bounds.
    #[arg(long, value_parser = design)]
    pub(crate) design: DesignArg,
    /// Number of trained parameters: the dimension of the directions.
    #[arg(long, value_name = "D", value_parser = positive, requires = "out")]
    pub(crate) dimension: Option<u64>,
    /// GDP mu of the training, or a comma-separated list [default: from --claim, or 0.5,1,2,3].
    #[arg(long, value_delimiter = ',', value_parser = number, conflicts_with = "claim")]
    pub(crate) mu: Vec<f64>,
    /// Claimed epsilon of the training, converted to the mu of a Gaussian mechanism.
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    pub(crate) claim: Option<f64>,
    /// What the attacker sees.
    #[arg(long, value_enum, default_value = "final-model")]
    pub(crate) attacker: AttackerArg,
    /// Number of server rounds over which each cosine is the maximum (--attacker all-updates only).
    #[arg(long, value_name = "T", value_parser = positive)]
    pub(crate) server_rounds: Option<u64>,
    /// Numbers of examples that canaries report, each drawn by lot, to test whether the server weights
    /// clients by it [default: none].
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', value_parser = number, requires = "out")]
    pub(crate) weights: Vec<f64>,
    /// Norms that canaries send in units of the clipping norm, each drawn by lot, to test clipping; norms
    /// above 1 harm a model that is not clipped [default: 1].
    #[arg(long, value_name = "L,L,…", value_delimiter = ',', value_parser = number, requires = "out")]
    pub(crate) loudness: Vec<f64>,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    /// Draw the canaries, and write plan, secret seed and commitment to this folder.
    #[arg(long, value_name = "DIR", requires = "dimension")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}
