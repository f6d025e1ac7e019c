//! Deterministic batches: the Gaussian mechanism, once an epoch.

use super::bracket::Bracket;
use super::error::argument;
use super::pld::{Target, check_delta, check_epsilon};
use super::result::Account;
use super::shuffle::sum::{gdp_delta_below, gdp_epsilon_below, relative_error};
use super::{
    AccountingError, DeltaLowerBound, DeltaUpperBound, Directions, EpsilonLowerBound,
    EpsilonUpperBound, Method,
};
use crate::adjacency::Scope;
use crate::gdp;

/// Noisy sums of clipped gradients, each record in the same batch of each epoch.
///
/// μ-GDP with μ = √E/σ
///
/// Also the proven upper bound of every way to shuffle: given the record's place, an epoch is one
/// Gaussian mechanism, and ε and δ are jointly convex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeterministicBatches {
    /// σ, in [1e-6, 1e6].
    pub noise_multiplier: f64,
    /// E, 1 … 10¹².
    pub epochs: u64,
}

impl DeterministicBatches {
    /// The parameter μ = √E/σ of Gaussian differential privacy.
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain of the fields.
    pub fn gdp_mu(&self) -> Result<f64, AccountingError> {
        if !(1e-6..=1e6).contains(&self.noise_multiplier) {
            return Err(argument("noise_multiplier", self.noise_multiplier, "in [1e-6, 1e6]"));
        }
        if !(1..=1_000_000_000_000).contains(&self.epochs) {
            return Err(argument("epochs", self.epochs as f64, "in 1 to 10^12"));
        }
        Ok((self.epochs as f64).sqrt() / self.noise_multiplier)
    }

    /// A value that ε does not exceed, in both directions, here and for every way to shuffle.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `delta` | δ | (0, 1) |
    ///
    /// # Guarantee
    /// Not below ε (`tests/oracles/accounting.rs::deterministic_values_are_the_golden_ones`).
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    ///
    /// # Numerics
    /// Above the exact value by at most 2e-12 (ε + μ). No cap.
    ///
    /// # Reference
    /// J. Dong, A. Roth and W. Su (2022), corollary 2.13.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::accounting::DeterministicBatches;
    /// let training = DeterministicBatches { noise_multiplier: 1.0, epochs: 509 };
    /// assert_eq!(format!("{:.6}", training.epsilon_upper(1e-5)?.value()), "349.804809");
    /// # Ok::<(), dpscope_core::accounting::AccountingError>(())
    /// ```
    pub fn epsilon_upper(&self, delta: f64) -> Result<EpsilonUpperBound, AccountingError> {
        let nearest = self.epsilon(delta)?;
        let gdp_mu = self.gdp_mu_above()?;
        let mut change = 1e-13 * (nearest + gdp_mu);
        // The root alone rounds to nearest: δ is checked to be low enough.
        while delta_above(gdp_mu, nearest + change)?.0 > delta && change < 1.0 + nearest {
            change *= 4.0;
        }
        Ok(EpsilonUpperBound::new(nearest + change, delta, account(change)))
    }

    /// A value that ε exceeds, for deterministic batches alone.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `delta` | δ | (0, 1) |
    ///
    /// # Guarantee
    /// Not above ε (`tests/oracles/accounting.rs::deterministic_values_are_the_golden_ones`).
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    pub fn epsilon_lower(&self, delta: f64) -> Result<EpsilonLowerBound, AccountingError> {
        let epsilon = self.epsilon(delta)?;
        let error = 1e-12 * (epsilon + self.gdp_mu()?);
        Ok(EpsilonLowerBound::new((epsilon - error).max(0.0), 0.0, account(2.0 * error)))
    }

    /// A value that δ does not exceed, in both directions, here and for every way to shuffle.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `epsilon` | ε, nats | [0, 1e200] |
    ///
    /// # Guarantee
    /// Not below δ (`tests/oracles/accounting.rs::deterministic_deltas_undo_epsilons`).
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    pub fn delta_upper(&self, epsilon: f64) -> Result<DeltaUpperBound, AccountingError> {
        check_epsilon(epsilon)?;
        let (delta, error) = delta_above(self.gdp_mu_above()?, epsilon)?;
        Ok(DeltaUpperBound::new(delta, epsilon, account(error)))
    }

    /// What ε or δ lies between, in either direction.
    pub(super) fn bracket(&self, target: Target) -> Result<Bracket, AccountingError> {
        match target {
            Target::Delta(delta) => {
                let upper = self.epsilon_upper(delta)?.value();
                let (lower, _) = gdp_epsilon_below(self.gdp_mu_below()?, delta);
                Ok(Bracket { lower, upper })
            }
            Target::Epsilon(epsilon) => {
                let upper = self.delta_upper(epsilon)?.value();
                Ok(Bracket { lower: self.delta_lower(epsilon)?.value(), upper })
            }
        }
    }

    /// A value that δ exceeds, for deterministic batches alone; arguments as [`Self::delta_upper`].
    ///
    /// # Guarantee
    /// Not above δ (`tests/oracles/accounting.rs::deterministic_deltas_undo_epsilons`).
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    ///
    /// # Numerics
    /// 0 so far in the tail that the rounding of A exceeds all.
    pub fn delta_lower(&self, epsilon: f64) -> Result<DeltaLowerBound, AccountingError> {
        check_epsilon(epsilon)?;
        let gdp_mu = self.gdp_mu_below()?;
        let delta = gdp_delta_below(gdp_mu, epsilon);
        Ok(DeltaLowerBound::new(delta, 0.0, account(2.0 * relative_error(gdp_mu, epsilon) * delta)))
    }

    /// μ, rounded down.
    fn gdp_mu_below(&self) -> Result<f64, AccountingError> {
        Ok(self.gdp_mu()? * (1.0 - 4.0 * f64::EPSILON))
    }

    /// μ, rounded up.
    fn gdp_mu_above(&self) -> Result<f64, AccountingError> {
        Ok(self.gdp_mu()? * (1.0 + 4.0 * f64::EPSILON))
    }

    /// ε, rounded to nearest.
    fn epsilon(&self, delta: f64) -> Result<f64, AccountingError> {
        check_delta(delta)?;
        gdp::gdp_epsilon(self.gdp_mu()?, delta)
            .map_err(|_| argument("delta", delta, "strictly between 0 and 1"))
    }
}

/// δ of μ-GDP above by twice the error that [`gdp::gdp_delta`] states, and that error.
fn delta_above(gdp_mu: f64, epsilon: f64) -> Result<(f64, f64), AccountingError> {
    let relative = relative_error(gdp_mu, epsilon);
    let delta = if relative < 0.1 {
        gdp_delta(gdp_mu, epsilon)? * (1.0 + relative)
    } else {
        // So far in the tail the rounding of A exceeds all: the δ of a slightly smaller A.
        gdp_delta(gdp_mu, epsilon * (1.0 - 1e-12))?
    };
    let delta = delta.clamp(f64::MIN_POSITIVE, 1.0);
    Ok((delta, relative * delta))
}

fn gdp_delta(gdp_mu: f64, epsilon: f64) -> Result<f64, AccountingError> {
    let delta = gdp::gdp_delta(gdp_mu, epsilon);
    delta.map_err(|_| argument("epsilon", epsilon, "at most 1e200"))
}

fn account(numeric_error: f64) -> Account {
    Account {
        scope: Scope::Mechanism,
        directions: Directions::Both,
        method: Method::Analytic,
        numeric_error,
    }
}
