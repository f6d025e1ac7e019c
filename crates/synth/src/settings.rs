//! What is fixed before the data are seen.

use dpscope_core::accounting::AccountingError;
use dpscope_core::accounting::pate::moments_epsilon;

use crate::accountant::{MomentTable, VoteAccountant, accounted_vote};

/// Distribution of the generator's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "workload", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "workload", serde(rename_all = "snake_case"))]
pub enum Latent {
    /// Uniform on (−1, 1), independent coordinates.
    Uniform,
    /// Standard normal.
    Normal,
}

/// When the training ends.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "workload", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "workload", serde(rename_all = "snake_case"))]
pub enum Stop {
    /// After this number of iterations.
    Iterations(u32),
    /// Before the first iteration after which ε could exceed this, by the moments that hold for all
    /// votes; at the latest after `at_most` iterations.
    Epsilon {
        /// The ε that must not be exceeded.
        epsilon: f64,
        /// Largest number of iterations.
        at_most: u32,
    },
}

/// Public parameters of the mechanism.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "workload", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "workload", serde(deny_unknown_fields))]
pub struct Settings {
    /// Number of teachers k, 1 to 10,000.
    pub teachers: u32,
    /// γ, the inverse scale of the Laplace noise.
    pub inverse_scale: f64,
    /// Rows per training step, at least 1.
    pub batch_size: u32,
    /// Steps of the teachers per iteration.
    pub teacher_steps: u32,
    /// Steps of the student per iteration, each with a noisy vote per row of its batch.
    pub student_steps: u32,
    /// When the training ends.
    pub stop: Stop,
    /// δ of the accountant.
    pub delta: f64,
    /// Number of synthetic rows.
    pub rows: u32,
    /// Distribution of the generator's input.
    pub latent: Latent,
    /// Largest order of the accountant.
    pub orders: u32,
}

impl Default for Settings {
    /// Five teachers with γ = 0.001, batches of 64 rows, five steps of teachers and of the student
    /// per iteration, ε = 1 at δ = 1e-5, 100 rows.
    fn default() -> Self {
        Settings {
            teachers: 5,
            inverse_scale: 1e-3,
            batch_size: 64,
            teacher_steps: 5,
            student_steps: 5,
            stop: Stop::Epsilon { epsilon: 1.0, at_most: 10_000 },
            delta: 1e-5,
            rows: 100,
            latent: Latent::Uniform,
            orders: 100,
        }
    }
}

impl Settings {
    /// Settings of the published worst case: 2 teachers, batches of 4 rows, 100 iterations, 4 rows.
    #[must_use]
    pub fn worst_case() -> Self {
        let stop = Stop::Iterations(100);
        Settings { teachers: 2, batch_size: 4, stop, rows: 4, ..Settings::default() }
    }
}

/// Why settings are refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A number is 0 or too large.
    #[error("{name} is {value}; it must be {domain}")]
    Number {
        /// Which.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What is possible.
        domain: &'static str,
    },
    /// The first iteration already exceeds ε.
    #[error("one iteration spends ε = {needed}, more than {epsilon}")]
    FirstIteration {
        /// What is allowed.
        epsilon: f64,
        /// What one iteration spends.
        needed: f64,
    },
    /// The accountant refuses γ, k or δ.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
}

impl Settings {
    /// The number of iterations, and ε that they spend at most.
    ///
    /// # Guarantee
    /// It is asked before spending: ε does not exceed that of [`Stop::Epsilon`]
    /// (`unit::iterations_are_those_of_the_accountant`).
    ///
    /// # Errors
    /// [`SettingsError`].
    pub fn plan(&self) -> Result<Spending, SettingsError> {
        self.check()?;
        let vote = accounted_vote(self.teachers, self.inverse_scale)?;
        let moments = MomentTable::new(VoteAccountant::Valid, &vote, self.orders)?;
        let votes = u64::from(self.batch_size) * u64::from(self.student_steps);
        let spent = |iterations: u32| {
            let moments = moments.bounds(votes * u64::from(iterations));
            moments_epsilon(moments, self.delta).map(|found| found.epsilon)
        };
        let (epsilon, at_most) = match self.stop {
            Stop::Iterations(iterations) => {
                return Ok(Spending { iterations, epsilon: spent(iterations)? });
            }
            Stop::Epsilon { epsilon, at_most } => (epsilon, at_most),
        };
        let needed = spent(1)?;
        if !(needed <= epsilon) {
            return Err(SettingsError::FirstIteration { epsilon, needed });
        }
        let (mut fits, mut exceeds) = (1, at_most.saturating_add(1));
        while exceeds - fits > 1 {
            let middle = fits + (exceeds - fits) / 2;
            match spent(middle)? <= epsilon {
                true => fits = middle,
                false => exceeds = middle,
            }
        }
        Ok(Spending { iterations: fits, epsilon: spent(fits)? })
    }

    fn check(&self) -> Result<(), SettingsError> {
        let at_most = match self.stop {
            Stop::Iterations(_) => 1,
            Stop::Epsilon { at_most, .. } => at_most,
        };
        let counts = [
            ("teachers", self.teachers, 10_000),
            ("batch_size", self.batch_size, 65_536),
            ("student_steps", self.student_steps, 10_000),
            ("rows", self.rows, 100_000),
            ("orders", self.orders, 10_000),
            ("at_most", at_most, 10_000_000),
        ];
        for (name, count, most) in counts {
            if count == 0 || count > most {
                let (value, domain) = (f64::from(count), "at least 1, and not too large");
                return Err(SettingsError::Number { name, value, domain });
            }
        }
        Ok(())
    }
}

/// What a training spends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spending {
    /// Number of iterations.
    pub iterations: u32,
    /// ε after them, by moments that hold for all votes.
    pub epsilon: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iterations(inverse_scale: f64, batch_size: u32) -> Result<u32, SettingsError> {
        let settings = Settings { inverse_scale, batch_size, ..Settings::default() };
        settings.plan().map(|spending| spending.iterations)
    }

    #[test]
    fn iterations_are_those_of_the_accountant() {
        assert_eq!(iterations(1e-3, 64), Ok(32));
        assert_eq!(iterations(1e-3, 2), Ok(1040));
        assert_eq!(iterations(1e-4, 64), Ok(3251));
        let refused = iterations(1.0, 64);
        assert!(
            matches!(refused, Err(SettingsError::FirstIteration { needed, .. }) if needed > 1.0)
        );
        let spending = Settings::default().plan().unwrap();
        assert_eq!(format!("{:.4}", spending.epsilon), "0.9917");
        let more = Settings { stop: Stop::Iterations(33), ..Settings::default() };
        assert!(more.plan().unwrap().epsilon > 1.0);
    }

    #[test]
    fn numbers_outside_their_domain_are_refused() {
        let default = Settings::default();
        let refused = [
            Settings { teachers: 0, ..default.clone() },
            Settings { batch_size: 0, ..default.clone() },
            Settings { student_steps: 0, ..default.clone() },
            Settings { rows: 0, ..default.clone() },
            Settings { orders: 0, ..default.clone() },
            Settings { delta: 0.0, ..default.clone() },
            Settings { inverse_scale: f64::NAN, ..default.clone() },
            Settings { stop: Stop::Epsilon { epsilon: f64::NAN, at_most: 1 }, ..default },
        ];
        for settings in refused {
            assert!(settings.plan().is_err(), "{settings:?}");
        }
    }
}
