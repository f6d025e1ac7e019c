//! One epoch: lower bounds from the sets {max_t x_t > C}.

use super::TargetSlots;
use super::maximum::Maximum;
use super::run::check_given;
use crate::accounting::answer::Basis;
use crate::accounting::{Accounted, AccountingResult, Given, Kind, Method};
use crate::adjacency::{Directions, Scope};
use crate::math;
use crate::special::normal::quantile_from_ln;

/// A threshold C and the bound that it proves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BestCut {
    pub(crate) cut: f64,
    /// ε or ln δ, rounded down.
    pub(crate) value: f64,
    pub(crate) error: f64,
}

/// ε or δ from one epoch's largest output.
///
/// max_C ln((p(C) − δ)/q(C)), max_C p(C) − e^ε q(C), with the masses of [`TargetSlots::lower`].
pub(super) fn lower(run: &TargetSlots, given: Given) -> AccountingResult {
    check_given(given)?;
    let (value, numeric_error) = match given {
        Given::Delta(delta) => {
            let best = best_epsilon_cut(run, delta);
            (best.value.max(0.0), best.error)
        }
        Given::Epsilon(epsilon) => {
            let best = best_delta_cut(run, epsilon);
            // that of ln δ, which is larger than that of δ
            (math::exp(best.value), best.error)
        }
    };
    let (scope, directions) = (Scope::Pair, Directions::Remove);
    let basis = Basis { scope, directions, method: Method::MaxSlice, numeric_error };
    Ok(Accounted::new(Kind::Lower, given, value, basis))
}

/// The threshold whose set proves the largest ε at δ.
pub(crate) fn best_epsilon_cut(run: &TargetSlots, delta: f64) -> BestCut {
    let distribution = Maximum::new(*run);
    let s = run.noise_multiplier;
    let ln_delta = math::ln(delta);
    let upper_quantile = |ln_tail: f64| -quantile_from_ln(ln_tail);
    let half = math::ln(0.5);
    let others = math::ln(run.slots as f64);
    // no threshold below g − ½ is best, and mass(C, g) ≤ δ past the larger of these
    let start = distribution.with - 0.5;
    let end = (distribution.with + s * upper_quantile(ln_delta + half))
        .max(s * upper_quantile(ln_delta + half - others));
    refine(start, end.max(start + s), |cut| epsilon_of_cut(&distribution, cut, ln_delta))
}

/// ε that the set {max_t x_t > C} proves, rounded down.
pub(crate) fn epsilon_of_cut(distribution: &Maximum, cut: f64, ln_delta: f64) -> BestCut {
    let (with, without) = (
        distribution.ln_above(cut, distribution.with),
        distribution.ln_above(cut, distribution.without),
    );
    let left = -math::exp_m1(ln_delta - with.value);
    if !(left > 0.0) {
        return BestCut { cut, value: f64::NEG_INFINITY, error: 0.0 };
    }
    let value = with.value + math::ln(left) - without.value;
    let rounding = 4.0 * f64::EPSILON * (1.0 + with.value.abs() + without.value.abs());
    let error = without.error + (with.error + rounding) / left + rounding;
    BestCut { cut, value: value - error, error }
}

/// The threshold whose set proves the largest δ at ε.
pub(crate) fn best_delta_cut(run: &TargetSlots, epsilon: f64) -> BestCut {
    let distribution = Maximum::new(*run);
    let variance = run.noise_multiplier * run.noise_multiplier;
    // the density ratio is at most e^{(C−g+½)/σ²}; it follows the target past C = σ² ln(T/w)
    let start = distribution.with - 0.5 + epsilon * variance;
    let others = math::ln(run.slots as f64 / run.presence);
    let end = start + variance * others + 10.0 * run.noise_multiplier;
    refine(start, end + 1.0, |cut| ln_delta_of_cut(&distribution, cut, epsilon))
}

/// ln δ that the set {max_t x_t > C} proves, rounded down.
pub(crate) fn ln_delta_of_cut(distribution: &Maximum, cut: f64, epsilon: f64) -> BestCut {
    let (with, without) = (
        distribution.ln_above(cut, distribution.with),
        distribution.ln_above(cut, distribution.without),
    );
    let left = -math::exp_m1(epsilon + without.value - with.value);
    let rounding = 4.0 * f64::EPSILON * (1.0 + epsilon + with.value.abs() + without.value.abs());
    let error = with.error + without.error + rounding;
    if !(left > error) {
        return BestCut { cut, value: f64::NEG_INFINITY, error: 0.0 };
    }
    let total = with.error + 2.0 * error / left + rounding;
    BestCut { cut, value: with.value + math::ln(left) - total, error: total }
}

/// The largest value on a grid that is narrowed around its best point. Every threshold proves its
/// value, so missing the maximum only costs tightness.
fn refine(start: f64, end: f64, value_at: impl Fn(f64) -> BestCut) -> BestCut {
    let (mut low, mut high, mut points) = (start, end, 192_u32);
    let mut best = value_at(start);
    for _ in 0..6 {
        let step = (high - low) / f64::from(points);
        for index in 0..=points {
            let seen = value_at(low + step * f64::from(index));
            if seen.value > best.value {
                best = seen;
            }
        }
        (low, high, points) = ((best.cut - step).max(start), best.cut + step, 16);
    }
    best
}
