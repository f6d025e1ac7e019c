//! Credible limits on ε from the joint posterior of the two error rates.

use crate::format::given;
use crate::math;
use crate::special::quadrature::gauss_legendre_12;
use crate::special::{BetaDistribution, Tail};
use crate::special::{UnitPoint, normal};

/// An argument outside the domain of the posterior.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BayesianError {
    /// A world without observations.
    #[error("{world} = 0 observations: both worlds need at least one")]
    NoObservations {
        /// The world whose counts are both zero.
        world: &'static str,
    },
    /// More observations than the supported 10¹⁸.
    #[error("{world} has more than 1e18 observations")]
    TooManyObservations {
        /// The world whose counts are too large.
        world: &'static str,
    },
    /// δ is outside [0, 1), or NaN.
    #[error("delta = {}: must lie in [0, 1)", given(*.delta))]
    Delta {
        /// The parameter δ.
        delta: f64,
    },
    /// ε is negative, infinite or NaN.
    #[error("epsilon = {}: must be finite and at least 0", given(*.epsilon))]
    Epsilon {
        /// The parameter ε.
        epsilon: f64,
    },
    /// The posterior probability outside the interval is not in [1e-9, ½], or NaN.
    #[error("significance = {}: must lie in [1e-9, 0.5]", given(*.significance))]
    Significance {
        /// The posterior probability to leave out.
        significance: f64,
    },
}

/// Confusion matrix of an attack at one threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfusionCounts {
    /// Target world, classified as target.
    pub true_positives: u64,
    /// Target world, classified as other.
    pub false_negatives: u64,
    /// Other world, classified as target.
    pub false_positives: u64,
    /// Other world, classified as other.
    pub true_negatives: u64,
}

/// A credible statement about ε.
///
/// It describes the posterior under Jeffreys priors, not repeated runs: it is not a bound with
/// coverage and must not be reported as one. It is above 0 even for an attack that guesses.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct CredibleInterval {
    /// Lower end of ε, nats.
    pub lower: f64,
    /// Upper end of ε, nats; infinite if one-sided, or if larger than 700.
    pub upper: f64,
    /// Posterior probability outside the interval.
    pub significance: f64,
    /// The δ of the region.
    pub delta: f64,
}

/// Joint posterior of the error rates, with Jeffreys priors.
///
/// FNR ~ Beta(FN + ½, TP + ½) and FPR ~ Beta(FP + ½, TN + ½), independent.
///
/// # Numerics
/// The probability has an absolute error below 1e-9, the ends of ε below 1e-6, for counts from 0
/// to 10⁹ (`tests/oracles/bayesian.rs::accurate_values_agree`, `tests/oracles/bayesian.rs::independent_quadrature_agrees`). The
/// outer integral runs over the logit of FNR, between its quantiles and the images of the quantiles
/// of FPR under the edge of the region, so that neither distribution is narrow within a panel.
/// Rounds to nearest, not outward.
///
/// # Reference
/// S. Zanella-Béguelin et al. (2023), "Bayesian estimation of differential privacy",
/// arXiv:2206.05199, section 4. Deviation: one-dimensional quadrature in place of a nested one.
///
/// # Example
/// ```
/// use dpscope_core::audit::bayesian::{ConfusionCounts, JointBetaPosterior};
/// let counts = ConfusionCounts {
///     true_positives: 90,
///     false_negatives: 10,
///     false_positives: 10,
///     true_negatives: 90,
/// };
/// let posterior = JointBetaPosterior::new(counts, 1e-5)?;
/// let credible = posterior.credible_lower(0.05)?;
/// assert_eq!(format!("{:.6}", credible.lower), "1.912976");
/// # Ok::<(), dpscope_core::audit::bayesian::BayesianError>(())
/// ```
#[derive(Debug, Clone)]
pub struct JointBetaPosterior {
    fnr: BetaDistribution,
    fpr: BetaDistribution,
    delta: f64,
    fnr_grid: Vec<UnitPoint>,
    fpr_grid: Vec<UnitPoint>,
}

