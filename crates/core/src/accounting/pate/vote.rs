//! The noisy majority of two classes.

use crate::accounting::AccountingError;
use crate::accounting::error::argument;
use crate::math;

/// Where noise is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum VoteNoise {
    /// Both counts: 1 is released if n₁ + Y₁ > n₀ + Y₀.
    BothCounts,
    /// One count: 1 is released if n₁ + Y > k/2.
    OneCount,
}

/// A majority vote of k teachers with Laplace noise Y of scale 1/γ, independent for each vote.
///
/// The probability of the minority is, with Δ = |n₁ − n₀|,
///
/// | noise | probability | ε of one vote |
/// |---|---|---|
/// | [`VoteNoise::BothCounts`] | (2 + γΔ) e^{−γΔ}/4 | 2γ |
/// | [`VoteNoise::OneCount`] | e^{−γΔ/2}/2 | γ |
///
/// # Example
/// ```
/// use dpscope_core::accounting::pate::{NoisyVote, VoteNoise, moments_epsilon};
/// let vote = NoisyVote::new(5, 1e-3, VoteNoise::BothCounts)?;
/// // 32 iterations of 5 student steps with 64 labels each, orders up to 100
/// let votes = f64::from(32 * 5 * 64);
/// let moments = (1..=100).map(|order| votes * vote.moment(order));
/// let found = moments_epsilon(moments, 1e-5)?;
/// assert_eq!(format!("{:.4}", found.epsilon), "0.9917");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
///
/// # Reference
/// N. Papernot et al., Semi-supervised knowledge transfer for deep learning from private training
/// data, ICLR 2017; J. Jordon et al., PATE-GAN, ICLR 2019.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoisyVote {
    pub(super) teachers: u32,
    pub(super) gamma: f64,
    pub(super) noise: VoteNoise,
}

/// Largest number of teachers.
const MOST_TEACHERS: u32 = 10_000;

impl NoisyVote {
    /// A vote.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `teachers` | k | 1 to 10,000 |
    /// | `gamma` | γ, 1/scale of the noise | 1e-6 to 100 |
    /// | `noise` | where noise is added | – |
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    pub fn new(teachers: u32, gamma: f64, noise: VoteNoise) -> Result<Self, AccountingError> {
        if !(1..=MOST_TEACHERS).contains(&teachers) {
            return Err(argument("teachers", f64::from(teachers), "in [1, 10000]"));
        }
        if !(1e-6..=100.0).contains(&gamma) {
            return Err(argument("gamma", gamma, "in [1e-6, 100]"));
        }
        Ok(Self { teachers, gamma, noise })
    }

    /// Number of teachers.
    #[must_use]
    pub const fn teachers(&self) -> u32 {
        self.teachers
    }

    /// ε of one vote, with δ = 0.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        match self.noise {
            VoteNoise::BothCounts => 2.0 * self.gamma,
            VoteNoise::OneCount => self.gamma,
        }
    }

    /// Probability that 1 is released.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `votes` | n₁ | 0 to k |
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    pub fn probability(&self, votes: u32) -> Result<f64, AccountingError> {
        let majority = self.majority(votes)?;
        let minority = math::exp(self.ln_minority(majority.unsigned_abs()));
        Ok(if majority > 0 { 1.0 - minority } else { minority })
    }

    /// Votes for 1 less those for 0, n₁ − n₀.
    pub(super) fn majority(&self, votes: u32) -> Result<i64, AccountingError> {
        if votes > self.teachers {
            return Err(argument("votes", f64::from(votes), "at most the number of teachers"));
        }
        Ok(2 * i64::from(votes) - i64::from(self.teachers))
    }

    /// Logarithm of the probability of the minority, for Δ.
    pub(super) fn ln_minority(&self, gap: u64) -> f64 {
        let x = self.gamma * gap as f64;
        match self.noise {
            VoteNoise::BothCounts => math::ln_1p(x / 2.0) - std::f64::consts::LN_2 - x,
            VoteNoise::OneCount => -std::f64::consts::LN_2 - x / 2.0,
        }
    }

    /// ln q(Δ) − ln q(Δ + 2), without cancellation.
    pub(super) fn ln_minority_ratio(&self, gap: u64) -> f64 {
        let x = self.gamma * gap as f64;
        match self.noise {
            VoteNoise::BothCounts => 2.0 * self.gamma - math::ln_1p(2.0 * self.gamma / (2.0 + x)),
            VoteNoise::OneCount => self.gamma,
        }
    }

    /// 1/2 − q(1), without cancellation.
    pub(super) fn excess_of_one(&self) -> f64 {
        let gamma = self.gamma;
        match self.noise {
            VoteNoise::BothCounts => {
                (-math::exp_m1(-gamma) - gamma / 2.0 * math::exp(-gamma)) / 2.0
            }
            VoteNoise::OneCount => -math::exp_m1(-gamma / 2.0) / 2.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_the_noise() {
        // 200,000 draws by inversion of Laplace variables on a lattice of quantiles
        for noise in [VoteNoise::BothCounts, VoteNoise::OneCount] {
            for (teachers, votes, gamma) in [(5, 4, 0.7), (6, 1, 0.3), (2, 1, 2.0), (1, 0, 1.0)] {
                let vote = NoisyVote::new(teachers, gamma, noise).unwrap();
                let laplace = |u: f64| {
                    let v = u - 0.5;
                    -v.signum() * math::ln_1p(-2.0 * v.abs()) / gamma
                };
                const SIDE: u32 = 450;
                let quantile = |i: u32| laplace((f64::from(i) + 0.5) / f64::from(SIDE));
                let ones = f64::from(votes);
                let zeros = f64::from(teachers - votes);
                let mut count = 0_u32;
                for first in 0..SIDE {
                    for second in 0..SIDE {
                        let (first, second) = (quantile(first), quantile(second));
                        count += u32::from(match noise {
                            VoteNoise::BothCounts => ones + first > zeros + second,
                            VoteNoise::OneCount => ones + first > f64::from(teachers) / 2.0,
                        });
                    }
                }
                let share = f64::from(count) / f64::from(SIDE * SIDE);
                let found = vote.probability(votes).unwrap();
                assert!((share - found).abs() < 4e-3, "{noise:?} {votes}: {share} {found}");
            }
        }
    }

    #[test]
    fn arguments_outside_their_domain_are_rejected() {
        let new = |teachers, gamma| NoisyVote::new(teachers, gamma, VoteNoise::BothCounts);
        for gamma in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-7, 101.0] {
            assert!(new(5, gamma).is_err(), "{gamma}");
        }
        assert!(new(0, 1.0).is_err() && new(10_001, 1.0).is_err());
        assert!(new(5, 1.0).unwrap().probability(6).is_err());
    }
}
