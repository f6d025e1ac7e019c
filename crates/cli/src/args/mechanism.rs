//! Options of the mechanism: noise, batches and threat model.

use clap::Args;
use dpscope_core::accounting::{EpochLength, RunLength, Schedule, Training};
use dpscope_core::mechanism::{
    BatchSampler, BatchedGaussian, SamplerKind, SamplerParameter, SamplerParameters, ThreatModel,
    Truncation,
};
use dpscope_report::number::{counted, grouped};
use dpscope_report::words::names_of_samplers;

use super::{batch_size, count, epochs, positive};
use crate::failure::{Failure, reject_unused_options};

/// Length of a training run.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct LengthArgs {
    /// Batches per epoch.
    #[arg(long, value_name = "T", value_parser = count)]
    steps: Option<u64>,
    /// Records in the training data: with --batch-size B, an epoch has N/B steps, rounded up.
    #[arg(long, value_name = "N", value_parser = positive, conflicts_with = "steps",
        requires = "batch_size")]
    dataset_size: Option<u64>,
    /// Passes over the data; theory also takes a fraction [default: 1].
    #[arg(long, value_name = "E", value_parser = epochs)]
    epochs: Option<f64>,
    /// Steps in all, instead of --epochs.
    #[arg(long, value_name = "N", value_parser = positive, conflicts_with = "epochs")]
    total_steps: Option<u64>,
}

impl LengthArgs {
    /// Whether an option of the length is present.
    pub(crate) fn is_given(&self) -> bool {
        self.has_epoch() || self.epochs.is_some() || self.total_steps.is_some()
    }

    /// Whether the number of batches per epoch is known.
    pub(crate) fn has_epoch(&self) -> bool {
        self.steps.is_some() || self.dataset_size.is_some()
    }

    /// Whether the number of epochs or of all steps is known.
    pub(crate) fn has_run(&self) -> bool {
        self.epochs.is_some() || self.total_steps.is_some()
    }

    /// The length where the sampling rate is stated: without the batches of an epoch, which then say
    /// nothing more, all steps are one epoch.
    pub(crate) fn at_rate(&self, sampling_rate: Option<f64>) -> Self {
        match (sampling_rate, self.has_epoch()) {
            (Some(_), false) => LengthArgs { steps: self.total_steps, total_steps: None, ..*self },
            _ => *self,
        }
    }

    /// Refuses a batch size that only an unknown number of records gives a meaning. Clap requires no
    /// --dataset-size beside --steps, with which it conflicts.
    fn check_batch_size(&self, batch_size: Option<u64>) -> Result<(), Failure> {
        let is_unused = batch_size.is_some() && self.dataset_size.is_none();
        let unused = [("--batch-size", is_unused)];
        reject_unused_options(&unused, "without --dataset-size, which stands in place of --steps")
    }

    /// E, with a fraction as a whole epoch.
    pub(crate) fn epochs_rounded_up(&self) -> Option<u64> {
        self.epochs.map(|epochs| epochs.ceil() as u64)
    }

    /// The training run with this noise and this batch size. With `uses_per_epoch`, the sampling rate is
    /// that many uses of a record over the steps of an epoch.
    pub(crate) fn schedule(
        &self,
        noise_multiplier: f64,
        batch_size: Option<u64>,
        uses_per_epoch: Option<u64>,
    ) -> Result<Schedule, Failure> {
        let epoch = match (self.dataset_size, batch_size, self.steps) {
            (Some(dataset_size), Some(batch_size), _) => {
                let dataset_size = dataset_size.saturating_mul(uses_per_epoch.unwrap_or(1));
                EpochLength::Records { dataset_size, batch_size }
            }
            (_, _, Some(steps)) => EpochLength::Steps(steps),
            _ => {
                return Err(Failure::input(
                    "--steps is missing; pass it, or --dataset-size and --batch-size",
                ));
            }
        };
        let run = match self.total_steps {
            Some(steps) => RunLength::Steps(steps),
            None => RunLength::Epochs(self.epochs.unwrap_or(1.0)),
        };
        let mut schedule = Schedule::new(noise_multiplier, epoch, run)?;
        if let Some(uses) = uses_per_epoch {
            schedule.whole.sampling_rate =
                Some(uses as f64 / schedule.whole.steps_per_epoch as f64);
        }
        Ok(schedule)
    }

