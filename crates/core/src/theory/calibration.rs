//! Noise, steps or epochs for a wanted ε and δ, by the accountant that a sampler has.

use crate::accounting::{
    AccountingError, Calibrated, PrivacyTarget, balls_in_bins_epochs, balls_in_bins_noise,
    deterministic_epochs, deterministic_noise, poisson_epochs, poisson_noise, poisson_steps,
};
use crate::mechanism::SamplerKind;

/// What is calibrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Wanted {
    /// The least noise multiplier.
    Noise,
    /// The most steps in all (Poisson only).
    Steps,
    /// The most epochs.
    Epochs,
}

/// A wanted ε and δ, and what is given of the training.
///
/// | field | meaning | domain |
/// |---|---|---|
/// | `epsilon` | ε, nats | [1e-6, 1e4] |
/// | `delta` | δ | (0, 1) |
/// | `noise_multiplier` | σ, unless wanted | see the accountant |
/// | `steps` | T, steps an epoch | from 1 |
/// | `epochs` | E, for wanted noise; 1 if not given | from 1 |
/// | `sampling_rate` | q of Poisson sampling; 1/T if not given | (0, 1] |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// What is wanted.
    pub wanted: Wanted,
    /// How batches are drawn.
    pub sampler: SamplerKind,
    /// ε that must not be exceeded.
    pub epsilon: f64,
    /// δ of the statement.
    pub delta: f64,
    /// σ.
    pub noise_multiplier: Option<f64>,
    /// T.
    pub steps: Option<u64>,
    /// E.
    pub epochs: Option<u64>,
    /// q.
    pub sampling_rate: Option<f64>,
}

/// Why nothing was calibrated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// The sampler has no proven accountant.
    #[error("sampler {sampler} has no proven accountant; use one that has")]
    NoAccountant {
        /// The sampler.
        sampler: SamplerKind,
    },
    /// A field that would have no effect.
    #[error("{name} has no effect here; leave it out")]
    Unused {
        /// Its name.
        name: &'static str,
    },
    /// Steps, of a sampler whose epoch costs the same however many steps it has.
    #[error("steps are calibrated for sampler poisson alone; calibrate epochs")]
    StepsOfEpoch,
    /// A field that is needed.
    #[error("{name} is missing; add it")]
    Missing {
        /// Its name.
        name: &'static str,
    },
    /// The accountant gives no value.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
}

impl Calibration {
    /// Refuses what would have no effect, and samplers of which nothing is proven.
    ///
    /// # Errors
    /// [`CalibrationError`], but for a missing field and for the accountant's own.
    pub fn check(&self) -> Result<(), CalibrationError> {
        let Calibration { wanted, sampler, .. } = *self;
        let is_poisson = sampler == SamplerKind::Poisson;
        let rate_is_unused = !is_poisson || wanted == Wanted::Epochs;
        let is_noise = wanted == Wanted::Noise;
        if sampler == SamplerKind::SlidingBuffer {
            Err(CalibrationError::NoAccountant { sampler })
        } else if self.sampling_rate.is_some() && rate_is_unused {
            Err(CalibrationError::Unused { name: "sampling_rate" })
        } else if is_noise && self.noise_multiplier.is_some() {
            Err(CalibrationError::Unused { name: "noise_multiplier" })
        } else if !is_noise && self.epochs.is_some() {
            Err(CalibrationError::Unused { name: "epochs" })
        } else if wanted == Wanted::Steps && !is_poisson {
            Err(CalibrationError::StepsOfEpoch)
        } else {
            Ok(())
        }
    }

    /// The value, and the ε that it gives.
    ///
    /// Of every shuffle only the upper bound of deterministic batches is proven: it is used.
    ///
    /// # Guarantee
    /// ε at the result is at most the wanted one (`unit::what_is_calibrated_keeps_its_epsilon`).
    ///
    /// # Errors
    /// [`CalibrationError`].
    pub fn found(&self) -> Result<Calibrated, CalibrationError> {
        self.check()?;
        match self.sampler {
            SamplerKind::Poisson => self.by_poisson(),
            SamplerKind::BallsInBins => self.by_balls_in_bins(),
            _ => self.by_deterministic(),
        }
    }

    /// What Poisson accounting would ask for, whatever the sampler.
    ///
    /// # Errors
    /// [`CalibrationError::Missing`] and those of the accountant.
    pub fn by_poisson(&self) -> Result<Calibrated, CalibrationError> {
        let (target, rate) = (self.target(), self.rate()?);
        Ok(match self.wanted {
            Wanted::Noise => {
                let steps = self.needed_steps()?.saturating_mul(self.epochs.unwrap_or(1));
                poisson_noise(target, rate, steps)?
            }
            Wanted::Steps => poisson_steps(target, self.needed_noise()?, rate)?,
            Wanted::Epochs => poisson_epochs(target, self.needed_noise()?, self.needed_steps()?)?,
        })
    }

