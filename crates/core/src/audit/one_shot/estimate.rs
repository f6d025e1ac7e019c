//! Estimates of ε: they have no coverage.

use super::{CosineNull, OneShotError, check_significance};
use crate::special::chi_square;
use crate::special::normal;
use crate::{gdp, math};

/// How ε is estimated from cosines; no estimate is a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum EpsilonEstimator {
    /// The ε of μ-GDP with μ the mean of the normal scores, at least 0.
    #[default]
    Mean,
    /// The ε between N(0, 1/d) and a Gaussian with the mean and the population standard deviation of
    /// the cosines.
    ///
    /// The spread of cosines does not depend on the noise of the training, so fitting it adds an
    /// upward bias and error: without any leak, 1,000 canaries read as ε = 0.07 to 0.96 at δ = 10⁻⁶.
    TwoGaussians,
}

impl EpsilonEstimator {
    /// The estimate at δ.
    ///
    /// # Errors
    /// [`OneShotError::EstimateDelta`], [`OneShotError::Cosine`], [`OneShotError::TooFew`] for fewer
    /// than two cosines.
    ///
    /// # Reference
    /// G. Andrew et al. (2024), arXiv:2302.03098, algorithm 1, for two Gaussians.
    pub fn epsilon(
        self,
        null: &CosineNull,
        cosines: &[f64],
        delta: f64,
    ) -> Result<f64, OneShotError> {
        if cosines.len() < 2 {
            return Err(OneShotError::TooFew { observations: cosines.len() });
        }
        let count = cosines.len() as f64;
        if self == Self::Mean {
            let mut sum = 0.0;
            for (index, &cosine) in cosines.iter().enumerate() {
                let score = null.normal_score(cosine);
                sum += score.map_err(|_| OneShotError::Cosine { index, cosine })?;
            }
            return mean_epsilon(sum / count, delta);
        }
        null.tails(cosines)?; // the same domain for both
        let scale = (null.dimension() as f64).sqrt();
        let mean = cosines.iter().sum::<f64>() / count;
        let square = |cosine: &f64| (cosine - mean) * (cosine - mean);
        let variance = cosines.iter().map(square).sum::<f64>() / count;
        TwoGaussians { mean: scale * mean, sd: scale * variance.sqrt() }.epsilon_at(delta)
    }

    /// The interval in which the estimate lies with probability `1 − significance` if nothing leaks,
    /// half of the rest on each side.
    ///
    /// Without a leak the normal scores of k canaries are independent draws of N(0, 1). The mean has
    /// exact limits; the two moments of the other estimator are taken on a grid of 64 × 64 quantiles.
    ///
    /// # Errors
    /// [`OneShotError::TooFew`], [`OneShotError::EstimateDelta`], [`OneShotError::Significance`].
    pub fn null_range(
        self,
        canaries: u64,
        delta: f64,
        significance: f64,
    ) -> Result<[f64; 2], OneShotError> {
        check_significance(significance)?;
        if canaries < 2 {
            return Err(OneShotError::TooFew { observations: canaries as usize });
        }
        let (root, tail) = ((canaries as f64).sqrt(), 0.5 * significance);
        if self == Self::Mean {
            let end = -normal::quantile(tail) / root;
            return Ok([mean_epsilon(-end, delta)?, mean_epsilon(end, delta)?]);
        }
        let places = (0..GRID).map(|index| (f64::from(index) + 0.5) / f64::from(GRID));
        // k times the sample variance is χ² with k − 1 degrees of freedom
        let sds: Vec<f64> = places
            .clone()
            .map(|place| chi_square::quantile((canaries - 1) as f64, place).sqrt() / root)
            .collect();
        let mut estimates = Vec::with_capacity(sds.len() * sds.len());
        for place in places {
            let mean = normal::quantile(place) / root;
            for &sd in &sds {
                estimates.push(TwoGaussians { mean, sd }.epsilon_at(delta)?);
            }
        }
        estimates.sort_unstable_by(f64::total_cmp);
        let last = estimates.len() - 1;
        let at = |share: f64| estimates[((share * estimates.len() as f64) as usize).min(last)];
        Ok([at(tail), at(1.0 - tail)])
    }
}

const GRID: u32 = 64;