impl JointBetaPosterior {
    /// The posterior of the counts, for privacy regions at `delta`.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `counts` | outcomes at one threshold | both worlds observed, at most 1e18 times |
    /// | `delta` | δ | [0, 1) |
    ///
    /// # Errors
    /// [`BayesianError::NoObservations`], [`BayesianError::TooManyObservations`],
    /// [`BayesianError::Delta`].
    pub fn new(counts: ConfusionCounts, delta: f64) -> Result<Self, BayesianError> {
        let fnr = posterior("target world", counts.false_negatives, counts.true_positives)?;
        let fpr = posterior("other world", counts.false_positives, counts.true_negatives)?;
        if !(0.0..1.0).contains(&delta) {
            return Err(BayesianError::Delta { delta });
        }
        Ok(Self { fnr, fpr, delta, fnr_grid: grid(&fnr), fpr_grid: grid(&fpr) })
    }

    /// Posterior probability that (ε, δ)-DP permits both error rates.
    ///
    /// P(ε) = ∫ p_FNR(x) P[l(x) ≤ FPR ≤ 1 − l(1 − x)] dx, with
    /// l(x) = max(0, 1 − δ − e^ε x, e^{−ε}(1 − δ − x))
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `epsilon` | ε, nats | [0, ∞) |
    ///
    /// # Errors
    /// [`BayesianError::Epsilon`].
    pub fn probability_within(&self, epsilon: f64) -> Result<f64, BayesianError> {
        if !(0.0..f64::INFINITY).contains(&epsilon) {
            return Err(BayesianError::Epsilon { epsilon });
        }
        Ok(self.probability(epsilon))
    }

    /// The ε that is exceeded with posterior probability 1 − `significance`: P(ε) = significance.
    ///
    /// 0 if P(0) ≥ significance.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `significance` | posterior probability below the limit | [1e-9, ½] |
    ///
    /// # Errors
    /// [`BayesianError::Significance`].
    pub fn credible_lower(&self, significance: f64) -> Result<CredibleInterval, BayesianError> {
        check_significance(significance)?;
        let lower = self.epsilon_where(Target::Below(significance));
        Ok(CredibleInterval { lower, upper: f64::INFINITY, significance, delta: self.delta })
    }

    /// The interval with posterior probability `significance`/2 on either side.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `significance` | posterior probability outside, both sides together | [1e-9, ½] |
    ///
    /// # Errors
    /// [`BayesianError::Significance`].
    pub fn credible_interval(&self, significance: f64) -> Result<CredibleInterval, BayesianError> {
        check_significance(significance)?;
        let lower = self.epsilon_where(Target::Below(0.5 * significance));
        let upper = self.epsilon_where(Target::Above(0.5 * significance));
        Ok(CredibleInterval { lower, upper, significance, delta: self.delta })
    }

    fn probability(&self, epsilon: f64) -> f64 {
        let region = Region::new(epsilon, self.delta);
        let cuts = self.cuts(&region);
        let total: f64 = cuts
            .windows(2)
            .map(|cut| {
                gauss_legendre_12(cut[0], cut[1], |logit| {
                    let x = UnitPoint::from_logit(logit);
                    math::exp(self.fnr.ln_logit_density(x)) * self.slice(&region, x)
                })
            })
            .sum();
        total.clamp(0.0, 1.0)
    }

    /// P[l(x) ≤ FPR ≤ h(x)], each tail from its own side.
    fn slice(&self, region: &Region, x: UnitPoint) -> f64 {
        let (low, high) = (region.lower_edge(x), region.upper_edge(x));
        if low.value() > self.fpr.mean() {
            (self.fpr.tail(Tail::Upper, low) - self.fpr.tail(Tail::Upper, high)).max(0.0)
        } else {
            (self.fpr.tail(Tail::Lower, high) - self.fpr.tail(Tail::Lower, low)).max(0.0)
        }
    }