    fn by_deterministic(&self) -> Result<Calibrated, CalibrationError> {
        let target = self.target();
        Ok(match self.wanted {
            Wanted::Noise => deterministic_noise(target, self.epochs.unwrap_or(1))?,
            _ => deterministic_epochs(target, self.needed_noise()?)?,
        })
    }

    fn by_balls_in_bins(&self) -> Result<Calibrated, CalibrationError> {
        // finer grids take many seconds
        let error = (3e-3 * self.epsilon).clamp(1e-4, 1e-2);
        let target = PrivacyTarget { error, ..self.target() };
        let steps = self.needed_steps()?;
        Ok(match self.wanted {
            Wanted::Noise => balls_in_bins_noise(target, steps, self.epochs.unwrap_or(1))?,
            _ => balls_in_bins_epochs(target, self.needed_noise()?, steps)?,
        })
    }

    fn target(&self) -> PrivacyTarget {
        let error = (1e-4 * self.epsilon).clamp(1e-7, 1e-3);
        PrivacyTarget { epsilon: self.epsilon, delta: self.delta, error }
    }

    /// q of Poisson sampled batches: as given, else 1/T.
    ///
    /// # Errors
    /// Neither q nor T is given; T is too large.
    pub fn rate(&self) -> Result<f64, CalibrationError> {
        if let Some(rate) = self.sampling_rate {
            return Ok(rate);
        }
        let steps = self.steps.ok_or(CalibrationError::Missing { name: "steps" })?;
        if steps > 1_000_000_000 {
            let allowed = "at most 1e9: the sampling rate is one over it";
            let value = steps as f64;
            return Err(AccountingError::Argument { name: "steps", value, allowed }.into());
        }
        Ok(1.0 / steps as f64)
    }

    fn needed_steps(&self) -> Result<u64, CalibrationError> {
        self.steps.ok_or(CalibrationError::Missing { name: "steps" })
    }

    fn needed_noise(&self) -> Result<f64, CalibrationError> {
        self.noise_multiplier.ok_or(CalibrationError::Missing { name: "noise_multiplier" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{At, Kind, Setting};

    fn noise(sampler: SamplerKind) -> Calibration {
        Calibration {
            wanted: Wanted::Noise,
            sampler,
            epsilon: 4.0,
            delta: 1e-5,
            noise_multiplier: None,
            steps: Some(100),
            epochs: None,
            sampling_rate: None,
        }
    }

    #[test]
    fn what_is_calibrated_keeps_its_epsilon() {
        for sampler in [SamplerKind::Poisson, SamplerKind::BallsInBins, SamplerKind::Shuffle] {
            let wanted = noise(sampler);
            let found = wanted.found().unwrap();
            assert!(found.epsilon <= 4.0 && found.epsilon > 3.95, "{sampler}: {found:?}");
            let setting = Setting { noise_multiplier: found.value, steps: 100, epochs: 1 };
            let at = At::Delta(1e-5);
            let row = match sampler {
                SamplerKind::Poisson => setting.poisson(at),
                SamplerKind::BallsInBins => {
                    setting.balls_in_bins(at, Kind::Upper, crate::accounting::Directions::Both)
                }
                _ => setting.deterministic(at),
            };
            assert!((row.unwrap().epsilon - found.epsilon).abs() < 0.02, "{sampler}: {found:?}");
        }
    }

    #[test]
    fn what_has_no_effect_or_no_proof_is_refused() {
        let unused = |name| Err(CalibrationError::Unused { name });
        let shuffle = noise(SamplerKind::Shuffle);
        let sampling_rate = Some(0.01);
        assert_eq!(Calibration { sampling_rate, ..shuffle }.check(), unused("sampling_rate"));
        let noise_multiplier = Some(1.0);
        assert_eq!(Calibration { noise_multiplier, ..shuffle }.check(), unused("noise_multiplier"));
        let epochs = Calibration { wanted: Wanted::Epochs, epochs: Some(2), ..shuffle };
        assert_eq!(epochs.check(), unused("epochs"));
        let steps = Calibration { wanted: Wanted::Steps, ..shuffle };
        assert_eq!(steps.check(), Err(CalibrationError::StepsOfEpoch));
        let sampler = SamplerKind::SlidingBuffer;
        assert_eq!(noise(sampler).check(), Err(CalibrationError::NoAccountant { sampler }));
        let poisson = Calibration { steps: None, ..noise(SamplerKind::Poisson) };
        assert_eq!(poisson.found(), Err(CalibrationError::Missing { name: "steps" }));
    }
}