fn mean_epsilon(mean: f64, delta: f64) -> Result<f64, OneShotError> {
    gdp::gdp_epsilon(mean.max(0.0), delta).map_err(|_| OneShotError::EstimateDelta { delta })
}

/// The pair N(0, 1) and N(mean, sd²): cosines times √d.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoGaussians {
    /// Mean of the cosines of seen canaries, times √d.
    pub mean: f64,
    /// Their population standard deviation, times √d.
    pub sd: f64,
}

impl TwoGaussians {
    /// The ε of the pair at δ, the larger of both orders; 0 where δ(0) ≤ δ.
    ///
    /// δ(ε) = P(S) − e^ε Q(S), S the set where the density of P is more than e^ε times that of Q
    ///
    /// # Errors
    /// [`OneShotError::EstimateDelta`] if δ lies outside (0, 1), [`OneShotError::Fit`] if the mean is not
    /// finite or the standard deviation not positive and finite.
    ///
    /// # Numerics
    /// Relative error about 1e-9 (`tests/oracles/golden.rs::federated_agrees`): S ends at the roots of
    /// a quadratic, whose tails are evaluated in logarithms.
    pub fn epsilon_at(&self, delta: f64) -> Result<f64, OneShotError> {
        let Self { mean, sd } = *self;
        if !(delta > 0.0 && delta < 1.0) {
            return Err(OneShotError::EstimateDelta { delta });
        }
        if !(mean.is_finite() && sd > 0.0 && sd < f64::INFINITY) {
            return Err(OneShotError::Fit { mean, sd });
        }
        let (unseen, seen) = ((0.0, 1.0), (mean, sd));
        let ln_delta = math::ln(delta);
        Ok(epsilon_of(seen, unseen, ln_delta).max(epsilon_of(unseen, seen, ln_delta)))
    }
}

/// Mean and standard deviation.
type Gaussian = (f64, f64);

/// The root of ln δ(ε) = `ln_delta` by Newton's method inside a bracket; dδ/dε = −e^ε Q(S).
fn epsilon_of(p: Gaussian, q: Gaussian, ln_delta: f64) -> f64 {
    let excess = |epsilon: f64| {
        let (ln_p, ln_q) = ln_masses(p, q, epsilon);
        let ln_grown = ln_q + epsilon;
        if !(ln_p > ln_grown) {
            return (f64::NEG_INFINITY, 0.0);
        }
        let share = math::exp(ln_grown - ln_p);
        let ln_difference = ln_p + math::ln_1p(-share);
        (ln_difference - ln_delta, -math::exp(ln_grown - ln_difference))
    };
    if excess(0.0).0 <= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while excess(high).0 > 0.0 && high < 1e12 {
        (low, high) = (high, 2.0 * high);
    }
    let mut epsilon = 0.5 * (low + high);
    for _ in 0..200 {
        let (value, slope) = excess(epsilon);
        if value > 0.0 {
            low = epsilon;
        } else {
            high = epsilon;
        }
        let newton = epsilon - value / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        let step = (next - epsilon).abs();
        epsilon = next;
        if step <= 1e-14 * epsilon || high - low <= 1e-14 * high {
            break;
        }
    }
    epsilon
}

/// ln P(S) and ln Q(S) for S = {ax² + bx + c > 0}, the log-ratio of the densities less ε.
fn ln_masses(p: Gaussian, q: Gaussian, epsilon: f64) -> (f64, f64) {
    let ((mp, sp), (mq, sq)) = (p, q);
    let (precision_p, precision_q) = (1.0 / (sp * sp), 1.0 / (sq * sq));
    let a = 0.5 * (precision_q - precision_p);
    let b = mp * precision_p - mq * precision_q;
    let c = 0.5 * (mq * mq * precision_q - mp * mp * precision_p) + math::ln(sq / sp) - epsilon;
    let above = |(mean, sd): Gaussian, x: f64| normal::normal_ln_cdf((mean - x) / sd);
    let below = |(mean, sd): Gaussian, x: f64| normal::normal_ln_cdf((x - mean) / sd);
    let none = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    if a == 0.0 {
        return match b {
            0.0 => none,
            _ if b > 0.0 => (above(p, -c / b), above(q, -c / b)),
            _ => (below(p, -c / b), below(q, -c / b)),
        };
    }
    let discriminant = b * b - 4.0 * a * c;
    if discriminant <= 0.0 {
        return if a > 0.0 { (0.0, 0.0) } else { none };
    }
    // without cancellation where a is small
    let larger = -0.5 * (b + if b < 0.0 { -1.0 } else { 1.0 } * discriminant.sqrt());
    let (first, second) = (larger / a, c / larger);
    let (low, high) = (first.min(second), first.max(second));
    let mass = |gaussian: Gaussian| {
        if a > 0.0 {
            return ln_sum(below(gaussian, low), above(gaussian, high));
        }
        // between the roots: the difference of the smaller tails
        if gaussian.0 > 0.5 * (low + high) {
            ln_difference(below(gaussian, high), below(gaussian, low))
        } else {
            ln_difference(above(gaussian, low), above(gaussian, high))
        }
    };
    (mass(p), mass(q))
}

