//! Quantiles of the beta distribution.

use std::f64::consts::LN_2;

use super::beta::{BetaDistribution, Tail};
use super::{SpecialError, UnitPoint, normal};
use crate::math;

impl BetaDistribution {
    /// The x with P[X ≤ x] = `probability`.
    ///
    /// # Errors
    /// [`SpecialError::Probability`] outside (0, 1).
    pub fn quantile(&self, probability: f64) -> Result<UnitPoint, SpecialError> {
        self.quantile_of(Tail::Lower, probability)
    }

    /// The x with P[X ≥ x] = `probability`.
    ///
    /// # Errors
    /// [`SpecialError::Probability`] outside (0, 1).
    pub fn upper_quantile(&self, probability: f64) -> Result<UnitPoint, SpecialError> {
        self.quantile_of(Tail::Upper, probability)
    }

    fn quantile_of(&self, tail: Tail, probability: f64) -> Result<UnitPoint, SpecialError> {
        if !(probability > 0.0 && probability < 1.0) {
            return Err(SpecialError::Probability { name: "probability", value: probability });
        }
        Ok(self.quantile_at(tail, probability))
    }

    /// The quantile where the probability is known to lie in (0, 1).
    pub(crate) fn quantile_at(&self, tail: Tail, probability: f64) -> UnitPoint {
        let z = normal::quantile(probability);
        solve(self, tail, probability, start(self, tail, probability, z))
    }
}

/// The x with P\[X ≤ x\] = `probability`, for distributions whose shapes change by little from one to
/// the next.
///
/// The error of the first guess of one corrects the first guess of the next, so that one evaluation
/// is usual.
pub(crate) fn lower_quantiles(
    shapes: impl Iterator<Item = (f64, f64)>,
    probability: f64,
) -> Vec<f64> {
    let z = normal::quantile(probability);
    let mut error = 0.0;
    let quantiles = shapes.map(|(a, b)| {
        let distribution = BetaDistribution::with_shapes(a, b);
        let guess = start(&distribution, Tail::Lower, probability, z);
        let point = solve(&distribution, Tail::Lower, probability, guess.shifted(error));
        error = point.logit() - guess.logit();
        point.value()
    });
    quantiles.collect()
}

/// The x whose lower or upper tail is `probability` in (0, 1).
///
/// Halley's method on ln T over the logit u. The density of u is log-concave, hence so are both
/// tails, and Newton's method from the far side of the root converges for every start. A bracket in
/// u safeguards it: a step that leaves it, or does not halve its predecessor, becomes a bisection,
/// so there are at most about 100 evaluations; 3 to 5 are usual.
///
/// The equation is solved for the smaller of the two tails. Below x = 1e-304 the result is 0.
fn solve(
    distribution: &BetaDistribution,
    tail: Tail,
    probability: f64,
    start: UnitPoint,
) -> UnitPoint {
    if probability > 0.5 {
        return solve(distribution, tail.mirrored(), 1.0 - probability, start);
    }
    if distribution.a > distribution.b {
        let mirrored = distribution.mirrored();
        return solve(&mirrored, tail.mirrored(), probability, start.mirrored()).mirrored();
    }
    if probability == 0.0 {
        return if tail == Tail::Lower { UnitPoint::ZERO } else { UnitPoint::ZERO.mirrored() };
    }
    let ln_target = math::ln(probability);
    let sign = if tail == Tail::Lower { 1.0 } else { -1.0 };
    let (mut low, mut high) = (-708.0, 708.0);
    let mut point = start;
    let mut last_step = f64::INFINITY;
    for _ in 0..200 {
        let ln_tail = distribution.ln_tail(tail, point);
        let excess = ln_tail - ln_target;
        let u = point.logit();
        if excess * sign > 0.0 {
            high = u;
        } else {
            low = u;
        }
        if high < -700.0 {
            return UnitPoint::ZERO;
        }
        // ln T has slope ±m and curvature −m(m ± d)
        let slope = math::exp(distribution.ln_logit_density(point) - ln_tail);
        let drift = super::binomial::drift(distribution.a, distribution.b, point);
        let newton = -sign * excess / slope;
        let bend = 0.5 * newton * (sign * slope + drift);
        let step = newton / (1.0 - bend).clamp(0.5, 2.0);
        let rate = step.abs() * (1.0 + slope + drift.abs());
        if rate < 3e-6 {
            return point.shifted(step);
        }
        let next = u + step;
        if next > low && next < high && step.abs() < 0.5 * last_step {
            last_step = step.abs();
            point = point.shifted(step);
        } else {
            let middle = 0.5 * (low + high);
            if !(middle > low && middle < high) {
                break;
            }
            last_step = 0.5 * (high - low);
            point = UnitPoint::from_logit(middle);
        }
    }
    point
}

