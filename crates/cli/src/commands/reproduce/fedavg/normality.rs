//! The test of Anderson and Darling for a normal distribution with unknown mean and deviation.

use dpscope_core::math;
use dpscope_core::special::{BetaDistribution, normal_ln_cdf};

/// A test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct AndersonDarling {
    /// A²* = A²(1 + 0.75/n + 2.25/n²); infinite if all values are equal.
    pub(super) statistic: f64,
    /// The probability of as large a statistic from a normal distribution, an approximation.
    pub(super) p_value: f64,
}

impl AndersonDarling {
    /// The test of a sample.
    ///
    /// # Reference
    /// R. B. D'Agostino and M. A. Stephens, Goodness-of-fit techniques, 1986, table 4.9 for p.
    pub(super) fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let square: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let deviation = (square / (n - 1.0)).sqrt();
        if !(deviation > 0.0) {
            return Self { statistic: f64::INFINITY, p_value: 0.0 };
        }
        let mut sorted: Vec<f64> = values.iter().map(|value| (value - mean) / deviation).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let ends = sorted.iter().zip(sorted.iter().rev()).zip(0..);
        let terms = ends.map(|((&low, &high), index)| {
            f64::from(2 * index + 1) * (normal_ln_cdf(low) + normal_ln_cdf(-high))
        });
        let statistic = (-n - terms.sum::<f64>() / n) * (1.0 + 0.75 / n + 2.25 / (n * n));
        Self { statistic, p_value: p_value(statistic) }
    }
}

fn p_value(a: f64) -> f64 {
    let p = match a {
        a if a >= 0.6 => math::exp(1.2937 - 5.709 * a + 0.0186 * a * a),
        a if a >= 0.34 => math::exp(0.9177 - 4.279 * a - 1.38 * a * a),
        a if a >= 0.2 => 1.0 - math::exp(-8.318 + 42.796 * a - 59.938 * a * a),
        a => 1.0 - math::exp(-13.436 + 101.14 * a - 223.73 * a * a),
    };
    // the first of them rises again above 150
    if a > 13.0 { 0.0 } else { p.clamp(0.0, 1.0) }
}

/// P[Binomial(trials, share) ≥ count].
pub(super) fn share_below(trials: usize, count: usize, share: f64) -> f64 {
    if count == 0 {
        return 1.0;
    }
    let counts = BetaDistribution::new(count as f64, (trials - count + 1) as f64);
    counts.and_then(|counts| counts.cdf(share)).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::random::{Purpose, WideNormals};

    fn rejections(level: f64, of: impl Fn(&[f64]) -> Vec<f64>) -> f64 {
        let rejected = (0..4_000_u64).filter(|&sample| {
            let mut values = vec![0.0; 100];
            WideNormals::new(11, Purpose::Test, sample).fill(&mut values);
            AndersonDarling::of(&of(&values)).p_value < level
        });
        rejected.count() as f64 / 4_000.0
    }

    #[test]
    fn normal_samples_are_rejected_at_the_level_and_others_more_often() {
        for level in [0.15_f64, 0.05, 0.01] {
            let found = rejections(level, <[f64]>::to_vec);
            let error = (level * (1.0 - level) / 4_000.0).sqrt();
            assert!((found - level).abs() < 4.0 * error + 0.05 * level, "{level}: {found}");
        }
        let squared =
            |values: &[f64]| values.iter().map(|value| value + 0.2 * value * value).collect();
        assert!(rejections(0.05, squared) > 0.5);
        // two groups of canaries
        let grouped = |values: &[f64]| {
            values.iter().zip(0..).map(|(value, at)| value + f64::from(at % 2) * 3.0).collect()
        };
        assert!(rejections(0.05, grouped) > 0.5);
    }

    #[test]
    fn the_statistic_is_that_of_the_definition() {
        // scipy 1.17.1: stats.anderson(…).statistic · (1 + 0.75/8 + 2.25/64)
        let found = AndersonDarling::of(&[1.0, 2.0, 4.0, 3.5, 2.2, 5.1, 2.9, 3.3]);
        assert!((found.statistic - EXPECTED).abs() < 1e-9, "{found:?}");
        assert_eq!(AndersonDarling::of(&[2.0; 9]).p_value, 0.0);
        assert!((share_below(15, 3, 0.15) - 0.395_8).abs() < 1e-3);
        assert_eq!(share_below(15, 0, 0.15), 1.0);
    }

    const EXPECTED: f64 = 0.145_732_520_687_264_5;
}
