//! Lower bounds from the sum of every epoch's outputs, which is Gaussian in both worlds.

use super::run::check_given;
use crate::accounting::answer::Basis;
use crate::accounting::error::argument;
use crate::accounting::{Accounted, AccountingResult, Given, Kind, Method, Query, Training};
use crate::adjacency::{Directions, Scope};
use crate::gdp;

/// Relative margin for the rounding of μ.
const MARGIN: f64 = 4.0 * f64::EPSILON;

/// μ of the sums, rounded down: √(E/T)/σ.
pub(crate) fn gdp_mu(run: &Training) -> f64 {
    let epochs_per_step = run.epochs as f64 / run.steps_per_epoch as f64;
    epochs_per_step.sqrt() / run.noise_multiplier * (1.0 - MARGIN)
}

/// What the sum of each epoch's outputs leaks if the target moves it by `shift`.
///
/// The sums are post-processing of all outputs. A sum of T outputs has noise of variance Tσ², wherever
/// the target is: an epoch is N(shift, Tσ²) against N(0, Tσ²), and E epochs are μ-GDP with μ =
/// shift·√(E/T)/σ, in both directions.
pub(crate) fn lower(run: &Training, shift: f64, given: Given) -> AccountingResult {
    check_given(given)?;
    let gdp_mu = shift * gdp_mu(run);
    let (value, numeric_error) = match given {
        Given::Delta(delta) => gdp_epsilon_below(gdp_mu, delta),
        Given::Epsilon(epsilon) => {
            let value = gdp_delta_below(gdp_mu, epsilon);
            (value, 2.0 * value * relative_error(gdp_mu, epsilon))
        }
    };
    let (scope, directions) = (Scope::Pair, Directions::Both);
    let basis = Basis { scope, directions, method: Method::Sum, numeric_error };
    Ok(Accounted::new(Kind::Lower, given, value, basis))
}

/// Applies [`lower`] to the mechanism with these outputs.
pub(crate) fn lower_of_mechanism(query: &Query, shift: f64) -> AccountingResult {
    let Training { noise_multiplier, steps_per_epoch, epochs, .. } = query.training;
    if !(noise_multiplier > 0.0) {
        return Err(argument("noise_multiplier", noise_multiplier, "above 0"));
    }
    for (name, count) in [("steps_per_epoch", steps_per_epoch), ("epochs", epochs)] {
        if count == 0 {
            return Err(argument(name, 0.0, "at least 1"));
        }
    }
    let found = lower(&query.training, shift, query.given)?;
    Ok(Accounted { scope: Scope::Mechanism, direction: query.directions, ..found })
}

/// The error that [`gdp::gdp_delta`] states, twice.
pub(crate) fn relative_error(gdp_mu: f64, epsilon: f64) -> f64 {
    let (a, b) = (epsilon / gdp_mu - 0.5 * gdp_mu, epsilon / gdp_mu + 0.5 * gdp_mu);
    2e-13 + 2e-15 * (1.0 + a.abs()) * (a.abs() + b)
}

/// δ of μ-GDP at ε, rounded down.
pub(crate) fn gdp_delta_below(gdp_mu: f64, epsilon: f64) -> f64 {
    let nearest = gdp::gdp_delta(gdp_mu, epsilon).unwrap_or(0.0);
    (nearest * (1.0 - relative_error(gdp_mu, epsilon))).max(0.0)
}

/// ε of μ-GDP at δ, rounded down, and the margin: δ(ε) ≥ δ is checked.
pub(crate) fn gdp_epsilon_below(gdp_mu: f64, delta: f64) -> (f64, f64) {
    let nearest = gdp::gdp_epsilon(gdp_mu, delta).unwrap_or(0.0);
    let mut change = 1e-13 * (nearest + gdp_mu);
    while change < nearest {
        let value = nearest - change;
        let seen = gdp::gdp_delta(gdp_mu, value).unwrap_or(0.0);
        if seen * (1.0 - relative_error(gdp_mu, value)) >= delta {
            return (value, change);
        }
        change *= 4.0;
    }
    (0.0, nearest)
}
