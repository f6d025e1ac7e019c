//! Regression of the world on the score.

use crate::math::exp;

/// Logistic regression of the world on the score.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScoreSlope {
    /// Fitted slope; 1 for a log-likelihood ratio.
    pub slope: f64,
    /// Its standard error, from the Fisher information.
    pub standard_error: f64,
    /// Number of bins with scores; of scores where they have no bins.
    pub bins: u32,
}

impl ScoreSlope {
    /// The slope over scores of runs; those that are not finite are left out.
    ///
    /// `None` if the worlds do not overlap enough for a fit.
    #[must_use]
    pub fn of_scores(target: &[f64], zero_out: &[f64]) -> Option<Self> {
        let world = |scores: &[f64], is_target: f64| -> Vec<(f64, f64, f64)> {
            let finite = scores.iter().filter(|score| score.is_finite());
            finite.map(|&score| (score, is_target, 1.0)).collect()
        };
        Self::fit(&[world(target, 1.0), world(zero_out, 0.0)].concat())
    }

    /// Maximum likelihood from (score, observations of D, observations of both) by Newton's method.
    pub(super) fn fit(points: &[(f64, f64, f64)]) -> Option<Self> {
        let total: f64 = points.iter().map(|p| p.2).sum();
        let centre = points.iter().map(|p| p.0 * p.2).sum::<f64>() / total;
        let (mut intercept, mut slope) = (centre, 1.0);
        for _ in 0..50 {
            let (mut g0, mut g1) = (0.0, 0.0);
            let (mut h00, mut h01, mut h11) = (0.0, 0.0, 0.0);
            for &(score, n_target, n) in points {
                let x = score - centre;
                let p = 1.0 / (1.0 + exp(-(intercept + slope * x)));
                let (residual, weight) = (n_target - n * p, n * p * (1.0 - p));
                g0 += residual;
                g1 += residual * x;
                h00 += weight;
                h01 += weight * x;
                h11 += weight * x * x;
            }
            let determinant = h00 * h11 - h01 * h01;
            if !(determinant > 1e-9 * h00 * h11) {
                return None;
            }
            let change = (h00 * g1 - h01 * g0) / determinant;
            intercept += (h11 * g0 - h01 * g1) / determinant;
            slope += change;
            let standard_error = (h00 / determinant).sqrt();
            if change.abs() < 1e-6 * standard_error.min(1.0) {
                let bins = points.len() as u32;
                return (standard_error < 0.5).then_some(ScoreSlope {
                    slope,
                    standard_error,
                    bins,
                });
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_exact_log_odds_is_recovered() {
        let points = |slope: f64| -> Vec<(f64, f64, f64)> {
            let at = |i: i32| {
                let x = f64::from(i) * 0.1;
                let n = 1000.0 * exp(-x * x / 4.0);
                (x, n / (1.0 + exp(-slope * x - 0.3)), n)
            };
            (-40..=60).map(at).collect()
        };
        for slope in [1.0, 0.9, 2.5] {
            let found = ScoreSlope::fit(&points(slope)).unwrap();
            assert!((found.slope - slope).abs() < 1e-5, "{found:?}");
        }
        let separated = [(-1.0, 0.0, 50.0), (-0.5, 0.0, 9.0), (0.5, 30.0, 30.0), (1.0, 9.0, 9.0)];
        assert_eq!(ScoreSlope::fit(&separated), None);
        assert_eq!(ScoreSlope::fit(&[(0.0, 1.0, 2.0)]), None);
        assert_eq!(ScoreSlope::fit(&[]), None);
    }
}