    /// Logits of FNR between which the integrand is smooth, in order.
    fn cuts(&self, region: &Region) -> Vec<f64> {
        let mut cuts: Vec<f64> = self.fnr_grid.iter().map(|x| x.logit()).collect();
        let (first, last) = (cuts[0], cuts[cuts.len() - 1]);
        // each edge is a decreasing curve that is its own inverse
        let images =
            self.fpr_grid.iter().flat_map(|&y| [region.lower_edge(y), region.upper_edge(y)]);
        let inside = |logit: &f64| *logit > first && *logit < last;
        cuts.extend(images.chain(region.kinks()).map(UnitPoint::logit).filter(inside));
        cuts.sort_by(f64::total_cmp);
        cuts
    }

    /// Root of P(ε) − target: bracket by doubling, then false position with halving (Illinois).
    fn epsilon_where(&self, target: Target) -> f64 {
        const LARGEST: f64 = 1024.0;
        let excess = |epsilon: f64| target.excess(self.probability(epsilon));
        let (mut low, mut f_low) = (0.0, excess(0.0));
        if f_low >= 0.0 {
            return 0.0;
        }
        let (mut high, mut f_high) = (0.5, excess(0.5));
        while f_high < 0.0 {
            if high >= LARGEST {
                return f64::INFINITY;
            }
            (low, f_low) = (high, f_high);
            high *= 2.0;
            f_high = excess(high);
        }
        let mut last_moved = 0;
        for step in 0..100 {
            let middle = 0.5 * (low + high);
            if high - low < 1e-9 * (1.0 + middle) {
                break;
            }
            let false_position = low + (high - low) * (-f_low / (f_high - f_low));
            let bisect = step % 4 == 3 || !(false_position > low && false_position < high);
            let next = if bisect { middle } else { false_position };
            let f_next = excess(next);
            if f_next == 0.0 {
                return next;
            }
            if f_next < 0.0 {
                (low, f_low) = (next, f_next);
                f_high = if last_moved < 0 { 0.5 * f_high } else { f_high };
                last_moved = -1;
            } else {
                (high, f_high) = (next, f_next);
                f_low = if last_moved > 0 { 0.5 * f_low } else { f_low };
                last_moved = 1;
            }
        }
        0.5 * (low + high)
    }
}

/// A target for the posterior probability, compared on a nearly linear scale.
#[derive(Clone, Copy)]
enum Target {
    Below(f64),
    Above(f64),
}

impl Target {
    /// Positive where the probability exceeds the target.
    fn excess(self, probability: f64) -> f64 {
        let ln = |p: f64| math::ln(p.max(1e-300));
        match self {
            Self::Below(level) => ln(probability) - ln(level),
            Self::Above(level) => ln(level) - ln((1.0 - probability).max(1e-13)),
        }
    }
}

/// The error rates that (ε, δ)-DP permits.
struct Region {
    /// Largest ratio of probabilities, e^ε
    growth: f64,
    delta: f64,
}

impl Region {
    fn new(epsilon: f64, delta: f64) -> Self {
        Self { growth: math::exp(epsilon.min(700.0)), delta }
    }

    /// l(x) = max(0, 1 − δ − e^ε x, e^{−ε}(1 − δ − x)).
    fn lower_edge(&self, x: UnitPoint) -> UnitPoint {
        let missing = self.delta + self.growth * x.value();
        if missing < 0.5 {
            return UnitPoint::from_complement(missing);
        }
        let flat = (x.complement() - self.delta) / self.growth;
        UnitPoint::from_value((1.0 - missing).max(flat).max(0.0))
    }

    /// h(x) = 1 − l(1 − x).
    fn upper_edge(&self, x: UnitPoint) -> UnitPoint {
        self.lower_edge(x.mirrored()).mirrored()
    }

    /// Where an edge has a corner or meets the boundary of the unit square.
    fn kinks(&self) -> [UnitPoint; 4] {
        let bend = UnitPoint::from_value((1.0 - self.delta) / (1.0 + self.growth));
        let corner = UnitPoint::from_value(self.delta);
        [bend, bend.mirrored(), corner, corner.mirrored()]
    }
}

