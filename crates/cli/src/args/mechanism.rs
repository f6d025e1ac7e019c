//! The mechanism: noise, batches and who attacks.

use clap::Args;
use dpscope_core::accounting::Training;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, SamplerKind, ThreatModel};

use super::{batch_size, count, positive};
use crate::failure::Failure;

/// What is drawn and who attacks.
#[derive(Debug, Args)]
pub(crate) struct SamplerArgs {
    /// How batches are drawn.
    #[arg(long, default_value = "shuffle", value_parser = sampler_parser())]
    pub(crate) sampler: SamplerKind,
    /// Records in the buffer of partial-shuffle and sliding-buffer.
    #[arg(long, value_name = "K", value_parser = count)]
    pub(crate) buffer_examples: Option<u64>,
    /// Who attacks; by default the strongest attacker defined for the sampler.
    #[arg(long, value_parser = threat_model_parser())]
    pub(crate) threat_model: Option<ThreatModel>,
    /// Records a batch; needed by the buffered samplers and batch-then-shuffle.
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

    /// The mechanism with these batches and this attacker.
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

/// A training, as theory sees it.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct SettingArgs {
    /// Noise standard deviation divided by the clip norm.
    #[arg(long, value_name = "S")]
    pub(crate) noise_multiplier: f64,
    /// Batches an epoch.
    #[arg(long, value_name = "T", value_parser = positive)]
    pub(crate) steps: u64,
    /// Passes over the data.
    #[arg(long, value_name = "E", default_value = "1", value_parser = positive)]
    pub(crate) epochs: u64,
}

impl SettingArgs {
    pub(crate) fn setting(&self) -> Training {
        let SettingArgs { noise_multiplier, steps, epochs } = *self;
        Training { noise_multiplier, steps_per_epoch: steps, epochs, sampling_rate: None }
    }
}

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
    pub(crate) fn setting(&self) -> Option<Training> {
        let (noise_multiplier, steps_per_epoch) = (self.noise_multiplier?, self.steps?);
        let epochs = self.epochs;
        Some(Training { noise_multiplier, steps_per_epoch, epochs, sampling_rate: None })
    }
}

pub(crate) fn sampler_parser() -> impl clap::builder::TypedValueParser<Value = SamplerKind> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(SamplerKind::ALL.map(SamplerKind::name))
        .try_map(|name| name.parse::<SamplerKind>())
}

fn threat_model_parser() -> impl clap::builder::TypedValueParser<Value = ThreatModel> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};
    PossibleValuesParser::new(ThreatModel::ALL.map(ThreatModel::name))
        .try_map(|name| name.parse::<ThreatModel>())
}
