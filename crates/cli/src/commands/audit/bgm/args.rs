//! Arguments of `audit bgm`.

use clap::Args;

use crate::args::{DELTA_ABOVE_0, MechanismArgs, RunArgs, count};

#[derive(Debug, Args)]
#[command(
    mut_arg("delta", |arg| arg.help(DELTA_ABOVE_0)),
    after_help = "Examples:\n  dpscope audit bgm --noise-multiplier 1.0 --steps 100 \\\n    \
        --observations 1e7 --claim 0.72\n  \
        dpscope audit bgm --noise-multiplier 1.0 --sampler fixed-size \\\n    \
        --dataset-size 60000 --batch-size 256 --observations 1e6"
)]
pub(crate) struct BgmArgs {
    #[command(flatten)]
    pub(crate) mechanism: MechanismArgs,
    /// Observations in both worlds together; an even number, for example 1e7.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) observations: u64,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}
