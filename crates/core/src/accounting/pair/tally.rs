//! Mean, variance and a lower limit of the mean.

use crate::math;

/// Count, mean and sum of squared deviations, updated one value at a time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tally {
    pub(super) count: f64,
    pub(super) mean: f64,
    squares: f64,
}

impl Tally {
    pub(super) fn add(&mut self, value: f64) {
        self.count += 1.0;
        let change = value - self.mean;
        self.mean += change / self.count;
        self.squares += change * (value - self.mean);
    }

    /// Unbiased variance of one value.
    pub(super) fn variance(&self) -> f64 {
        self.squares / (self.count - 1.0)
    }

    /// Standard error of the mean.
    pub(super) fn standard_error(&self) -> f64 {
        (self.variance() / self.count).sqrt()
    }

    /// A lower limit of the expectation that is wrong with probability at most `significance`, for
    /// values in [0, `most`].
    ///
    /// mean − √(2V ln(2/α)/n) − 7 τ ln(2/α)/(3(n − 1))
    ///
    /// # Reference
    /// A. Maurer and M. Pontil (COLT 2009), theorem 4.
    pub(super) fn lower_limit(&self, most: f64, significance: f64) -> f64 {
        self.mean - bernstein(self.variance(), most, significance, self.count)
    }
}

impl Extend<f64> for Tally {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.add(value));
    }
}

/// The margin of [`Tally::lower_limit`].
pub(super) fn bernstein(variance: f64, most: f64, significance: f64, count: f64) -> f64 {
    let log = math::ln(2.0 / significance);
    (2.0 * variance * log / count).sqrt() + 7.0 * most * log / (3.0 * (count - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_plain_formula() {
        let values = [0.5, 0.25, 1.0, 0.0, 0.125];
        let mut tally = Tally::default();
        tally.extend(values);
        assert_eq!((tally.count, tally.mean), (5.0, 0.375));
        let squares: f64 = values.iter().map(|v| (v - 0.375) * (v - 0.375)).sum();
        assert!((tally.variance() - squares / 4.0).abs() < 1e-16);
        let expected = 0.375
            - (2.0 * squares / 4.0 * math::ln(40.0) / 5.0).sqrt()
            - 7.0 * math::ln(40.0) / 12.0;
        assert!((tally.lower_limit(1.0, 0.05) - expected).abs() < 1e-14);
    }

    /// Exact coverage for Bernoulli values, by enumeration of the counts.
    #[test]
    fn limit_covers_bernoulli_means() {
        let wrong = |limit: fn(&Tally) -> f64| {
            let mut worst = 0.0_f64;
            for n in [20_u32, 100] {
                for p in [0.02, 0.2, 0.5, 0.9] {
                    let mut chance = 0.0;
                    let mut pmf = math::powi(1.0 - p, n as i32);
                    for k in 0..=n {
                        let mut tally = Tally::default();
                        tally.extend((0..n).map(|i| f64::from(u8::from(i < k))));
                        if limit(&tally) > p {
                            chance += pmf;
                        }
                        pmf *= f64::from(n - k) / f64::from(k + 1) * p / (1.0 - p);
                    }
                    worst = worst.max(chance);
                }
            }
            worst
        };
        assert!(wrong(|tally| tally.lower_limit(1.0, 0.05)) <= 0.05);
        // without the second term, and without any
        assert!(wrong(|tally| tally.mean - 1.6 * tally.standard_error()) > 0.05);
        assert!(wrong(|tally| tally.mean) > 0.3);
    }
}