    /// The records and the most of them in a batch, for truncated batches.
    pub(crate) fn truncation(
        &self,
        batch_size: Option<u64>,
        max_batch_size: Option<u64>,
    ) -> Result<Option<Truncation>, Failure> {
        let Some(max_batch_size) = max_batch_size else { return Ok(None) };
        let (Some(dataset_size), Some(batch_size)) = (self.dataset_size, batch_size) else {
            return Err(Failure::input(
                "--max-batch-size depends on the number of records; pass --dataset-size and \
                 --batch-size, the mean",
            ));
        };
        if max_batch_size < batch_size {
            return Err(Failure::input(format!(
                "--max-batch-size {max_batch_size} is below the mean, --batch-size {batch_size}, so \
                 that nearly every batch would be truncated; raise it, or use fixed-size"
            )));
        }
        if max_batch_size > dataset_size {
            return Err(Failure::input(format!(
                "--max-batch-size {max_batch_size} exceeds --dataset-size {dataset_size}; lower it"
            )));
        }
        Ok(Some(Truncation { dataset_size, max_batch_size }))
    }

    /// The training run of [`Self::schedule`] for a simulation, which has whole epochs.
    pub(crate) fn whole_epochs(
        &self,
        noise_multiplier: f64,
        batch_size: Option<u64>,
        uses_per_epoch: Option<u64>,
    ) -> Result<Training, Failure> {
        let schedule = self.schedule(noise_multiplier, batch_size, uses_per_epoch)?;
        schedule.as_whole().ok_or_else(|| {
            let epochs = schedule.whole.epochs;
            let rounded = match epochs {
                0 => "--epochs 1".to_owned(),
                _ => format!("--epochs {epochs} or --epochs {}", epochs + 1),
            };
            Failure::input(format!(
                "{} are not a whole number of epochs of {} steps, and only whole epochs are simulated; \
                 pass {rounded}",
                counted(schedule.steps(), "step"),
                grouped(schedule.whole.steps_per_epoch),
            ))
        })
    }
}

/// The batched Gaussian mechanism.
#[derive(Debug, Args)]
pub(crate) struct MechanismArgs {
    /// Noise standard deviation divided by the clip norm, 0.2 to 20.
    #[arg(long, value_name = "S")]
    noise_multiplier: f64,
    #[command(flatten)]
    length: LengthArgs,
    #[command(flatten)]
    sampler: SamplerArgs,
}

impl MechanismArgs {
    pub(crate) fn mechanism(&self) -> Result<BatchedGaussian, Failure> {
        self.sampler.mechanism(self.noise_multiplier, &self.length)
    }
}

/// Parameters that only some samplers have.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ParameterArgs {
    /// Batches of an epoch that contain a record (random-allocation only): an epoch of N records in
    /// batches of B on average has K N/B steps [default: 1].
    #[arg(long, value_name = "K", value_parser = count)]
    pub(crate) uses_per_epoch: Option<u64>,
    /// Maximum batch size (truncated-poisson only); excess records are dropped at random.
    #[arg(long, value_name = "B", value_parser = positive)]
    pub(crate) max_batch_size: Option<u64>,
}

impl ParameterArgs {
    /// Refuses the parameters of other samplers; `option` stands in front of their names.
    pub(crate) fn check(&self, sampler: Option<SamplerKind>, option: &str) -> Result<(), Failure> {
        let known = sampler.and_then(SamplerKind::parameter);
        for (parameter, value) in [
            (SamplerParameter::UsesPerEpoch, self.uses_per_epoch),
            (SamplerParameter::MaxBatchSize, self.max_batch_size),
        ] {
            if value.is_some() && known != Some(parameter) {
                let samplers = names_of_samplers(|sampler| sampler.parameter() == Some(parameter));
                return Err(Failure::input(format!(
                    "--{} applies to {option}{samplers} only",
                    parameter.name().replace('_', "-")
                )));
            }
        }
        Ok(())
    }

    /// k of a sampler that has it.
    pub(crate) fn uses_of(&self, sampler: Option<SamplerKind>) -> Option<u64> {
        let has_uses = sampler.is_some_and(SamplerKind::has_uses);
        has_uses.then_some(self.uses_per_epoch.unwrap_or(1))
    }
}

/// Rows of `compare` that need a parameter of their own.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct ComparedParameterArgs {
    /// Add truncated Poisson batches with at most this many records.
    #[arg(long, value_name = "B", value_parser = positive)]
    pub(crate) max_batch_size: Option<u64>,
    /// Add random allocation that uses each record K times in every K epochs.
    #[arg(long, value_name = "K", value_parser = positive)]
    pub(crate) allocated_epochs: Option<u64>,
}

/// The number of records of recorded runs, where the sampler depends on it.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct RecordsArg {
    /// Records of the data set (samplers that draw each step anew): with --batch-size, a record is in a
    /// batch with probability B/N instead of 1/steps.
    #[arg(long, value_name = "N", value_parser = positive)]
    dataset_size: Option<u64>,
}

