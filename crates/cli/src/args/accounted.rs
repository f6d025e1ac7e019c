//! The training behind scores or counts.

use dpscope_core::theory::Setting;

use clap::Args;

use super::count;

/// What was trained, so that the report can show what an accountant says of it.
#[derive(Debug, Args)]
pub(crate) struct AccountedArgs {
    /// Noise standard deviation divided by the clip norm of the training, for the accountant.
    #[arg(long, value_name = "S", requires = "steps")]
    pub(crate) noise_multiplier: Option<f64>,
    /// Batches an epoch of the training.
    #[arg(long, value_name = "T", value_parser = count, requires = "noise_multiplier")]
    pub(crate) steps: Option<u64>,
    /// Passes over the data of the training.
    #[arg(long, value_name = "E", default_value = "1", value_parser = count,
        requires = "noise_multiplier")]
    pub(crate) epochs: u64,
}

impl AccountedArgs {
    pub(crate) fn setting(&self) -> Option<Setting> {
        let (noise_multiplier, steps) = (self.noise_multiplier?, self.steps?);
        Some(Setting { noise_multiplier, steps, epochs: self.epochs })
    }
}