fn ln_sum(x: f64, y: f64) -> f64 {
    let (low, high) = (x.min(y), x.max(y));
    if low == f64::NEG_INFINITY { high } else { high + math::ln_1p(math::exp(low - high)) }
}

/// ln(e^x − e^y).
fn ln_difference(x: f64, y: f64) -> f64 {
    if y == f64::NEG_INFINITY {
        x
    } else if x > y {
        x + math::ln(-math::exp_m1(y - x))
    } else {
        f64::NEG_INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_widths_are_gaussian_dp() {
        for mean in [0.1, 1.0, 6.0] {
            let pair = TwoGaussians { mean, sd: 1.0 }.epsilon_at(1e-6).unwrap();
            let exact = gdp::gdp_epsilon(mean, 1e-6).unwrap();
            assert!((pair / exact - 1.0).abs() < 1e-10, "{mean}: {pair} {exact}");
            let close = TwoGaussians { mean, sd: 1.0 + 1e-12 }.epsilon_at(1e-6).unwrap();
            assert!((close / exact - 1.0).abs() < 1e-9, "{mean}: {close} {exact}");
        }
        assert_eq!(TwoGaussians { mean: 0.0, sd: 1.0 }.epsilon_at(1e-6).unwrap(), 0.0);
    }

    #[test]
    fn extreme_fits_are_finite() {
        for (mean, sd) in [(1e6, 1.0), (0.0, 1e6), (0.0, 1e-6), (-50.0, 0.3), (1e-12, 1.0 - 1e-15)]
        {
            let epsilon = TwoGaussians { mean, sd }.epsilon_at(1e-9).unwrap();
            assert!(epsilon.is_finite() && epsilon >= 0.0, "{mean} {sd}: {epsilon}");
        }
    }

    #[test]
    fn ranges_without_a_leak_match_simulated_ones() {
        // 300 simulated runs: 0.066 … 0.961 and 0 … 0.199
        let [low, high] = EpsilonEstimator::TwoGaussians.null_range(1_000, 1e-6, 0.1).unwrap();
        assert!((low - 0.066).abs() < 0.03 && (high - 0.961).abs() < 0.08, "{low} {high}");
        let [low, high] = EpsilonEstimator::Mean.null_range(1_000, 1e-6, 0.1).unwrap();
        assert!(low == 0.0 && (high - 0.199).abs() < 0.02, "{low} {high}");
    }

    #[test]
    fn bad_arguments_are_refused() {
        let null = CosineNull::new(100).unwrap();
        for estimator in [EpsilonEstimator::Mean, EpsilonEstimator::TwoGaussians] {
            assert!(estimator.epsilon(&null, &[0.1], 1e-6).is_err());
            let refused = estimator.epsilon(&null, &[0.1, 3.0], 1e-6).unwrap_err().to_string();
            assert!(refused.starts_with("cosine 1 = "), "{refused}");
            for bad in [0.0, 1.0, f64::NAN] {
                assert!(estimator.epsilon(&null, &[0.1, 0.2], bad).is_err());
                assert!(estimator.null_range(10, bad, 0.1).is_err());
                assert!(estimator.null_range(10, 1e-6, bad).is_err());
            }
            assert!(estimator.null_range(1, 1e-6, 0.1).is_err());
        }
        assert!(TwoGaussians { mean: 0.0, sd: 0.0 }.epsilon_at(1e-6).is_err());
    }
}
