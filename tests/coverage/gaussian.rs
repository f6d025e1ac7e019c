//! Lower bounds on the μ of Gaussian differential privacy, from the same two limits as ε.

use dpscope_core::audit::bound::at_fixed_cut;
use dpscope_core::audit::trade_off::{Cut, ErrorCounts, Trials};
use dpscope_core::gdp::{gdp_epsilon, gdp_mu_lower_bound};
use dpscope_core::interval::clopper_pearson_upper;
use dpscope_core::special::{normal_cdf, normal_quantile, normal_survival};

use crate::SIGNIFICANCE;
use crate::enumeration::CutDistribution;

const DELTA: f64 = 1e-3;

/// N(μ, 1) against N(0, 1), cut at τ.
#[derive(Debug, Clone, Copy)]
struct GaussianCut {
    mu: f64,
    distribution: CutDistribution,
}

impl GaussianCut {
    fn grid() -> Vec<GaussianCut> {
        let mut grid = Vec::new();
        for mu in [0.0, 0.5, 1.0, 3.0] {
            for place in [-1.0, 0.5, 2.0] {
                for (target, zero_out) in [(80, 80), (300, 100), (3000, 40), (40, 3000)] {
                    let threshold = mu * place;
                    let (fpr, fnr) = (normal_survival(threshold), normal_cdf(threshold - mu));
                    let distribution =
                        CutDistribution { fpr, fnr, trials: Trials { target, zero_out } };
                    grid.push(GaussianCut { mu, distribution });
                }
            }
        }
        grid
    }

    /// (μ, ε), both from the limits of one cut.
    fn bounds(&self, errors: ErrorCounts, significance: f64) -> (f64, f64) {
        let cut = Cut { threshold: f64::NAN, errors };
        let bound =
            at_fixed_cut(cut, self.distribution.trials, DELTA, significance).expect("valid");
        let limits = bound.evidence();
        (gdp_mu_lower_bound(limits.fpr_upper, limits.fnr_upper).expect("valid"), bound.value())
    }

    fn chance_above(&self, bound: impl Fn(ErrorCounts) -> f64) -> f64 {
        self.distribution.chance_above(self.mu, bound)
    }
}

fn worst(chance: impl Fn(&GaussianCut) -> f64) -> f64 {
    GaussianCut::grid().iter().map(chance).fold(0.0, f64::max)
}

/// Both limits enter one sum, and both must be too low for the sum to be: the worst chance here is
/// 0.010, for worlds of very unequal size, so a twin must be wrong by a factor of four to be seen.
#[test]
fn mu_covers_by_enumeration_and_its_twin_does_not() {
    let chance = |significance: f64| {
        worst(|cut| cut.chance_above(|errors| cut.bounds(errors, significance).0))
    };
    let bound = chance(SIGNIFICANCE);
    assert!(bound <= SIGNIFICANCE, "exceeds μ with probability {bound}");
    assert!(bound >= 0.15 * SIGNIFICANCE, "never close to one tail: {bound}");
    assert!(chance(4.0 * SIGNIFICANCE) > SIGNIFICANCE, "four times the tail passed");
}

#[test]
fn an_absolute_value_of_mu_is_caught() {
    let trials = Trials { target: 80, zero_out: 80 };
    let cut = GaussianCut { mu: 0.0, distribution: CutDistribution { fpr: 0.5, fnr: 0.5, trials } };
    let ours = |errors| cut.bounds(errors, SIGNIFICANCE).0;
    let absolute = |errors: ErrorCounts| {
        let upper = |events| clopper_pearson_upper(events, 80, SIGNIFICANCE / 2.0).unwrap();
        let [fpr, fnr] = [errors.false_positives, errors.false_negatives].map(upper);
        let z = |rate: f64| if rate < 1.0 { normal_quantile(rate).unwrap() } else { 9.0 };
        (z(fpr) + z(fnr)).abs()
    };
    assert!(cut.distribution.chance_above_by_pairs(cut.mu, ours) <= SIGNIFICANCE);
    assert!(cut.distribution.chance_above_by_pairs(cut.mu, absolute) > SIGNIFICANCE);
}

#[test]
fn mu_and_epsilon_cover_jointly() {
    let joint = |significance: f64| {
        let at = |mu: f64, threshold: f64, (target, zero_out): (u64, u64)| {
            let (fpr, fnr) = (normal_survival(threshold), normal_cdf(threshold - mu));
            let distribution = CutDistribution { fpr, fnr, trials: Trials { target, zero_out } };
            let cut = GaussianCut { mu, distribution };
            let epsilon = gdp_epsilon(mu, DELTA).unwrap();
            distribution.chance_above(0.0, |errors| {
                let (mu_bound, epsilon_bound) = cut.bounds(errors, significance);
                (mu_bound - mu).max(epsilon_bound - epsilon)
            })
        };
        let mut worst = 0.0_f64;
        for trials in [(80, 80), (2000, 40), (600, 600)] {
            for (mu, threshold) in [(0.5, 0.25), (1.0, 2.5), (1.0, -1.0), (2.0, 1.0), (3.0, 3.0)] {
                worst = worst.max(at(mu, threshold, trials));
            }
        }
        worst
    };
    assert!(joint(SIGNIFICANCE) <= SIGNIFICANCE);
    assert!(joint(4.0 * SIGNIFICANCE) > SIGNIFICANCE);
}
