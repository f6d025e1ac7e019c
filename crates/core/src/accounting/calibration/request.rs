//! Calibration requests with optional fields.

use super::{Calibrated, Parameter, PrivacyTarget, calibrate};
use crate::accounting::samplers::{with_accountant, with_subset_accountant};
use crate::accounting::{Accountant, AccountingError, Kind, Poisson, PoissonReplace, Training};
use crate::adjacency::Adjacency;
use crate::mechanism::{SamplerKind, Truncation};

/// A target ε and δ, and the known parameters of the training.
///
/// | field | meaning | domain |
/// |---|---|---|
/// | `epsilon` | ε, nats | [1e-6, 1e4] |
/// | `delta` | δ | (0, 1) |
/// | `noise_multiplier` | σ, unless calibrated | see the accountant |
/// | `steps` | T, steps per epoch | from 1 |
/// | `epochs` | E, for calibrated noise \[default: 1\] | from 1 |
/// | `sampling_rate` | q, if each step is drawn anew, or k/T \[default: 1/T\] | (0, 1] |
/// | `truncation` | N and B of truncated batches | 1 ≤ B ≤ N |
/// | `adjacency` | what neighbouring data sets differ in \[default: zero-out\] | see [`account`](crate::accounting::account) |
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calibration {
    /// The calibrated parameter.
    pub parameter: Parameter,
    /// How batches are drawn.
    pub sampler: SamplerKind,
    /// The target ε, an upper limit.
    pub epsilon: f64,
    /// The target δ.
    pub delta: f64,
    /// Noise multiplier σ.
    pub noise_multiplier: Option<f64>,
    /// Steps per epoch T.
    pub steps: Option<u64>,
    /// Epochs E.
    pub epochs: Option<u64>,
    /// Sampling rate q.
    pub sampling_rate: Option<f64>,
    /// The records, and the most of them in a batch.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub truncation: Option<Truncation>,
    /// What neighbouring data sets differ in.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub adjacency: Option<Adjacency>,
}

/// Errors of calibration.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// The sampler has no proven accountant, or none under the adjacency.
    #[error("sampler {sampler} has no proven accountant")]
    NoAccountant {
        /// The sampler.
        sampler: SamplerKind,
    },
    /// A field that would have no effect.
    #[error("{name} has no effect here")]
    Unused {
        /// Its name.
        name: &'static str,
    },
    /// Steps of a sampler whose privacy loss per epoch does not depend on them.
    #[error("steps are calibrated only where each step draws its batch anew")]
    StepsOfEpoch,
    /// A required field.
    #[error("{name} is missing")]
    Missing {
        /// Its name.
        name: &'static str,
    },
    /// An error of the accountant.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
}

impl Calibration {
    /// Rejects fields without effect, and samplers without a proven accountant.
    ///
    /// # Errors
    /// [`CalibrationError`], except for missing fields and errors of the accountant.
    pub fn check(&self) -> Result<(), CalibrationError> {
        let Calibration { parameter, sampler, .. } = *self;
        let draws_anew = sampler.draws_each_step_anew();
        let is_noise = parameter == Parameter::Noise;
        if self.truncation.is_some() && !sampler.truncates() {
            Err(CalibrationError::Unused { name: "max_batch_size" })
        } else if sampler == SamplerKind::SlidingBuffer {
            Err(CalibrationError::NoAccountant { sampler })
        } else if self.sampling_rate.is_some() && !sampler.has_sampling_rate() {
            Err(CalibrationError::Unused { name: "sampling_rate" })
        } else if is_noise && self.noise_multiplier.is_some() {
            Err(CalibrationError::Unused { name: "noise_multiplier" })
        } else if !is_noise && self.epochs.is_some() {
            Err(CalibrationError::Unused { name: "epochs" })
        } else if parameter == Parameter::Steps && !draws_anew {
            Err(CalibrationError::StepsOfEpoch)
        } else {
            Ok(())
        }
    }

