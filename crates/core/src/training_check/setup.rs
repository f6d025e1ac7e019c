//! A training run as its author describes it.

use super::error::within;
use super::{LoaderBatches, TrainingError};
use crate::accounting::{AccountingError, EpochLength, RunLength, Schedule, Training};
use crate::format::given;
use crate::mechanism::{SamplerKind, Truncation};

/// What noise is added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum NoiseTarget {
    /// The sum of a batch's clipped gradients.
    Sum,
    /// Their mean, the sum divided by the number of records in the batch.
    Mean,
}

/// The noise as the code draws it.
///
/// σ = s/C for a sum, sB/C for a mean
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DrawnNoise {
    /// Standard deviation s of one coordinate.
    pub standard_deviation: f64,
    /// Clipping bound C of one record's gradient.
    pub clip_norm: f64,
    /// What it is added to.
    pub added_to: NoiseTarget,
}

/// The probability with which a loader draws each record into each Poisson batch.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum DrawnRate {
    /// The stated rate.
    Stated(f64),
    /// 1/T, as in Opacus: one over the batches per epoch of the loader that it replaces.
    OneOverBatches,
}

/// A training run as its author describes it.
///
/// | field | meaning | domain |
/// |---|---|---|
/// | `dataset_size` | N | 1 to 2⁵³ |
/// | `batch_size` | B | 1 to N |
/// | `epochs` | E, whole epochs | up to 1e6 |
/// | `partial_epoch_steps` | steps of a further, incomplete epoch | up to T |
/// | `noise_multiplier` | σ that the accountant uses | [0.01, 1e4] |
/// | `drawn_noise` | the noise in the code, if known | σ in [1e-6, 1e4] |
/// | `loader` | how batches are drawn | buffers from 1 |
/// | `drop_last` | whether the last, smaller batch is left out | – |
/// | `drawn_rate` | q of Poisson batches, if known | within 1 % of B/N to 1/T |
/// | `draws_per_epoch` | records that an epoch draws, if not N | from 1 |
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrainingSetup {
    /// Number of records, N.
    pub dataset_size: u64,
    /// Records per batch, B.
    pub batch_size: u64,
    /// Number of whole epochs, E.
    pub epochs: u64,
    /// Steps of a further, incomplete epoch.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "crate::accounting::is_zero")
    )]
    pub partial_epoch_steps: u64,
    /// Noise multiplier σ that the accountant uses.
    pub noise_multiplier: f64,
    /// The noise in the code, if known; σ is then what follows from it.
    pub drawn_noise: Option<DrawnNoise>,
    /// How batches are drawn.
    pub loader: LoaderBatches,
    /// Whether the last, smaller batch of an epoch is left out.
    pub drop_last: bool,
    /// Sampling rate q of Poisson batches; if it is unknown, B/N or 1/T.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub drawn_rate: Option<DrawnRate>,
    /// Number of records drawn per epoch; N if `None`.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub draws_per_epoch: Option<u64>,
}

/// What the accountant assumed, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AssumedAccounting {
    /// The sampler.
    pub sampler: Option<SamplerKind>,
    /// Sampling rate q.
    pub sampling_rate: Option<f64>,
    /// Steps in all.
    pub steps: Option<u64>,
}

/// Batches of an epoch of so many uses of records.
fn batches(uses: u64, batch_size: u64, drop_last: bool) -> u64 {
    let batch = batch_size.max(1);
    if drop_last { uses / batch } else { uses.div_ceil(batch) }
}

/// B/N and k/T, in order: the rates between which the sampling rate of such a training lies.
pub(super) fn sampling_rates(
    dataset_size: u64,
    batch_size: u64,
    uses_per_epoch: u64,
    drop_last: bool,
) -> [f64; 2] {
    let steps = batches(dataset_size.saturating_mul(uses_per_epoch), batch_size, drop_last);
    let rate = batch_size as f64 / dataset_size as f64;
    let by_steps = uses_per_epoch as f64 / steps as f64;
    [rate.min(by_steps), rate.max(by_steps)]
}

/// Whole epochs and the steps of an incomplete one; refused values are left to the check.
pub(super) fn length(
    dataset_size: u64,
    batch_size: u64,
    drop_last: bool,
    run: RunLength,
) -> Result<[u64; 2], TrainingError> {
    let steps = batches(dataset_size, batch_size, drop_last);
    let found = Schedule::new(1.0, EpochLength::Steps(steps.max(1)), run);
    let found = found.map_err(|error| match error {
        AccountingError::Argument { name, value, allowed } => {
            TrainingError::Argument { name, value, allowed }
        }
        _ => TrainingError::Missing { name: "epochs" },
    })?;
    Ok([found.whole.epochs, found.partial_epoch_steps])
}

