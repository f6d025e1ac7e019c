//! Lengths of training runs, in epochs or in steps.

use super::error::argument;
use super::{AccountingError, Kind, Training};
use crate::mechanism::{BatchedGaussian, SamplerKind};

/// Batches per epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EpochLength {
    /// Steps per epoch T.
    Steps(u64),
    /// T = ⌈N/B⌉: the last batch may be smaller. Poisson batches have q = B/N.
    Records {
        /// Number of records N.
        dataset_size: u64,
        /// Batch size B.
        batch_size: u64,
    },
}

/// The length of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RunLength {
    /// Number of epochs E, which may have a fraction.
    Epochs(f64),
    /// Steps in all.
    Steps(u64),
}

/// A training run whose last epoch may be incomplete.
///
/// Poisson accounting, and that of batches of fixed size, uses all steps. The privacy loss of a sampler that uses each record once per
/// epoch is known for whole epochs alone: fewer of them leak at most as much, more of them at least
/// as much.
///
/// # Guarantee
/// [`Schedule::training`] has at most the steps of the run for a lower bound or an estimate, at
/// least as many for an upper bound, and exactly as many if steps are independent
/// (`unit::rounding_is_outward`).
///
/// # Example
/// ```
/// use dpscope_core::accounting::{EpochLength, Kind, RunLength, Schedule};
/// use dpscope_core::mechanism::SamplerKind;
///
/// let epoch = EpochLength::Records { dataset_size: 45_000, batch_size: 4_096 };
/// let run = Schedule::new(4.0, epoch, RunLength::Steps(906))?;
/// assert_eq!((run.whole.steps_per_epoch, run.whole.epochs, run.partial_epoch_steps), (11, 82, 4));
/// assert_eq!(run.training(SamplerKind::Poisson, Kind::Upper)?.steps(), 906);
/// assert_eq!(run.training(SamplerKind::Shuffle, Kind::Upper)?.epochs, 83);
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Schedule {
    /// The whole epochs, possibly none.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub whole: Training,
    /// Steps of a further, incomplete epoch; none if the run is a number of whole epochs.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_zero"))]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub partial_epoch_steps: u64,
}

/// Whether a field is left out of documents.
#[cfg(feature = "serde")]
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) fn is_zero(steps: &u64) -> bool {
    *steps == 0
}

/// Largest number of steps: integers up to it are floats.
const MOST_STEPS: f64 = 9_007_199_254_740_992.0;

/// Part of a step below which a fraction of an epoch is a whole number of steps.
const ROUNDING: f64 = 1e-6;

impl From<Training> for Schedule {
    fn from(whole: Training) -> Self {
        Schedule { whole, partial_epoch_steps: 0 }
    }
}

impl From<&BatchedGaussian> for Schedule {
    fn from(mechanism: &BatchedGaussian) -> Self {
        Training::from(mechanism).into()
    }
}

impl Schedule {
    /// A run of this length; a fraction of a step counts as a step.
    ///
    /// # Errors
    /// [`AccountingError::Argument`]: no batch, no step, a batch larger than the data, more than 2⁵³
    /// steps.
    pub fn new(
        noise_multiplier: f64,
        epoch: EpochLength,
        run: RunLength,
    ) -> Result<Self, AccountingError> {
        let (steps_per_epoch, sampling_rate) = match epoch {
            EpochLength::Steps(steps) => (steps, None),
            EpochLength::Records { dataset_size, batch_size } => {
                if !(1..=dataset_size).contains(&batch_size) {
                    let allowed = format!("from 1 to the number of records, {dataset_size}");
                    return Err(argument("batch_size", batch_size as f64, allowed));
                }
                let rate = batch_size as f64 / dataset_size as f64;
                (dataset_size.div_ceil(batch_size), Some(rate))
            }
        };
        let per_epoch = steps_per_epoch as f64;
        if !(1.0..=MOST_STEPS).contains(&per_epoch) {
            return Err(argument("steps_per_epoch", per_epoch, "in 1 to 2^53"));
        }
        let (epochs, partial_epoch_steps) = match run {
            RunLength::Steps(steps) => {
                if !(1.0..=MOST_STEPS).contains(&(steps as f64)) {
                    return Err(argument("total_steps", steps as f64, "in 1 to 2^53"));
                }
                (steps / steps_per_epoch, steps % steps_per_epoch)
            }
            RunLength::Epochs(epochs) => {
                if !(epochs > 0.0 && epochs * per_epoch <= MOST_STEPS) {
                    let allowed = "above 0, with at most 2^53 steps in all";
                    return Err(argument("epochs", epochs, allowed));
                }
                let partial = (epochs.fract() * per_epoch - ROUNDING).ceil().max(0.0) as u64;
                let is_nothing = epochs < 1.0 && partial == 0;
                (epochs as u64, if is_nothing { 1 } else { partial })
            }
        };
        let whole = Training { noise_multiplier, steps_per_epoch, epochs, sampling_rate };
        Ok(Schedule { whole, partial_epoch_steps })
    }