    /// Calibrates with the proven accountant of the sampler.
    ///
    /// For every shuffle this is the upper bound of deterministic batches, the only proven one, as it is
    /// for all but subsampled batches where a record is replaced.
    ///
    /// # Guarantee
    /// ε at the result is at most the target (`unit::calibrated_values_reach_the_target`).
    ///
    /// # Errors
    /// [`CalibrationError`].
    pub fn run(&self) -> Result<Calibrated, CalibrationError> {
        self.check()?;
        let Calibration { sampler, truncation, .. } = *self;
        if sampler.truncates() && truncation.is_none() {
            return Err(CalibrationError::Missing { name: "max_batch_size" });
        }
        let adjacency = self.adjacency.unwrap_or(Adjacency::ZeroOut);
        let found = with_accountant((sampler, truncation), adjacency, Kind::Upper, |accountant| {
            self.run_with(accountant)
        });
        found.ok_or(CalibrationError::NoAccountant { sampler })?
    }

    /// As [`Calibration::run`], with the accountant of the caller: code that names no other accountant
    /// links none. It must be one that is proven for the sampler, which is not checked.
    ///
    /// # Errors
    /// [`CalibrationError`].
    pub fn run_with(&self, accountant: &dyn Accountant) -> Result<Calibrated, CalibrationError> {
        self.check()?;
        match self.sampler {
            sampler if sampler.draws_each_step_anew() => self.run_with_rate(accountant),
            sampler if sampler.keeps_other_records() => {
                self.run_by(accountant, self.needed_steps()?, self.sampling_rate)
            }
            _ => self.run_by(accountant, self.steps.unwrap_or(1), None),
        }
    }

    /// As [`Calibration::run`], for samplers with accountants of uniform subsets and Poisson sampling
    /// alone: code that calls nothing else links no other accountant. `None` for other samplers.
    ///
    /// # Errors
    /// [`CalibrationError`].
    #[must_use]
    pub fn run_subsets(&self) -> Option<Result<Calibrated, CalibrationError>> {
        let Calibration { sampler, truncation, .. } = *self;
        let adjacency = self.adjacency.unwrap_or(Adjacency::ZeroOut);
        if sampler == SamplerKind::Poisson {
            return Some(self.run_with(&Poisson));
        }
        if sampler.truncates() && truncation.is_none() {
            return Some(Err(CalibrationError::Missing { name: "truncation" }));
        }
        with_subset_accountant((sampler, truncation), adjacency, |accountant| {
            self.run_with(accountant)
        })
    }

    /// Calibrates with Poisson accounting, for any sampler.
    ///
    /// # Errors
    /// [`CalibrationError::Missing`] and those of the accountant.
    pub fn run_as_poisson(&self) -> Result<Calibrated, CalibrationError> {
        match self.adjacency {
            Some(Adjacency::Replace) => self.run_with_rate(&PoissonReplace),
            _ => self.run_with_rate(&Poisson),
        }
    }

    fn run_with_rate(&self, accountant: &dyn Accountant) -> Result<Calibrated, CalibrationError> {
        let rate = self.sampling_rate()?;
        let steps = match self.parameter {
            Parameter::Steps => self.steps.unwrap_or(1),
            Parameter::Noise | Parameter::Epochs => self.needed_steps()?,
        };
        let rate =
            if self.parameter == Parameter::Epochs { self.sampling_rate } else { Some(rate) };
        self.run_by(accountant, steps, rate)
    }

    fn run_by(
        &self,
        accountant: &dyn Accountant,
        steps_per_epoch: u64,
        sampling_rate: Option<f64>,
    ) -> Result<Calibrated, CalibrationError> {
        let noise_multiplier = match self.parameter {
            Parameter::Noise => 1.0,
            Parameter::Steps | Parameter::Epochs => self
                .noise_multiplier
                .ok_or(CalibrationError::Missing { name: "noise_multiplier" })?,
        };
        let epochs = self.epochs.unwrap_or(1);
        let training = Training { noise_multiplier, steps_per_epoch, epochs, sampling_rate };
        let target = PrivacyTarget { epsilon: self.epsilon, delta: self.delta, error: None };
        Ok(calibrate(accountant, self.parameter, &target, &training)?)
    }

