//! Poisson sampled batches under replacement of a record.

use super::bracket::{self, Bracket, Question, Resolution};
use super::calibration::{PrivacyTarget, SearchRange};
use super::error::{check_noise_and_rate, is_of_the_grid};
use super::fixed_size::cells::{Case, DataSets, JoinedPair, Step};
use super::known_draws::{KnownDraws, LITTLE_NOISE};
use super::poisson;
use super::proven::tightest;
use super::{
    Accountant, Accounted, AccountingError, AccountingResult, Deterministic, Given, Kind, Method,
    Parameter, Poisson, Query, Training,
};
use crate::adjacency::Directions;
use crate::math;

/// The accountant of Poisson sampled batches under replacement: each record is in each batch with the
/// same probability, and neighbours differ in one replaced record.
///
/// P = (1 − q) N(0, σ²) + q N(1, σ²), Q = (1 − q) N(0, σ²) + q N(−1, σ²), composed over all T·E steps
///
/// The pair dominates every pair of neighbours. Proof for one step: P and Q may be conditioned on the
/// other records drawn, with sum s, since H is jointly convex. They are then (1 − q) N(s, σ²I) + q N(s +
/// u, σ²I) and the same mixture with v for u, where |u|, |v| ≤ 1. With N(s, σ²I) as the reference
/// measure, H_α is E((1 − α)(1 − q) + q e^X − αq e^Y)₊, where X and Y are Gaussian with variances |u|²/σ²
/// and |v|²/σ² and covariance u·v/σ². H_α falls with the covariance, since ∂²/∂X∂Y of the integrand is at
/// most 0 (R. L. Plackett, 1954), and rises with each variance, the mean moving along. So u = −v with |u|
/// = 1 is the worst case for every α. ∎ A target and a substitute with opposed gradients, all others
/// zero, reach it: both values are those of the mechanism. The pair is its own mirror image, so both
/// directions are equal.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `noise_multiplier` | σ | [0.01, 1e4] |
/// | `sampling_rate` | q, else 1/T | [1e-9, 1] |
/// | `steps_per_epoch`, `epochs` | T, E | T·E in 1 … 10⁹ |
/// | `given` | δ | [1e-200, 1) |
/// | | or ε, nats | [0, ∞) |
///
/// # Guarantee
/// An upper value is not below the exact one, a lower value not above
/// (`tests/oracles/replacement.rs::poisson_values_bracket_quadrature`).
///
/// # Errors
/// [`AccountingError::Argument`] outside the domain; [`AccountingError::Grid`] if the error needs
/// too large a grid; [`AccountingError::NoValue`] for an estimate.
///
/// # Numerics
/// A grid is refined until the values rounded up and down are within the error. `numeric_error` is their
/// distance. The error of a query without one is the first of 1e-4, 1e-3, 1e-2 and 0.1 whose grid is not
/// too large, times ε/20 above ε of about 20. Below σ = 0.2 an upper value is at most that of known
/// draws, or n ln(1/(1 − q)) nats above that of Poisson batches. Where little noise would need too large
/// a grid, a lower value is that of a substitute with zero gradient. q = 1 is the Gaussian mechanism at
/// distance 2, in closed form.
///
/// # Reference
/// The pair is that of dp-accounting for the neighbouring relation `REPLACE_ONE`.
///
/// # Example
/// ```
/// use dpscope_core::accounting::{Accountant, Given, PoissonReplace, Query, Training};
/// let training =
///     Training { noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1, sampling_rate: None };
/// let bound = PoissonReplace.account(&Query::upper(training, Given::Delta(1e-5)))?;
/// assert_eq!(format!("{:.3}", bound.epsilon), "0.895");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoissonReplace;

impl Accountant for PoissonReplace {
    fn account(&self, query: &Query) -> AccountingResult {
        let training = query.training;
        let (noise_multiplier, rate) = (training.noise_multiplier, training.sampling_rate());
        check_noise_and_rate(noise_multiplier, rate)?;
        if rate == 1.0 {
            let all =
                Training { steps_per_epoch: 1, epochs: training.steps(), ..training.doubled() };
            return Deterministic.account(&Query { training: all, ..*query });
        }
        let errors = poisson::errors(&training.doubled(), query.given)?;
        let method = Method::PrivacyLossDistribution;
        let found = bracket::answer(query, &errors, method, &|error| bracket(query, error));
        if query.kind == Kind::Lower && found.as_ref().is_err_and(is_of_the_grid) {
            // a substitute with zero gradient leaks at most as much
            return tightest(query, [found, Poisson.account(query)]);
        }
        let found = KnownDraws::new(&training, rate, 2.0).or_tighter(query, found);
        if query.kind == Kind::Upper && noise_multiplier < LITTLE_NOISE {
            return tightest(query, [found, without_substitute(query)]);
        }
        found
    }

    fn search_range(
        &self,
        parameter: Parameter,
        target: &PrivacyTarget,
        training: &Training,
    ) -> Result<Option<SearchRange>, AccountingError> {
        let range = Poisson.search_range(parameter, target, training)?;
        Ok(range.map(|range| match parameter {
            Parameter::Noise => SearchRange { start: 0.5 * range.start, ..range },
            Parameter::Steps | Parameter::Epochs => range,
        }))
    }
}

fn bracket(query: &Query, error: f64) -> Result<Bracket, AccountingError> {
    let Query { training, given, directions, .. } = *query;
    let question = Question { compositions: training.steps(), given, directions, error };
    question.check()?;
    let (pair, start) = one_step(&training, &question);
    question.answer(&pair, start)
}

/// An upper value for little noise, where the substitute hardly hides the target.
///
/// Q is at least (1 − q) N(0, σ²), so that H_α(P‖Q) ≤ H_{α(1 − q)}(P‖N(0, σ²)), and in n steps, δ(ε) is
/// at most that of Poisson batches, P against N(0, σ²), at ε − n ln(1/(1 − q)).
fn without_substitute(query: &Query) -> AccountingResult {
    let training = query.training;
    let more = -math::ln_1p(-training.sampling_rate()) * training.steps() as f64 * (1.0 + 1e-12);
    let of_removal = Query { directions: Directions::Remove, ..*query };
    match query.given {
        Given::Delta(_) => {
            let found = Poisson.account(&of_removal)?;
            let epsilon = (found.epsilon + more) * (1.0 + f64::EPSILON);
            Ok(Accounted { epsilon, direction: query.directions, ..found })
        }
        Given::Epsilon(epsilon) => {
            let less = (epsilon - more) * (1.0 - f64::EPSILON);
            if !(less >= 0.0) {
                return Err(query.refused());
            }
            let found = Poisson.account(&Query { given: Given::Epsilon(less), ..of_removal })?;
            Ok(Accounted { epsilon, direction: query.directions, ..found })
        }
    }
}

/// The pair of one step, and a grid for about the error of the question.
pub(super) fn one_step(training: &Training, question: &Question) -> (JoinedPair, Resolution) {
    let (noise_multiplier, sampling_rate) = (training.noise_multiplier, training.sampling_rate());
    let (cut, start) = question.start(0.5 * noise_multiplier, sampling_rate);
    let step = Step { noise_multiplier, sampling_rate, cut };
    let case = Case { weight: 1.0, step, data: DataSets::Replaced };
    (JoinedPair { above: vec![case], below: vec![case] }, start)
}
