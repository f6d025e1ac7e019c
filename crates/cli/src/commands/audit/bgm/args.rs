//! Arguments of `audit bgm`.

use clap::Args;

use crate::args::{RunArgs, SamplerArgs, count, small_count};

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dpscope audit bgm --noise-multiplier 1.0 --steps 100 \\\n    \
        --observations 1e7 --claim 0.72")]
pub(crate) struct BgmArgs {
    /// Noise standard deviation divided by the clip norm, 0.2 to 20.
    #[arg(long, value_name = "S")]
    pub(crate) noise_multiplier: f64,
    /// Batches an epoch, 1 to 100000.
    #[arg(long, value_name = "T", value_parser = small_count)]
    pub(crate) steps: u32,
    /// Passes over the data, 1 to 1000.
    #[arg(long, value_name = "E", default_value = "1", value_parser = small_count)]
    pub(crate) epochs: u32,
    #[command(flatten)]
    pub(crate) sampler: SamplerArgs,
    /// Observations of both worlds together; even; may be written 1e7.
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) observations: u64,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}