    /// q of Poisson sampled batches: the sampling rate, or else 1/T.
    ///
    /// # Errors
    /// Neither q nor T is set; T is too large.
    pub fn sampling_rate(&self) -> Result<f64, CalibrationError> {
        if let Some(rate) = self.sampling_rate {
            return Ok(rate);
        }
        let steps = self.steps.ok_or(CalibrationError::Missing { name: "steps" })?;
        if !(1..=1_000_000_000).contains(&steps) {
            let allowed = "in 1 to 1e9: the sampling rate is one over it";
            let value = steps as f64;
            return Err(AccountingError::Argument {
                name: "steps",
                value,
                allowed: allowed.into(),
            }
            .into());
        }
        Ok(1.0 / steps as f64)
    }

    fn needed_steps(&self) -> Result<u64, CalibrationError> {
        self.steps.ok_or(CalibrationError::Missing { name: "steps" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{Given, Kind, Query, accountant};

    fn noise(sampler: SamplerKind) -> Calibration {
        Calibration {
            parameter: Parameter::Noise,
            sampler,
            epsilon: 4.0,
            delta: 1e-5,
            noise_multiplier: None,
            steps: Some(100),
            epochs: None,
            sampling_rate: None,
            truncation: None,
            adjacency: None,
        }
    }

    #[test]
    fn calibrated_values_reach_the_target() {
        let samplers = [
            SamplerKind::Poisson,
            SamplerKind::BallsInBins,
            SamplerKind::Shuffle,
            SamplerKind::FixedSize,
        ];
        for sampler in samplers {
            let found = noise(sampler).run().unwrap();
            assert!(found.epsilon <= 4.0 && found.epsilon > 3.95, "{sampler}: {found:?}");
            let training = Training {
                noise_multiplier: found.value,
                steps_per_epoch: 100,
                epochs: 1,
                sampling_rate: None,
            };
            let query = Query::upper(training, Given::Delta(1e-5));
            let bound = accountant(sampler, Kind::Upper).unwrap().account(&query).unwrap();
            assert!((bound.epsilon - found.epsilon).abs() < 0.02, "{sampler}: {found:?}");
        }
    }

    #[test]
    fn unused_fields_and_unproven_samplers_are_refused() {
        let unused = |name| Err(CalibrationError::Unused { name });
        let shuffle = noise(SamplerKind::Shuffle);
        let sampling_rate = Some(0.01);
        assert_eq!(Calibration { sampling_rate, ..shuffle }.check(), unused("sampling_rate"));
        let noise_multiplier = Some(1.0);
        assert_eq!(Calibration { noise_multiplier, ..shuffle }.check(), unused("noise_multiplier"));
        let epochs = Calibration { parameter: Parameter::Epochs, epochs: Some(2), ..shuffle };
        assert_eq!(epochs.check(), unused("epochs"));
        let steps = Calibration { parameter: Parameter::Steps, ..shuffle };
        assert_eq!(steps.check(), Err(CalibrationError::StepsOfEpoch));
        let sampler = SamplerKind::SlidingBuffer;
        assert_eq!(noise(sampler).check(), Err(CalibrationError::NoAccountant { sampler }));
        let adjacency = Some(Adjacency::AddRemove);
        let removed = Calibration { adjacency, ..shuffle }.run();
        assert_eq!(removed, Err(CalibrationError::NoAccountant { sampler: SamplerKind::Shuffle }));
        let poisson = Calibration { steps: None, ..noise(SamplerKind::Poisson) };
        assert_eq!(poisson.run(), Err(CalibrationError::Missing { name: "steps" }));
    }
}
