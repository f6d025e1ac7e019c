//! A number of included canaries that may have been fixed beforehand.

use super::{OneRunError, OneRunFinding};
use crate::math;
use crate::special::ln_binomial_pmf;

/// n of m canaries are included, where n may have been fixed: a draw without replacement.
///
/// Such coins are not independent. A test at level α of independent coins with probability π rejects a
/// draw of n of m canaries with probability at most α/P\[Bin(m, π) = n\].
///
/// # Proof
/// Independent coins are a mixture of uniform draws of each size, in which the size n has the weight
/// P\[Bin(m, π) = n\]. The test rejects the mixture with probability at most α, so it rejects each part
/// with at most α over the weight of the part. This holds for every π if training is (ε, δ)-DP at every
/// size, as a claim for add/remove or zero-out says.
///
/// # Guarantee
/// `tests/coverage/one_run.rs::fixed_sizes_are_covered_and_coins_do_not_cover_them`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FixedSize {
    canaries: u64,
    included: u64,
}

impl FixedSize {
    /// n included canaries of m.
    ///
    /// # Errors
    /// [`OneRunError::Included`] if n is not in 1 … m − 1: then no coin is left to guess.
    pub const fn new(canaries: u64, included: u64) -> Result<Self, OneRunError> {
        if included == 0 || included >= canaries {
            return Err(OneRunError::Included { included, canaries });
        }
        Ok(Self { canaries, included })
    }

    /// Whether n is as close to mπ as the size of a draw without replacement: |n − mπ| < 1.
    #[must_use]
    pub fn is_suspected(canaries: u64, included: u64, inclusion: f64) -> bool {
        let expected = canaries as f64 * inclusion;
        // error of the product and of a decimal π
        let rounding = 4.0 * f64::EPSILON * expected;
        (included as f64 - expected).abs() < 1.0 - rounding
    }

    /// The probability that independent coins are suspected of a fixed size:
    /// P\[|Bin(m, π) − mπ| < 1\].
    ///
    /// # Errors
    /// [`OneRunError::Inclusion`] outside (0, 1).
    pub fn chance_with_coins(canaries: u64, inclusion: f64) -> Result<f64, OneRunError> {
        if !(inclusion > 0.0 && inclusion < 1.0) {
            return Err(OneRunError::Inclusion { inclusion });
        }
        let middle = (canaries as f64 * inclusion) as u64;
        let near = middle.saturating_sub(1)..=(middle + 1).min(canaries);
        let suspected = near.filter(|&size| Self::is_suspected(canaries, size, inclusion));
        Ok(suspected.map(|size| chance(canaries, size, inclusion)).sum())
    }

    /// Number of canaries: m.
    #[must_use]
    pub const fn canaries(&self) -> u64 {
        self.canaries
    }

    /// Number of included canaries: n.
    #[must_use]
    pub const fn included(&self) -> u64 {
        self.included
    }

    /// Share of included canaries: n/m.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.included as f64 / self.canaries as f64
    }

    /// P\[Bin(m, π) = n\]: the share that remains of the level of a test of coins at this π.
    #[must_use]
    pub fn chance_at(&self, inclusion: f64) -> f64 {
        chance(self.canaries, self.included, inclusion)
    }

    /// The finding about canaries that are stated to be included with probability π.
    ///
    /// # Errors
    /// [`OneRunError::Inclusion`] outside (0, 1).
    pub fn finding(&self, inclusion: f64) -> Result<OneRunFinding, OneRunError> {
        Ok(OneRunFinding::FixedSizeInclusion {
            included: self.included,
            canaries: self.canaries,
            chance_with_coins: Self::chance_with_coins(self.canaries, inclusion)?,
        })
    }
}

fn chance(canaries: u64, included: u64, inclusion: f64) -> f64 {
    // both arguments are in their domain
    math::exp(ln_binomial_pmf(included, canaries, inclusion).unwrap_or(f64::NEG_INFINITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_within_one_of_the_mean_are_suspected() {
        let suspected = |canaries, inclusion| -> Vec<u64> {
            let is_suspected = |&size: &u64| FixedSize::is_suspected(canaries, size, inclusion);
            (0..=canaries).filter(is_suspected).collect()
        };
        assert_eq!(suspected(1_000, 0.8), [800]);
        assert_eq!(suspected(1_001, 0.8), [800, 801]);
        // 0.29 · 100 rounds to less than 29
        assert_eq!(suspected(100, 0.29), [29]);
        assert_eq!(suspected(401, 0.5), [200, 201]);
        assert_eq!(suspected(10, 0.001), [0, 1]);
        assert!((FixedSize::chance_with_coins(2, 0.5).unwrap() - 0.5).abs() < 1e-15);
        assert!(FixedSize::chance_with_coins(2, 1.0).is_err());
        assert!(FixedSize::new(10, 0).is_err() && FixedSize::new(10, 10).is_err());
    }

    #[test]
    fn the_level_is_divided_by_the_probability_of_the_size() {
        let fixed = FixedSize::new(4, 2).unwrap();
        assert!((fixed.chance_at(0.5) - 0.375).abs() < 1e-15);
        assert_eq!(fixed.share(), 0.5);
    }
}
