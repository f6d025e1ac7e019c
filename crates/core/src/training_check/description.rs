//! A description of a training run in which every field may be missing.

use super::setup::{length, sampling_rates};
use super::{
    AssumedAccounting, CheckTarget, DrawnNoise, DrawnRate, LoaderBatches, NoiseTarget,
    OtherBatches, TrainingError, TrainingSetup,
};
use crate::accounting::RunLength;
use crate::adjacency::Adjacency;
use crate::mechanism::{SamplerKind, SamplerParameters};

/// A training run and its claim; omitted fields are unknown.
///
/// The options of `dpscope check`, the keys of its file and the object that a page passes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrainingDescription {
    /// Records in the training data.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub dataset_size: Option<u64>,
    /// Batch size configured in the data loader.
    #[cfg_attr(feature = "clap", arg(long, value_name = "B"))]
    pub batch_size: Option<u64>,
    /// Passes over the data, possibly with a fraction.
    #[cfg_attr(feature = "clap", arg(long, value_name = "E"))]
    pub epochs: Option<f64>,
    /// Steps in all, in place of epochs.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", conflicts_with = "epochs"))]
    pub total_steps: Option<u64>,
    /// Noise standard deviation divided by the clip norm, as configured in the accountant.
    #[cfg_attr(feature = "clap", arg(long, value_name = "S"))]
    pub noise_multiplier: Option<f64>,
    /// How the loader draws batches.
    #[cfg_attr(feature = "clap", arg(skip))]
    pub loader: Option<SamplerKind>,
    /// How it forms them otherwise, in place of `loader`.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub other_batches: Option<OtherBatches>,
    /// Records in the shuffle buffer (partial-shuffle and sliding-buffer only).
    #[cfg_attr(feature = "clap", arg(long, value_name = "K"))]
    pub buffer_examples: Option<u64>,
    /// Steps per epoch that use each record (random-allocation only); an epoch then has K times as
    /// many steps [default: 1].
    #[cfg_attr(feature = "clap", arg(long, value_name = "K"))]
    pub uses_per_epoch: Option<u64>,
    /// Probability with which the loader draws each record into each batch (poisson and
    /// truncated-poisson only) [default: unknown: batch size over records, or one over the batches per
    /// epoch].
    #[cfg_attr(feature = "clap", arg(long, value_name = "Q"))]
    pub sampling_rate: Option<f64>,
    /// Whether the sampling rate is one over the batches per epoch.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub draws_at_one_over_batches: bool,
    /// Records that an epoch draws, if not all.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[cfg_attr(feature = "serde", serde(skip))]
    pub draws_per_epoch: Option<u64>,
    /// Maximum batch size (truncated-poisson only).
    #[cfg_attr(feature = "clap", arg(long, value_name = "B"))]
    pub max_batch_size: Option<u64>,
    /// Whether the loader drops an incomplete last batch.
    #[cfg_attr(feature = "clap", arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
        default_missing_value = "true"))]
    pub drop_last: Option<bool>,
    /// Claimed epsilon; without one, the check bounds epsilon.
    #[cfg_attr(feature = "clap", arg(long, value_name = "EPS"))]
    pub claim: Option<f64>,
    /// Claimed delta [default: 1e-5 without a claim].
    #[cfg_attr(feature = "clap", arg(long))]
    pub delta: Option<f64>,
    /// Adjacency of the claim [default: add-remove].
    #[cfg_attr(feature = "clap", arg(long))]
    pub claim_adjacency: Option<Adjacency>,
    /// Sampler that the accountant assumes.
    #[cfg_attr(feature = "clap", arg(long))]
    pub accountant: Option<SamplerKind>,
    /// Sampling rate configured in the accountant.
    #[cfg_attr(feature = "clap", arg(long, value_name = "Q"))]
    pub accounted_sampling_rate: Option<f64>,
    /// Total number of steps configured in the accountant.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub accounted_steps: Option<u64>,
    /// Standard deviation of the noise in the code, per coordinate.
    #[cfg_attr(feature = "clap", arg(long, value_name = "STD", requires = "clip_norm"))]
    pub noise_std: Option<f64>,
    /// Clip norm of one record's gradient, which goes with `noise_std`.
    #[cfg_attr(feature = "clap", arg(long, value_name = "C"))]
    pub clip_norm: Option<f64>,
    /// What the noise is added to [default: sum].
    #[cfg_attr(feature = "clap", arg(long))]
    pub noise_on: Option<NoiseTarget>,
}

impl TrainingDescription {
    /// The batch size B at which a sampling rate is B/N, or lies between B/N and one over the batches of an
    /// epoch, between which the bounds hold; the rate of Opacus is the latter. None without N, and where
    /// no size has this rate.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::training_check::TrainingDescription;
    /// let records = TrainingDescription { dataset_size: Some(100), ..TrainingDescription::default() };
    /// assert_eq!(records.batch_size_of_rate(0.25), Some(25));
    /// assert_eq!(records.batch_size_of_rate(1.0 / 3.0), Some(34));
    /// assert_eq!(records.batch_size_of_rate(1.0 / 97.0), None);
    /// ```
    #[must_use]
    pub fn batch_size_of_rate(&self, sampling_rate: f64) -> Option<u64> {
        let dataset_size = self.dataset_size?;
        let mean = sampling_rate * dataset_size as f64;
        if mean >= 1.0 && (mean - mean.round()).abs() <= 1e-9 * mean {
            return Some(mean.round() as u64);
        }
        let drop_last = self.drop_last.unwrap_or(false);
        let batch_size = if drop_last { mean.floor() } else { mean.ceil() }.max(1.0) as u64;
        let uses = self.uses_per_epoch.unwrap_or(1);
        let [least, most] = sampling_rates(dataset_size, batch_size, uses, drop_last);
        let is_between =
            least <= sampling_rate * (1.0 + 1e-9) && sampling_rate <= most * (1.0 + 1e-9);
        is_between.then_some(batch_size)
    }