    /// Steps in all.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.whole.steps().saturating_add(self.partial_epoch_steps)
    }

    /// The run of whole epochs, if it is one.
    #[must_use]
    pub fn as_whole(&self) -> Option<Training> {
        (self.partial_epoch_steps == 0).then_some(self.whole)
    }

    /// What accountants of independent steps compose, such as that of Poisson batches: every step.
    #[must_use]
    pub fn poisson(&self) -> Training {
        self.as_whole().unwrap_or(Training {
            steps_per_epoch: self.steps(),
            epochs: 1,
            sampling_rate: Some(self.whole.sampling_rate()),
            ..self.whole
        })
    }

    /// The run with its last epoch completed, which leaks at least as much.
    #[must_use]
    pub fn rounded_up(&self) -> Training {
        let epochs = self.whole.epochs.saturating_add(u64::from(self.partial_epoch_steps > 0));
        Training { epochs, ..self.whole }
    }

    /// The run without its incomplete epoch, which leaks at most as much.
    ///
    /// # Errors
    /// [`AccountingError::Argument`] if that leaves nothing.
    pub fn rounded_down(&self) -> Result<Training, AccountingError> {
        if self.whole.epochs == 0 {
            let epochs = self.steps() as f64 / self.whole.steps_per_epoch as f64;
            let allowed = "at least 1: less than one epoch has no lower bound";
            return Err(argument("epochs", epochs, allowed));
        }
        Ok(self.whole)
    }

    /// What an accountant of this sampler is asked, for a value on this side.
    ///
    /// # Errors
    /// [`AccountingError::Argument`] for a lower bound or an estimate of less than one epoch.
    pub fn training(&self, sampler: SamplerKind, kind: Kind) -> Result<Training, AccountingError> {
        match kind {
            _ if sampler.draws_each_step_anew() => Ok(self.poisson()),
            Kind::Upper => Ok(self.rounded_up()),
            Kind::Lower | Kind::Estimate => self.rounded_down(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(epoch: EpochLength, run: RunLength) -> (u64, u64, u64) {
        let found = Schedule::new(1.0, epoch, run).unwrap();
        (found.whole.steps_per_epoch, found.whole.epochs, found.partial_epoch_steps)
    }

    #[test]
    fn lengths_in_steps_and_in_epochs_agree() {
        let records = EpochLength::Records { dataset_size: 60_000, batch_size: 256 };
        assert_eq!(parts(records, RunLength::Epochs(60.0)), (235, 60, 0));
        assert_eq!(parts(records, RunLength::Steps(14_062)), (235, 59, 197));
        let steps = EpochLength::Steps(10);
        for (epochs, whole, partial) in
            [(2.0, 2, 0), (2.1, 2, 1), (2.11, 2, 2), (0.3, 0, 3), (1e-9, 0, 1), (2.999, 2, 10)]
        {
            assert_eq!(parts(steps, RunLength::Epochs(epochs)), (10, whole, partial), "{epochs}");
        }
    }

    #[test]
    fn rounding_is_outward() {
        let records = EpochLength::Records { dataset_size: 45_000, batch_size: 4_096 };
        for steps in [11, 12, 21, 22, 23, 906] {
            let run = Schedule::new(1.0, records, RunLength::Steps(steps)).unwrap();
            let of = |sampler, kind| run.training(sampler, kind).unwrap().steps();
            for kind in [Kind::Lower, Kind::Upper, Kind::Estimate] {
                assert_eq!(of(SamplerKind::Poisson, kind), steps);
                assert_eq!(of(SamplerKind::FixedSize, kind), steps);
            }
            let bounds = [Kind::Lower, Kind::Upper].map(|kind| of(SamplerKind::Shuffle, kind));
            assert!(bounds[0] <= steps && steps <= bounds[1] && bounds[1] - bounds[0] <= 11);
            assert_eq!(run.poisson().sampling_rate(), 4_096.0 / 45_000.0);
        }
    }

    #[test]
    fn less_than_one_epoch_has_no_lower_bound() {
        let run = Schedule::new(1.0, EpochLength::Steps(100), RunLength::Epochs(0.5)).unwrap();
        let error = run.training(SamplerKind::Shuffle, Kind::Lower).unwrap_err();
        assert!(error.to_string().starts_with("epochs is 0.5; it must be at least 1"), "{error}");
        assert_eq!(run.rounded_up().epochs, 1);
    }

    #[test]
    fn bad_lengths_are_refused() {
        let ten = EpochLength::Steps(10);
        let records = |dataset_size, batch_size| EpochLength::Records { dataset_size, batch_size };
        for (epoch, run, name) in [
            (EpochLength::Steps(0), RunLength::Epochs(1.0), "steps_per_epoch"),
            (records(10, 0), RunLength::Epochs(1.0), "batch_size"),
            (records(10, 11), RunLength::Epochs(1.0), "batch_size"),
            (records(0, 0), RunLength::Epochs(1.0), "batch_size"),
            (ten, RunLength::Steps(0), "total_steps"),
            (ten, RunLength::Epochs(0.0), "epochs"),
            (ten, RunLength::Epochs(f64::NAN), "epochs"),
            (ten, RunLength::Epochs(f64::INFINITY), "epochs"),
            (EpochLength::Steps(1 << 53), RunLength::Epochs(1.5), "epochs"),
        ] {
            let error = Schedule::new(1.0, epoch, run).unwrap_err().to_string();
            assert!(error.starts_with(name), "{error}");
        }
    }
}
