//! A confidence region of both error rates at once.

use super::rates::{ExpectedRates, log_ratio};
use super::{BoundError, epsilon_from_rates};
use crate::adjacency::Direction;
use crate::audit::trade_off::{ErrorCounts, Trials};
use crate::interval::clopper_pearson_upper;
use crate::special::normal_cdf;

/// Steps of the staircase, and their reach to both sides in standard errors.
const STEPS: usize = 32;
const REACH: f64 = 3.0;

/// Tails (a, b) of pairs of upper limits: the rates exceed both limits of no pair with probability at
/// least 1 − significance.
///
/// p₁ = P[Bin(n′, FPR) ≤ FP] and p₂ = P[Bin(n, FNR) ≤ FN] at the true rates are independent, and
/// P[pᵢ ≤ t] ≤ t. A pair of rates is rejected where (p₁, p₂) lies below a staircase whose area is the
/// significance. Its corners lie on the line w₁z₁ + w₂z₂ = c of the normal scores z = Φ⁻¹(1 − p); the
/// weights are those of the predicted standard errors of ln((1 − FNR − δ)/FPR), so that ε changes
/// little along it.
pub(super) struct JointRegion {
    direction: Direction,
    delta: f64,
    /// Tails of the limits: of the rate below the fraction line, and of the other.
    tails: Vec<(f64, f64)>,
}

impl JointRegion {
    pub(super) fn new(
        expected: ExpectedRates,
        trials: Trials,
        delta: f64,
        significance: f64,
    ) -> Self {
        let ExpectedRates { fpr, fnr } = expected;
        let direction = epsilon_from_rates(fpr, fnr, delta).direction;
        let deviation = |rate: f64, trials: u64| {
            let rate = rate.clamp(1.0 / trials as f64, 1.0);
            (rate, (rate * (1.0 - rate) / trials as f64).sqrt())
        };
        let of = [deviation(fpr, trials.zero_out), deviation(fnr, trials.target)];
        let [(hit, hit_deviation), (miss, miss_deviation)] = match direction {
            Direction::Remove => of,
            Direction::Add => [of[1], of[0]],
        };
        let factor = ((1.0 - miss - delta) / hit).max(1.0);
        let (a, b) = (factor * hit_deviation, miss_deviation);
        let length = (a * a + b * b).sqrt();
        let weights = if length > 0.0 { [a / length, b / length] } else { [1.0, 0.0] };
        JointRegion { direction, delta, tails: staircase(weights, significance) }
    }

    pub(super) fn direction(&self) -> Direction {
        self.direction
    }

    /// The smallest ε of a pair of rates in the region.
    pub(super) fn epsilon(&self, errors: ErrorCounts, trials: Trials) -> Result<f64, BoundError> {
        let of =
            [(errors.false_positives, trials.zero_out), (errors.false_negatives, trials.target)];
        let [hit, miss] = match self.direction {
            Direction::Remove => of,
            Direction::Add => [of[1], of[0]],
        };
        let mut least = f64::INFINITY;
        for &(hit_tail, miss_tail) in &self.tails {
            let hit_limit = clopper_pearson_upper(hit.0, hit.1, hit_tail)?;
            let miss_limit = clopper_pearson_upper(miss.0, miss.1, miss_tail)?;
            least = least.min(log_ratio(miss_limit, hit_limit, self.delta));
        }
        Ok(least.max(0.0))
    }
}

/// The tails at the outer corners of the staircase whose area is at most the significance.
fn staircase(weights: [f64; 2], significance: f64) -> Vec<(f64, f64)> {
    // c is between those of the whole plane and of a rectangle at Bonferroni's tails
    let (mut low, mut high) = (-1.0, 8.0 + 1.0 / significance.sqrt().sqrt());
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if area(&corners(weights, middle)) > significance {
            low = middle;
        } else {
            high = middle;
        }
    }
    let inner = corners(weights, high);
    let last = inner.last().copied();
    inner.windows(2).map(|pair| (pair[0].0, pair[1].1)).chain(last).collect()
}

/// Rejected are p₁ ≤ a with p₂ ≤ b for each corner (a, b), p₁ ≤ the first a, and p₂ ≤ the last b.
fn corners([w1, w2]: [f64; 2], c: f64) -> Vec<(f64, f64)> {
    let at = |step: usize| {
        let along = REACH * (2.0 * step as f64 / STEPS as f64 - 1.0);
        (normal_cdf(w2 * along - w1 * c), normal_cdf(-w1 * along - w2 * c))
    };
    (0..=STEPS).map(at).collect()
}

/// Chance that two independent uniform numbers lie below the staircase.
fn area(corners: &[(f64, f64)]) -> f64 {
    let first = corners.first().map_or(0.0, |corner| corner.0);
    let (widest, lowest) = corners.last().copied().unwrap_or((0.0, 0.0));
    let steps = corners.windows(2).map(|pair| (pair[1].0 - pair[0].0) * pair[1].1);
    first + steps.sum::<f64>() + (1.0 - widest) * lowest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_staircase_has_the_area_of_the_significance() {
        for weights in [[1.0, 0.0], [0.8, 0.6], [0.999, 0.0447], [0.0447, 0.999]] {
            for significance in [1e-9, 0.01, 0.05, 0.4] {
                let tails = staircase(weights, significance);
                assert_eq!(tails.len(), STEPS + 1);
                // a regular grid of (p₁, p₂): below no outer corner means rejected
                let n = 500;
                let at = |i: i32| (f64::from(i) + 0.5) / f64::from(n);
                let is_kept = |p1: f64, p2: f64| tails.iter().any(|&(a, b)| p1 > a && p2 > b);
                let rejected = (0..n)
                    .flat_map(|i| (0..n).map(move |j| (i, j)))
                    .filter(|&(i, j)| !is_kept(at(i), at(j)))
                    .count();
                let area = rejected as f64 / f64::from(n * n);
                assert!((area - significance).abs() < 0.004, "{weights:?} {significance}: {area}");
            }
        }
    }

    #[test]
    fn both_directions_are_mirrored() {
        let rates = ExpectedRates { fpr: 0.01, fnr: 0.6 };
        let trials = Trials { target: 400, zero_out: 900 };
        let errors = ErrorCounts { false_positives: 7, false_negatives: 250 };
        let of = |rates, trials, errors| {
            let region = JointRegion::new(rates, trials, 1e-5, 0.05);
            (region.direction(), region.epsilon(errors, trials).unwrap())
        };
        let remove = of(rates, trials, errors);
        let add = of(
            ExpectedRates { fpr: rates.fnr, fnr: rates.fpr },
            Trials { target: 900, zero_out: 400 },
            ErrorCounts { false_positives: 250, false_negatives: 7 },
        );
        assert_eq!((remove.0, add.0), (Direction::Remove, Direction::Add));
        assert_eq!(remove.1, add.1);
        let separate = clopper_pearson_upper(7, 900, 0.025).unwrap();
        let other = clopper_pearson_upper(250, 400, 0.025).unwrap();
        assert!(remove.1 > epsilon_from_rates(separate, other, 1e-5).epsilon + 0.1);
    }
}