/// A first guess; `z` is the normal quantile of the probability.
fn start(distribution: &BetaDistribution, tail: Tail, probability: f64, z: f64) -> UnitPoint {
    if probability > 0.5 {
        return start(distribution, tail.mirrored(), 1.0 - probability, -z);
    }
    if distribution.a > distribution.b {
        return start(&distribution.mirrored(), tail.mirrored(), probability, z).mirrored();
    }
    let ln_target = math::ln(probability);
    let (a, b) = (distribution.a, distribution.b);
    if tail == Tail::Lower && a < 2.0 {
        // I_x(a, b) ≤ x^a/(a B(a, b)) for b ≥ 1
        let at_mean = UnitPoint::from_value(distribution.mean());
        let ln_beta = a * math::ln(at_mean.value()) + b * math::ln(at_mean.complement())
            - distribution.ln_logit_density(at_mean);
        let ln_x = (ln_target + math::ln(a) + ln_beta) / a;
        return UnitPoint::from_logit(ln_x.clamp(-707.0, 0.0));
    }
    if a <= 1.0 {
        // gamma limit of shape ½ or 1
        let rate = if a < 0.75 {
            0.5 * math::powi(normal::quantile_from_ln(ln_target - LN_2), 2)
        } else {
            -ln_target
        };
        let ln_y = -rate / b;
        let odds = -math::exp_m1(ln_y) / math::exp(ln_y);
        return UnitPoint::from_logit(math::ln(odds).clamp(-707.0, 707.0));
    }
    // M. Abramowitz and I. A. Stegun (1964), 26.5.22
    let upper = if tail == Tail::Upper { z } else { -z };
    let (p, q) = (1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0));
    let h = 2.0 / (p + q);
    let cubic = (upper * upper - 3.0) / 6.0;
    let w =
        upper * (h + cubic).max(0.0).sqrt() / h - (q - p) * (cubic + 5.0 / 6.0 - 2.0 / (3.0 * h));
    UnitPoint::from_logit((math::ln(a / b) - 2.0 * w).clamp(-707.0, 707.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverts_both_tails() {
        for a in [0.5, 1.0, 1.5, 2.0, 7.5, 40.0, 999.5, 1e5, 3e9] {
            for b in [0.5, 1.0, 3.0, 88.5, 2000.0, 1e7, 9e9] {
                let distribution = BetaDistribution::with_shapes(a, b);
                for p in [1e-12, 1e-6, 0.025, 0.3, 0.5, 0.7, 0.999] {
                    for tail in [Tail::Lower, Tail::Upper] {
                        let x = distribution.quantile_at(tail, p);
                        let size = x.value().min(x.complement());
                        if size < 1e-290 {
                            continue;
                        }
                        let seen = distribution.ln_tail(tail, x);
                        let slope = math::exp(distribution.ln_logit_density(x) - seen);
                        let error = (seen - math::ln(p)).abs() / slope;
                        assert!(error < 1e-13, "{a} {b} {p} {tail:?}: {error:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn tiny_probabilities_do_not_hang() {
        for p in [5e-324, 1e-300, 1e-100, 1.0 - 1.2e-16] {
            for (a, b) in [(0.5, 0.5), (0.5, 1e18), (1.0, 1e10), (1e18, 1e18), (500.0, 1e12)] {
                let distribution = BetaDistribution::with_shapes(a, b);
                for tail in [Tail::Lower, Tail::Upper] {
                    let x = distribution.quantile_at(tail, p);
                    assert!((0.0..=1.0).contains(&x.value()), "{a} {b} {p}");
                }
            }
        }
    }
}