    /// The training, what was accounted, and the claim; without one, δ is
    /// [`CheckTarget::DEFAULT_DELTA`] unless it is stated.
    ///
    /// # Errors
    /// [`TrainingError::Missing`], [`TrainingError::WithoutNoise`], [`TrainingError::Sampler`].
    ///
    /// # Example
    /// ```
    /// use dpscope_core::training_check::TrainingDescription;
    /// let partial = TrainingDescription { batch_size: Some(256), ..TrainingDescription::default() };
    /// let missing = partial.complete().unwrap_err();
    /// assert_eq!(missing.to_string(), "dataset_size is missing; add it");
    /// ```
    pub fn complete(
        &self,
    ) -> Result<(TrainingSetup, AssumedAccounting, CheckTarget), TrainingError> {
        fn needed<T>(value: Option<T>, name: &'static str) -> Result<T, TrainingError> {
            value.ok_or(TrainingError::Missing { name })
        }
        let drawn_noise = match self.noise_std {
            None => None,
            Some(standard_deviation) => Some(DrawnNoise {
                standard_deviation,
                clip_norm: needed(self.clip_norm, "clip_norm")?,
                added_to: self.noise_on.unwrap_or(NoiseTarget::Sum),
            }),
        };
        if drawn_noise.is_none() {
            if self.clip_norm.is_some() {
                return Err(TrainingError::WithoutNoise { name: "clip_norm" });
            }
            if self.noise_on.is_some() {
                return Err(TrainingError::WithoutNoise { name: "noise_on" });
            }
        }
        let dataset_size = needed(self.dataset_size, "dataset_size")?;
        let batch_size = needed(self.batch_size, "batch_size")?;
        let run = match (self.epochs, self.total_steps) {
            (Some(_), Some(_)) => {
                return Err(TrainingError::Both { names: ["epochs", "total_steps"] });
            }
            (_, Some(steps)) => RunLength::Steps(steps),
            (epochs, None) => RunLength::Epochs(needed(epochs, "epochs")?),
        };
        let drop_last = self.drop_last.unwrap_or(false);
        let loader = self.loader()?;
        let drawn = self.draws_per_epoch.unwrap_or(dataset_size);
        let records = drawn.saturating_mul(loader.uses_per_epoch());
        let [epochs, partial_epoch_steps] = length(records, batch_size, drop_last, run)?;
        let setup = TrainingSetup {
            dataset_size,
            batch_size,
            epochs,
            partial_epoch_steps,
            noise_multiplier: needed(self.noise_multiplier, "noise_multiplier")?,
            drawn_noise,
            loader,
            drop_last,
            drawn_rate: self.drawn_rate(loader)?,
            draws_per_epoch: self.draws_per_epoch,
        };
        let accounting = AssumedAccounting {
            sampler: self.accountant,
            sampling_rate: self.accounted_sampling_rate,
            steps: self.accounted_steps,
        };
        let target = CheckTarget {
            epsilon: self.claim,
            delta: needed(CheckTarget::delta_of(self.claim, self.delta), "delta")?,
            adjacency: self.claim_adjacency.unwrap_or(Adjacency::AddRemove),
        };
        Ok((setup, accounting, target))
    }

    fn parameters(&self) -> SamplerParameters {
        let TrainingDescription {
            buffer_examples,
            uses_per_epoch,
            dataset_size,
            max_batch_size,
            ..
        } = *self;
        SamplerParameters { buffer_examples, uses_per_epoch, dataset_size, max_batch_size }
    }

    /// The sampling rate of Poisson batches, if it is known.
    fn drawn_rate(&self, loader: LoaderBatches) -> Result<Option<DrawnRate>, TrainingError> {
        let has_rate = loader.kind().sampler().is_some_and(SamplerKind::draws_each_record);
        match self.sampling_rate {
            Some(rate) if has_rate => Ok(Some(DrawnRate::Stated(rate))),
            Some(_) => Err(TrainingError::Unused { name: "sampling_rate" }),
            None => Ok(self.draws_at_one_over_batches.then_some(DrawnRate::OneOverBatches)),
        }
    }

    /// How batches are formed.
    fn loader(&self) -> Result<LoaderBatches, TrainingError> {
        let unused = [
            ("buffer_examples", self.buffer_examples),
            ("uses_per_epoch", self.uses_per_epoch),
            ("max_batch_size", self.max_batch_size),
        ];
        match (self.loader, self.other_batches) {
            (Some(_), Some(_)) => Err(TrainingError::Both { names: ["loader", "other_batches"] }),
            (Some(kind), None) => Ok(kind.with_parameters(self.parameters())?.into()),
            (None, Some(other)) => match unused.iter().find(|(_, value)| value.is_some()) {
                Some(&(name, _)) => Err(TrainingError::Unused { name }),
                None => Ok(LoaderBatches::Other(other)),
            },
            (None, None) => Err(TrainingError::Missing { name: "loader" }),
        }
    }
}