impl RecordsArg {
    /// N, if the sampler depends on it.
    pub(crate) fn of(&self, sampler: SamplerKind) -> Result<Option<u64>, Failure> {
        if self.dataset_size.is_none() || sampler.draws_each_step_anew() {
            return Ok(self.dataset_size);
        }
        Err(Failure::input(format!(
            "--dataset-size applies to {} only; leave it out",
            names_of_samplers(SamplerKind::draws_each_step_anew)
        )))
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
    #[command(flatten)]
    pub(crate) parameters: ParameterArgs,
    /// Threat model [default: the strongest one defined for the sampler].
    #[arg(long)]
    pub(crate) threat_model: Option<ThreatModel>,
    /// Records per batch (required by the buffered samplers and batch-then-shuffle).
    #[arg(long, value_name = "B", value_parser = batch_size)]
    pub(crate) batch_size: Option<u32>,
}

impl SamplerArgs {
    /// The sampler, of so many records if they are known.
    pub(crate) fn sampler(&self, dataset_size: Option<u64>) -> Result<BatchSampler, Failure> {
        let ParameterArgs { uses_per_epoch, max_batch_size } = self.parameters;
        Ok(self.sampler.with_parameters(SamplerParameters {
            buffer_examples: self.buffer_examples,
            uses_per_epoch,
            dataset_size,
            max_batch_size,
        })?)
    }

    pub(crate) fn threat_model(&self) -> ThreatModel {
        self.threat_model.unwrap_or(self.sampler.default_threat_model())
    }

    /// The mechanism with these batches and this threat model.
    pub(crate) fn mechanism(
        &self,
        noise_multiplier: f64,
        length: &LengthArgs,
    ) -> Result<BatchedGaussian, Failure> {
        let batch_size = self.batch_size.map(u64::from);
        let ParameterArgs { uses_per_epoch, max_batch_size } = self.parameters;
        let training = length.whole_epochs(noise_multiplier, batch_size, uses_per_epoch)?;
        if self.sampler.truncates() {
            length.truncation(batch_size, max_batch_size)?;
        }
        let simulated = |number: u64, flag: &str| {
            u32::try_from(number).map_err(|_| {
                Failure::input(format!("{flag} of {number} is more than can be simulated"))
            })
        };
        let mechanism = BatchedGaussian {
            noise_multiplier,
            steps_per_epoch: simulated(training.steps_per_epoch, "--steps")?,
            epochs: simulated(training.epochs, "--epochs")?,
            sampler: self.sampler(length.dataset_size)?,
            threat_model: self.threat_model(),
            batch_size: self.batch_size,
            dataset_size: None,
        };
        Ok(length.dataset_size.map_or(mechanism, |records| mechanism.of_records(records)))
    }
}

/// Noise and length of a training run, for accounting.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct SettingArgs {
    /// Noise standard deviation divided by the clip norm.
    #[arg(long, value_name = "S")]
    noise_multiplier: f64,
    #[command(flatten)]
    length: LengthArgs,
    /// Records per batch, with --dataset-size.
    #[arg(long, value_name = "B", value_parser = positive, requires = "dataset_size")]
    batch_size: Option<u64>,
}

impl SettingArgs {
    /// The training run, with the sampling rate if one is stated.
    pub(crate) fn schedule(
        &self,
        uses_per_epoch: Option<u64>,
        sampling_rate: Option<f64>,
    ) -> Result<Schedule, Failure> {
        self.length.check_batch_size(self.batch_size)?;
        let length = self.length.at_rate(sampling_rate);
        let mut run = length.schedule(self.noise_multiplier, self.batch_size, uses_per_epoch)?;
        run.whole.sampling_rate = sampling_rate.or(run.whole.sampling_rate);
        Ok(run)
    }

    pub(crate) fn truncation(
        &self,
        max_batch_size: Option<u64>,
    ) -> Result<Option<Truncation>, Failure> {
        self.length.truncation(self.batch_size, max_batch_size)
    }
}

/// The training run behind scores or counts, if the report is to show its accounted epsilon.
#[derive(Debug, Args)]
pub(crate) struct AccountedArgs {
    /// Noise standard deviation of the training run divided by its clip norm, for accounting.
    #[arg(long, value_name = "S")]
    noise_multiplier: Option<f64>,
    #[command(flatten)]
    length: LengthArgs,
    /// Records per batch, with --dataset-size.
    #[arg(long, value_name = "B", value_parser = positive, requires = "dataset_size")]
    batch_size: Option<u64>,
}

impl AccountedArgs {
    pub(crate) fn schedule(&self) -> Result<Option<Schedule>, Failure> {
        self.length.check_batch_size(self.batch_size)?;
        match self.noise_multiplier {
            Some(noise_multiplier) => {
                self.length.schedule(noise_multiplier, self.batch_size, None).map(Some)
            }
            None if self.length.is_given() => Err(Failure::input(
                "--noise-multiplier is missing; the length of a run is used together with it",
            )),
            None => Ok(None),
        }
    }
}
