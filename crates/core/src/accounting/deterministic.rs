//! Deterministic batches: the Gaussian mechanism, once per epoch.

use super::answer::Basis;
use super::bracket::Bracket;
use super::calibration::{PrivacyTarget, SearchRange};
use super::error::argument;
use super::pld::{check_delta, check_epsilon};
use super::shuffle::sum::{gdp_delta_below, gdp_epsilon_below, relative_error};
use super::{
    Accountant, Accounted, AccountingError, AccountingResult, Given, Kind, Method, Parameter,
    Query, Training,
};
use crate::adjacency::{Directions, Scope};
use crate::gdp;

/// The accountant of deterministic batches: each record in the same batch of each epoch.
///
/// μ-GDP with μ = √E/σ, in both directions, for every T
///
/// The upper bound also applies to every shuffle: conditionally on the record's position an epoch
/// is one Gaussian mechanism, and the hockey-stick divergence is jointly convex. The lower bound is
/// for deterministic batches only.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `noise_multiplier` | σ | [1e-6, 1e6] |
/// | `epochs` | E | 1 … 10¹² |
/// | `given` | δ | (0, 1) |
/// | | or ε, nats | [0, 1e200] |
///
/// # Guarantee
/// An upper value is not below the exact one, a lower value not above
/// (`tests/oracles/golden.rs::accounting_agrees`,
/// `tests/oracles/accounting.rs::deterministic_deltas_invert_epsilons`).
///
/// # Errors
/// [`AccountingError::Argument`] outside the domain; [`AccountingError::NoValue`] for an estimate.
///
/// # Numerics
/// The upper ε exceeds the exact value by at most 2e-12 (ε + μ), for every ε. The lower δ is 0 in
/// the far tail, where the rounding of ε/μ dominates.
///
/// # Reference
/// J. Dong, A. Roth and W. Su (2022), corollary 2.13.
///
/// # Example
/// ```
/// use dpscope_core::accounting::{Accountant, Deterministic, Given, Query, Training};
/// let training =
///     Training { noise_multiplier: 1.0, steps_per_epoch: 440, epochs: 509, sampling_rate: None };
/// let bound = Deterministic.account(&Query::upper(training, Given::Delta(1e-5)))?;
/// assert_eq!(format!("{:.6}", bound.epsilon), "349.804809");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deterministic;

impl Accountant for Deterministic {
    fn account(&self, query: &Query) -> AccountingResult {
        let training = &query.training;
        match query.kind {
            Kind::Upper => upper(training, query.given),
            Kind::Lower => lower(training, query.given),
            Kind::Estimate => Err(query.refused()),
        }?
        .checked(query)
    }

    fn search_range(
        &self,
        parameter: Parameter,
        target: &PrivacyTarget,
        training: &Training,
    ) -> Result<Option<SearchRange>, AccountingError> {
        let error = (1e-4 * target.epsilon).clamp(1e-7, 1e-3);
        let range = SearchRange { error, ..SearchRange::default() };
        Ok(match parameter {
            Parameter::Noise => {
                let start = 1.0 / (training.epochs as f64).sqrt();
                Some(SearchRange { low: 1e-6, high: 1e6, start, ..range })
            }
            Parameter::Epochs => Some(SearchRange { high: 1e10, ..range }),
            Parameter::Steps => None,
        })
    }
}

/// The parameter μ = √E/σ of Gaussian differential privacy.
pub(crate) fn gdp_mu(training: &Training) -> Result<f64, AccountingError> {
    let Training { noise_multiplier, epochs, .. } = *training;
    if !(1e-6..=1e6).contains(&noise_multiplier) {
        return Err(argument("noise_multiplier", noise_multiplier, "in [1e-6, 1e6]"));
    }
    if !(1..=1_000_000_000_000).contains(&epochs) {
        return Err(argument("epochs", epochs as f64, "in 1 to 10^12"));
    }
    Ok((epochs as f64).sqrt() / noise_multiplier)
}

/// The upper bound; also for every shuffle.
pub(crate) fn upper(training: &Training, given: Given) -> AccountingResult {
    let (value, error) = match given {
        Given::Delta(delta) => epsilon_above(training, delta)?,
        Given::Epsilon(epsilon) => {
            check_epsilon(epsilon)?;
            delta_above(gdp_mu_above(training)?, epsilon)?
        }
    };
    Ok(Accounted::new(Kind::Upper, given, value, basis(Scope::Mechanism, error)))
}

