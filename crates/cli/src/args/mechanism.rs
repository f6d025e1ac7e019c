//! Options of the mechanism: noise, batches and threat model.

use clap::Args;
use dpscope_core::accounting::Training;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, SamplerKind, ThreatModel};

use super::{batch_size, count, positive, small_count};
use crate::failure::Failure;

/// The batched Gaussian mechanism.
#[derive(Debug, Args)]
pub(crate) struct MechanismArgs {
    /// Noise standard deviation divided by the clip norm, 0.2 to 20.
    #[arg(long, value_name = "S")]
    noise_multiplier: f64,
    /// Batches per epoch, 1 to 100000.
    #[arg(long, value_name = "T", value_parser = small_count)]
    steps: u32,
    /// Passes over the data, 1 to 1000.
    #[arg(long, value_name = "E", default_value = "1", value_parser = small_count)]
    epochs: u32,
    #[command(flatten)]
    sampler: SamplerArgs,
}

impl MechanismArgs {
    pub(crate) fn mechanism(&self) -> Result<BatchedGaussian, Failure> {
        self.sampler.mechanism(self.noise_multiplier, self.steps, self.epochs)
    }
}

/// Batches and threat model.
#[derive(Debug, Args)]
pub(crate) struct SamplerArgs {
    /// How batches are drawn.
    #[arg(long, default_value = "shuffle")]
    pub(crate) sampler: SamplerKind,
    /// Records in the shuffle buffer (partial-shuffle and sliding-buffer only).
    #[arg(long, value_name = "K", value_parser = count)]
    pub(crate) buffer_examples: Option<u64>,
    /// Threat model [default: the strongest one defined for the sampler].
    #[arg(long)]
    pub(crate) threat_model: Option<ThreatModel>,
    /// Records per batch (required by the buffered samplers and batch-then-shuffle).
    #[arg(long, value_name = "B", value_parser = batch_size)]
    pub(crate) batch_size: Option<u32>,
}

impl SamplerArgs {
    pub(crate) fn sampler(&self) -> Result<BatchSampler, Failure> {
        Ok(self.sampler.with_buffer(self.buffer_examples)?)
    }

    pub(crate) fn threat_model(&self) -> ThreatModel {
        self.threat_model.unwrap_or(self.sampler.default_threat_model())
    }

    /// The mechanism with these batches and this threat model.
    pub(crate) fn mechanism(
        &self,
        noise_multiplier: f64,
        steps_per_epoch: u32,
        epochs: u32,
    ) -> Result<BatchedGaussian, Failure> {
        Ok(BatchedGaussian {
            noise_multiplier,
            steps_per_epoch,
            epochs,
            sampler: self.sampler()?,
            threat_model: self.threat_model(),
            batch_size: self.batch_size,
        })
    }
}

/// Noise and number of steps of a training run, for accounting.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct SettingArgs {
    /// Noise standard deviation divided by the clip norm.
    #[arg(long, value_name = "S")]
    noise_multiplier: f64,
    /// Batches per epoch.
    #[arg(long, value_name = "T", value_parser = positive)]
    steps: u64,
    /// Passes over the data.
    #[arg(long, value_name = "E", default_value = "1", value_parser = positive)]
    epochs: u64,
}

impl SettingArgs {
    pub(crate) fn setting(&self) -> Training {
        let SettingArgs { noise_multiplier, steps, epochs } = *self;
        Training { noise_multiplier, steps_per_epoch: steps, epochs, sampling_rate: None }
    }
}

/// The training run behind scores or counts, if the report is to show its accounted epsilon.
#[derive(Debug, Args)]
pub(crate) struct AccountedArgs {
    /// Noise standard deviation of the training run divided by its clip norm, for accounting.
    #[arg(long, value_name = "S", requires = "steps")]
    noise_multiplier: Option<f64>,
    /// Batches per epoch of the training run.
    #[arg(long, value_name = "T", value_parser = count, requires = "noise_multiplier")]
    steps: Option<u64>,
    /// Passes over the data in the training run.
    #[arg(long, value_name = "E", default_value = "1", value_parser = count,
        requires = "noise_multiplier")]
    epochs: u64,
}

impl AccountedArgs {
    pub(crate) fn setting(&self) -> Option<Training> {
        let (noise_multiplier, steps_per_epoch) = (self.noise_multiplier?, self.steps?);
        let epochs = self.epochs;
        Some(Training { noise_multiplier, steps_per_epoch, epochs, sampling_rate: None })
    }
}