impl TrainingSetup {
    /// Refuses what no run has.
    ///
    /// # Errors
    /// [`TrainingError::Argument`] outside the domain of the fields.
    pub fn check(&self) -> Result<(), TrainingError> {
        let (size, batch) = (self.dataset_size as f64, self.batch_size as f64);
        within("dataset_size", size, [1.0, 9_007_199_254_740_992.0], "in 1 to 2^53")?;
        within("batch_size", batch, [1.0, f64::MAX], "at least 1")?;
        within("draws_per_epoch", self.epoch_records() as f64, [1.0, f64::MAX], "at least 1")?;
        if self.batch_size > self.dataset_size {
            let TrainingSetup { batch_size, dataset_size, .. } = *self;
            return Err(TrainingError::BatchLargerThanData { batch_size, dataset_size });
        }
        let epochs = self.schedule().rounded_up().epochs as f64;
        within("epochs", epochs, [1.0, 1e6], "in 1 to 1000000")?;
        let steps = self.steps_per_epoch() as f64;
        let uses = self.loader.uses_per_epoch() as f64;
        // none for 0 uses
        within("uses_per_epoch", uses, [1.0, steps.max(1.0)], "in 1 to the steps of an epoch")?;
        if !(1.0..=1e9).contains(&steps) {
            return Err(TrainingError::Batches { value: steps });
        }
        let partial = self.partial_epoch_steps as f64;
        within("partial_epoch_steps", partial, [0.0, steps], "at most the steps of an epoch")?;
        within("noise_multiplier", self.noise_multiplier, [0.01, 1e4], "in 0.01 to 10000")?;
        if let Some(noise) = self.drawn_noise {
            let positive = [f64::MIN_POSITIVE, f64::MAX];
            within("noise_std", noise.standard_deviation, positive, "above 0 and finite")?;
            within("clip_norm", noise.clip_norm, positive, "above 0 and finite")?;
            let noise_multiplier = self.drawn_noise_multiplier();
            if !(1e-6..=1e4).contains(&noise_multiplier) {
                return Err(TrainingError::DrawnNoise { noise_multiplier });
            }
        }
        if let Some(Truncation { max_batch_size: most, .. }) = self.loader.truncation() {
            let allowed = format!(
                "from the batch size, their mean, to the number of records, {}: below the mean \
                 nearly every batch is full, so raise it, or describe the loader as fixed-size",
                self.dataset_size
            );
            within("max_batch_size", most as f64, [batch, size], allowed)?;
        }
        if let Some(buffer) = self.loader.buffer_examples() {
            within("buffer_examples", buffer as f64, [1.0, f64::MAX], "at least 1")?;
        }
        self.check_rate()
    }

    fn check_rate(&self) -> Result<(), TrainingError> {
        let Some(DrawnRate::Stated(rate)) = self.drawn_rate else { return Ok(()) };
        let [least, most] = TrainingSetup { drawn_rate: None, ..*self }.sampling_rates();
        let range = match least < most {
            true => format!("between {} and {}", given(least), given(most)),
            false => given(least),
        };
        let allowed = format!(
            "within 1 % of batch size over records, or of one over the batches per epoch: {range}"
        );
        within("sampling_rate", rate, [0.99 * least, (1.01 * most).min(1.0)], allowed)
    }

    /// Batches per epoch T: ⌈N/B⌉, or ⌊N/B⌋ if the last, smaller one is left out; ⌈kN/B⌉ if random
    /// allocation uses each record k times.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::mechanism::BatchSampler;
    /// use dpscope_core::training_check::TrainingSetup;
    /// let setup = TrainingSetup {
    ///     dataset_size: 60_000,
    ///     batch_size: 256,
    ///     epochs: 20,
    ///     partial_epoch_steps: 0,
    ///     noise_multiplier: 1.1,
    ///     drawn_noise: None,
    ///     loader: BatchSampler::Shuffle.into(),
    ///     drop_last: true,
    ///     drawn_rate: None,
    ///     draws_per_epoch: None,
    /// };
    /// assert_eq!(setup.steps_per_epoch(), 234);
    /// assert_eq!(TrainingSetup { drop_last: false, ..setup }.steps_per_epoch(), 235);
    /// ```
    #[must_use]
    pub fn steps_per_epoch(&self) -> u64 {
        let uses = self.epoch_records().saturating_mul(self.loader.uses_per_epoch());
        batches(uses, self.batch_size, self.drop_last)
    }