/// The lower bound, for deterministic batches only.
fn lower(training: &Training, given: Given) -> AccountingResult {
    let (value, error) = match given {
        Given::Delta(delta) => {
            let epsilon = nearest_epsilon(training, delta)?;
            let error = 1e-12 * (epsilon + gdp_mu(training)?);
            ((epsilon - error).max(0.0), 2.0 * error)
        }
        Given::Epsilon(epsilon) => delta_below(training, epsilon)?,
    };
    Ok(Accounted::new(Kind::Lower, given, value, basis(Scope::Pair, error)))
}

/// The bracket of ε or δ, in either direction.
pub(super) fn bracket(training: &Training, given: Given) -> Result<Bracket, AccountingError> {
    let upper = upper(training, given)?.value(given);
    let lower = match given {
        Given::Delta(delta) => gdp_epsilon_below(gdp_mu_below(training)?, delta).0,
        Given::Epsilon(epsilon) => delta_below(training, epsilon)?.0,
    };
    Ok(Bracket { lower, upper })
}

/// ε rounded up, and the margin.
fn epsilon_above(training: &Training, delta: f64) -> Result<(f64, f64), AccountingError> {
    lift(nearest_epsilon(training, delta)?, gdp_mu_above(training)?, delta)
}

/// ε of μ-GDP at δ, rounded up.
pub(super) fn gdp_epsilon_above(gdp_mu: f64, delta: f64) -> Result<f64, AccountingError> {
    check_delta(delta)?;
    let nearest = gdp::gdp_epsilon(gdp_mu, delta)
        .map_err(|_| argument("delta", delta, "strictly between 0 and 1"))?;
    Ok(lift(nearest, gdp_mu, delta)?.0)
}

/// ε rounded up from the nearest one, for the largest μ, and the margin.
fn lift(nearest: f64, gdp_mu: f64, delta: f64) -> Result<(f64, f64), AccountingError> {
    let mut change = 1e-13 * (nearest + gdp_mu);
    // The root alone rounds to nearest: δ is checked to be low enough.
    while delta_above(gdp_mu, nearest + change)?.0 > delta && change < 1.0 + nearest {
        change *= 4.0;
    }
    Ok((nearest + change, change))
}

/// δ rounded down, and its error.
fn delta_below(training: &Training, epsilon: f64) -> Result<(f64, f64), AccountingError> {
    check_epsilon(epsilon)?;
    let gdp_mu = gdp_mu_below(training)?;
    let delta = gdp_delta_below(gdp_mu, epsilon);
    Ok((delta, 2.0 * relative_error(gdp_mu, epsilon) * delta))
}

/// μ, rounded down.
fn gdp_mu_below(training: &Training) -> Result<f64, AccountingError> {
    Ok(gdp_mu(training)? * (1.0 - 4.0 * f64::EPSILON))
}

/// μ, rounded up.
fn gdp_mu_above(training: &Training) -> Result<f64, AccountingError> {
    Ok(gdp_mu(training)? * (1.0 + 4.0 * f64::EPSILON))
}

/// ε, rounded to nearest.
fn nearest_epsilon(training: &Training, delta: f64) -> Result<f64, AccountingError> {
    check_delta(delta)?;
    gdp::gdp_epsilon(gdp_mu(training)?, delta)
        .map_err(|_| argument("delta", delta, "strictly between 0 and 1"))
}

/// δ of μ-GDP above by twice the error that [`gdp::gdp_delta`] states, and that error.
pub(super) fn delta_above(gdp_mu: f64, epsilon: f64) -> Result<(f64, f64), AccountingError> {
    let relative = relative_error(gdp_mu, epsilon);
    let delta = if relative < 0.1 {
        gdp_delta(gdp_mu, epsilon)? * (1.0 + relative)
    } else {
        // In the far tail the rounding of A dominates: the δ of a slightly smaller A.
        gdp_delta(gdp_mu, epsilon * (1.0 - 1e-12))?
    };
    let delta = delta.clamp(f64::MIN_POSITIVE, 1.0);
    Ok((delta, relative * delta))
}

fn gdp_delta(gdp_mu: f64, epsilon: f64) -> Result<f64, AccountingError> {
    let delta = gdp::gdp_delta(gdp_mu, epsilon);
    delta.map_err(|_| argument("epsilon", epsilon, "at most 1e200"))
}

fn basis(scope: Scope, numeric_error: f64) -> Basis {
    Basis { scope, directions: Directions::Both, method: Method::Analytic, numeric_error }
}
