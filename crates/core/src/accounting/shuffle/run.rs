//! The domain of accountants of shuffled batches, and the reduction of persistent shuffles.

use crate::accounting::error::argument;
use crate::accounting::{AccountingError, Given, Training};

impl Training {
    /// The run of one epoch that is equivalent to a run with one permutation for all epochs.
    ///
    /// Each slot has the same mean in all E epochs, so averages are sufficient: one epoch at σ/√E,
    /// rounded up, which rounds ε down.
    ///
    /// # Guarantee
    /// A lower bound of the result is one of the persistent run
    /// (`unit::persistent_run_is_one_epoch_of_less_noise`).
    ///
    /// # Example
    /// ```
    /// use dpscope_core::accounting::Training;
    /// let run = Training { noise_multiplier: 0.6, steps_per_epoch: 100, epochs: 10, sampling_rate: None };
    /// assert_eq!(format!("{:.6}", run.persistent().noise_multiplier), "0.189737");
    /// ```
    #[must_use]
    pub fn persistent(self) -> Training {
        let noise_multiplier =
            self.noise_multiplier / (self.epochs as f64).sqrt() * (1.0 + 2.0 * f64::EPSILON);
        Training { noise_multiplier, epochs: 1, ..self }
    }

    /// Rejects values outside the domain of the accountants of shuffled batches: σ in [0.01, 1e6],
    /// T in 1 to 1e9, E in 1 to 1e6.
    pub(crate) fn check_shuffle(&self) -> Result<(), AccountingError> {
        if !(0.01..=1e6).contains(&self.noise_multiplier) {
            let value = self.noise_multiplier;
            return Err(argument("noise_multiplier", value, "between 0.01 and 1e6"));
        }
        if !(1..=1_000_000_000).contains(&self.steps_per_epoch) {
            let value = self.steps_per_epoch as f64;
            return Err(argument("steps_per_epoch", value, "between 1 and 1e9"));
        }
        if !(1..=1_000_000).contains(&self.epochs) {
            return Err(argument("epochs", self.epochs as f64, "between 1 and 1e6"));
        }
        Ok(())
    }
}

/// Rejects a δ outside [1e-300, 1), and an ε outside [0, 1e6].
pub(crate) fn check_given(given: Given) -> Result<(), AccountingError> {
    match given {
        Given::Delta(delta) => check_delta(delta),
        Given::Epsilon(epsilon) => check_epsilon(epsilon),
    }
}

pub(crate) fn check_delta(delta: f64) -> Result<(), AccountingError> {
    if delta == 0.0 {
        return Err(AccountingError::Infinite { delta });
    }
    if (1e-300..1.0).contains(&delta) {
        return Ok(());
    }
    Err(argument("delta", delta, "at least 1e-300 and below 1"))
}

pub(crate) fn check_epsilon(epsilon: f64) -> Result<(), AccountingError> {
    if (0.0..=1e6).contains(&epsilon) {
        return Ok(());
    }
    Err(argument("epsilon", epsilon, "between 0 and 1e6"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_bad_runs() {
        let run =
            Training { noise_multiplier: 1.0, steps_per_epoch: 10, epochs: 2, sampling_rate: None };
        assert!(run.check_shuffle().is_ok());
        for noise_multiplier in [0.0, -1.0, f64::NAN, f64::INFINITY, 0.009] {
            let message =
                Training { noise_multiplier, ..run }.check_shuffle().unwrap_err().to_string();
            assert!(message.contains("noise_multiplier"), "{message}");
        }
        assert!(Training { steps_per_epoch: 0, ..run }.check_shuffle().is_err());
        assert!(Training { epochs: 0, ..run }.check_shuffle().is_err());
        for delta in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(check_delta(delta).is_err());
        }
        for epsilon in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(check_epsilon(epsilon).is_err());
        }
    }

    #[test]
    fn persistent_run_is_one_epoch_of_less_noise() {
        let run =
            Training { noise_multiplier: 1.7, steps_per_epoch: 10, epochs: 7, sampling_rate: None };
        let persistent = run.persistent();
        assert_eq!((persistent.steps_per_epoch, persistent.epochs), (10, 1));
        let nearest = 1.7 / 7.0_f64.sqrt();
        assert!(persistent.noise_multiplier > nearest);
        assert!(persistent.noise_multiplier < nearest * (1.0 + 1e-14));
    }
}