    /// Number of records drawn per epoch.
    pub(super) fn epoch_records(&self) -> u64 {
        self.draws_per_epoch.unwrap_or(self.dataset_size)
    }

    /// What accountants take: the σ that is accounted, T and E; q follows from the loader.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        let whole = Training {
            noise_multiplier: self.noise_multiplier,
            steps_per_epoch: self.steps_per_epoch(),
            epochs: self.epochs,
            sampling_rate: None,
        };
        Schedule { whole, partial_epoch_steps: self.partial_epoch_steps }
    }

    /// Steps in all.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.schedule().steps()
    }

    /// The least number of steps: for some T, Opacus makes ⌊1/(1/T)⌋ = T − 1 steps per epoch, by
    /// rounding.
    pub(super) fn least_steps(&self) -> u64 {
        let batches = self.steps_per_epoch();
        let is_rounded = 1.0 / (1.0 / batches as f64) < batches as f64;
        match self.drawn_rate {
            Some(DrawnRate::OneOverBatches) if is_rounded => {
                self.steps().saturating_sub(self.schedule().rounded_up().epochs)
            }
            _ => self.steps(),
        }
    }

    /// The sampling rate q: that of the loader if it is known, else B/N.
    #[must_use]
    pub fn sampling_rate(&self) -> f64 {
        match self.drawn_rate {
            Some(DrawnRate::Stated(rate)) => rate,
            Some(DrawnRate::OneOverBatches) => 1.0 / self.steps_per_epoch() as f64,
            None => self.batch_size as f64 / self.dataset_size as f64,
        }
    }

    /// The least and the largest sampling rate that the code may have: that of the loader if it is known,
    /// else B/N and one over the batches per epoch.
    #[must_use]
    pub fn sampling_rates(&self) -> [f64; 2] {
        let TrainingSetup { dataset_size, batch_size, drop_last, .. } = *self;
        match (self.drawn_rate, self.draws_per_epoch) {
            (None, None) => {
                sampling_rates(dataset_size, batch_size, self.loader.uses_per_epoch(), drop_last)
            }
            _ => [self.sampling_rate(); 2],
        }
    }

    /// Records that an epoch uses.
    pub(super) fn used(&self) -> u64 {
        let most = self.epoch_records().min(self.dataset_size);
        self.steps_per_epoch().saturating_mul(self.batch_size).min(most)
    }

    /// σ of the noise that the code draws.
    #[must_use]
    pub fn drawn_noise_multiplier(&self) -> f64 {
        let Some(noise) = self.drawn_noise else { return self.noise_multiplier };
        let per_clip_norm = noise.standard_deviation / noise.clip_norm;
        match noise.added_to {
            NoiseTarget::Sum => per_clip_norm,
            NoiseTarget::Mean => per_clip_norm * self.batch_size as f64,
        }
    }

    /// Records of the smaller last batch of an epoch, if there is one.
    #[must_use]
    pub fn last_batch(&self) -> Option<u64> {
        let records = self.epoch_records() % self.batch_size;
        let sampler = self.loader.kind().sampler();
        let is_cut = !sampler.is_some_and(|sampler| {
            sampler.has_sampling_rate() || sampler == SamplerKind::BallsInBins
        });
        (records > 0 && is_cut && !self.drop_last).then_some(records)
    }

    /// Whether noise is added to means of batches of random size: a smaller batch has less noise, and
    /// there is no least one.
    #[must_use]
    pub fn has_noise_of_random_size(&self) -> bool {
        let is_on_mean = self.drawn_noise.is_some_and(|noise| noise.added_to == NoiseTarget::Mean);
        let sampler = self.loader.kind().sampler();
        is_on_mean && sampler.is_some_and(SamplerKind::has_random_batch_size)
    }

    /// σ of the batch with the least noise.
    ///
    /// Noise on a mean is accounted for batches of B records; the same noise on the mean of the b
    /// records of a smaller last batch has a multiplier of only σ b/B.
    #[must_use]
    pub fn least_noise_multiplier(&self) -> f64 {
        let drawn = self.drawn_noise_multiplier();
        let is_on_mean = self.drawn_noise.is_some_and(|noise| noise.added_to == NoiseTarget::Mean);
        match self.last_batch().filter(|_| is_on_mean) {
            Some(records) => drawn * (records as f64 / self.batch_size as f64),
            None => drawn,
        }
    }
}