fn posterior(
    world: &'static str,
    events: u64,
    others: u64,
) -> Result<BetaDistribution, BayesianError> {
    const MOST: u64 = 1_000_000_000_000_000_000;
    if events == 0 && others == 0 {
        return Err(BayesianError::NoObservations { world });
    }
    if events > MOST || others > MOST {
        return Err(BayesianError::TooManyObservations { world });
    }
    Ok(BetaDistribution::with_shapes(events as f64 + 0.5, others as f64 + 0.5))
}

/// Quantiles at the normal levels −7 … 7; 1e-12 of the mass lies outside on either side.
fn grid(distribution: &BetaDistribution) -> Vec<UnitPoint> {
    let at = |tail, z: i32| distribution.quantile_at(tail, normal::normal_cdf(-f64::from(z)));
    let lower = (0..=7).rev().map(|z| at(Tail::Lower, z));
    lower.chain((1..=7).map(|z| at(Tail::Upper, z))).collect()
}

fn check_significance(significance: f64) -> Result<(), BayesianError> {
    if (1e-9..=0.5).contains(&significance) {
        Ok(())
    } else {
        Err(BayesianError::Significance { significance })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(tp: u64, fnn: u64, fp: u64, tn: u64) -> ConfusionCounts {
        ConfusionCounts {
            true_positives: tp,
            false_negatives: fnn,
            false_positives: fp,
            true_negatives: tn,
        }
    }

    #[test]
    fn probability_rises_from_its_mass_at_zero_to_one() {
        let posterior = JointBetaPosterior::new(counts(20, 5, 3, 22), 0.01).unwrap();
        let mut last = 0.0;
        for step in 0..60 {
            let p = posterior.probability_within(f64::from(step) * 0.2).unwrap();
            assert!(p >= last - 1e-12, "{step}");
            last = p;
        }
        assert!((last - 1.0).abs() < 1e-4, "{last}");
    }

    #[test]
    fn swapping_the_roles_of_the_worlds_changes_nothing() {
        let one = JointBetaPosterior::new(counts(40, 60, 60, 40), 1e-5).unwrap();
        let other = JointBetaPosterior::new(counts(60, 40, 40, 60), 1e-5).unwrap();
        for epsilon in [0.1, 0.5, 2.0] {
            let (p, q) = (one.probability(epsilon), other.probability(epsilon));
            assert!((p - q).abs() < 1e-11, "{p} {q}");
        }
    }

    #[test]
    fn huge_counts_approach_the_point_estimate() {
        let n = 1_000_000_000;
        let posterior = JointBetaPosterior::new(counts(n / 4 * 3, n / 4, n / 4, n / 4 * 3), 0.0);
        let credible = posterior.unwrap().credible_interval(0.05).unwrap();
        assert!((credible.lower - math::ln(3.0)).abs() < 3e-4, "{credible:?}");
        assert!((credible.upper - math::ln(3.0)).abs() < 3e-4, "{credible:?}");
        assert!(credible.lower < credible.upper);
        let lopsided = JointBetaPosterior::new(counts(0, 3, n / 2, n / 2), 1e-6).unwrap();
        let credible = lopsided.credible_interval(0.1).unwrap();
        assert!(credible.lower > 0.0 && credible.lower < credible.upper, "{credible:?}");
    }

    #[test]
    fn refuses_bad_arguments() {
        assert!(JointBetaPosterior::new(counts(0, 0, 1, 1), 0.0).is_err());
        assert!(JointBetaPosterior::new(counts(1, 1, 0, 0), 0.0).is_err());
        assert!(JointBetaPosterior::new(counts(u64::MAX, 1, 1, 1), 0.0).is_err());
        for delta in [-0.1, 1.0, f64::NAN] {
            assert!(JointBetaPosterior::new(counts(1, 1, 1, 1), delta).is_err());
        }
        let posterior = JointBetaPosterior::new(counts(1, 1, 1, 1), 0.0).unwrap();
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(posterior.probability_within(bad).is_err());
            assert!(posterior.credible_lower(bad).is_err());
            assert!(posterior.credible_interval(bad).is_err());
        }
    }
}
