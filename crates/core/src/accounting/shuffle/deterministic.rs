//! Deterministic batching, which dominates every way to shuffle: the Gaussian mechanism at σ/√E.

use super::run::{ShuffleRun, check_delta, check_epsilon};
use crate::accounting::AccountingError;
use crate::accounting::result::{Account, DeltaUpperBound, Directions, EpsilonUpperBound, Method};
use crate::bound::Scope;
use crate::gdp;

/// μ, rounded up.
fn gdp_mu(run: &ShuffleRun) -> f64 {
    (run.epochs as f64).sqrt() / run.noise_multiplier * (1.0 + 4.0 * f64::EPSILON)
}

pub(super) fn epsilon(run: &ShuffleRun, delta: f64) -> Result<EpsilonUpperBound, AccountingError> {
    check_delta(delta)?;
    let gdp_mu = gdp_mu(run);
    let nearest = gdp::gdp_epsilon(gdp_mu, delta).unwrap_or(f64::INFINITY);
    let mut change = 1e-13 * (nearest + gdp_mu);
    // δ is checked to be low enough: the root alone rounds to nearest
    while delta_above(gdp_mu, nearest + change) > delta && change < 1.0 + nearest {
        change *= 4.0;
    }
    Ok(EpsilonUpperBound::new(nearest + change, delta, account(change)))
}

pub(super) fn delta(run: &ShuffleRun, epsilon: f64) -> Result<DeltaUpperBound, AccountingError> {
    check_epsilon(epsilon)?;
    let value = delta_above(gdp_mu(run), epsilon).min(1.0);
    Ok(DeltaUpperBound::new(value, epsilon, account(1e-12 * value)))
}

/// δ of μ-GDP, by twice the error that [`gdp::gdp_delta`] states above.
fn delta_above(gdp_mu: f64, epsilon: f64) -> f64 {
    let (a, b) = (epsilon / gdp_mu - 0.5 * gdp_mu, epsilon / gdp_mu + 0.5 * gdp_mu);
    let error = 2e-13 + 2e-15 * (1.0 + a.abs()) * (a.abs() + b);
    gdp::gdp_delta(gdp_mu, epsilon).unwrap_or(1.0) * (1.0 + error)
}

fn account(numeric_error: f64) -> Account {
    Account {
        scope: Scope::Mechanism,
        directions: Directions::Both,
        method: Method::Analytic,
        numeric_error,
    }
}
