//! Tests of what a generator of synthetic rows does inside: labels given the votes, and inputs.

use crate::accounting::AccountingError;
use crate::accounting::pate::NoisyVote;
use crate::math;

/// Noisy labels beside what their votes make probable.
///
/// Σ wᵢ (rᵢ − P(rᵢ = 1 | n₁)) over all votes i, once with w = 1 and once with w the sign of n₁ − n₀.
///
/// # Example
/// ```
/// use dpscope_core::accounting::pate::{NoisyVote, VoteNoise};
/// use dpscope_core::audit::generator::LabelChannel;
/// let vote = NoisyVote::new(2, 1e-3, VoteNoise::BothCounts)?;
/// // labels without noise: ties have 0
/// let labels = LabelChannel::of(&vote, &[500, 1000, 500], &[0, 0, 500])?;
/// assert!(labels.p_value() < 1e-9);
/// assert!(LabelChannel::of(&vote, &[500, 1000, 500], &[251, 490, 255])?.p_value() > 0.5);
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelChannel {
    /// Number of votes.
    pub votes: u64,
    /// Labels 1 beyond their expected number.
    pub more_ones: f64,
    /// Labels of the majority beyond their expected number; ties are left out.
    pub more_majorities: f64,
}

impl LabelChannel {
    /// The sums of a record of votes.
    ///
    /// | argument | meaning | shape |
    /// |---|---|---|
    /// | `vote` | teachers and noise, as stated | – |
    /// | `votes` | number of votes with n₁ teachers for 1 | [k + 1] |
    /// | `ones` | how many of them had the label 1 | [k + 1] |
    ///
    /// # Errors
    /// More counts than a vote of k teachers has.
    pub fn of(vote: &NoisyVote, votes: &[u64], ones: &[u64]) -> Result<Self, AccountingError> {
        let (mut more_ones, mut more_majorities) = (0.0, 0.0);
        for ((count, ones), n) in votes.iter().zip(ones).zip(0_u32..) {
            let excess = *ones as f64 - *count as f64 * vote.probability(n)?;
            more_ones += excess;
            let (two, all) = (2 * u64::from(n), u64::from(vote.teachers()));
            more_majorities += match two.cmp(&all) {
                std::cmp::Ordering::Less => -excess,
                std::cmp::Ordering::Equal => 0.0,
                std::cmp::Ordering::Greater => excess,
            };
        }
        Ok(LabelChannel { votes: votes.iter().sum(), more_ones, more_majorities })
    }

    /// The probability of sums at least as far from 0, at most, if the noise is as stated.
    ///
    /// 4 exp(−2 S²/N) for the larger |S| of both sums; 1 without a vote. Votes may depend on earlier labels, as they do
    /// where a generator learns from them: the counts per n₁ are not binomial then, and a χ² test has no
    /// stated level.
    ///
    /// # Guarantee
    /// At most p with probability p, whatever the votes are, if their number was fixed beforehand
    /// (`unit::the_level_holds_where_votes_follow_labels`).
    ///
    /// # Reference
    /// K. Azuma, 1967; W. Hoeffding, 1963, lemma 1, for martingale differences within an interval of
    /// length 1.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        if self.votes == 0 {
            return 1.0;
        }
        let tail = |sum: f64| 2.0 * math::exp(-2.0 * sum * sum / self.votes as f64);
        (2.0 * tail(self.more_ones).min(tail(self.more_majorities))).min(1.0)
    }
}

/// Losses of teachers on rows of their own, beside those of all teachers on the same rows.
///
/// S = Σᵢ (cᵢₜ₍ᵢ₎ − c̄ᵢ) over rows i, where cᵢₜ is what training changed of teacher t's loss on row i, t(i)
/// the teacher that has the row, and c̄ᵢ the mean over teachers.
///
/// # Example
/// ```
/// use dpscope_core::audit::generator::OwnRowLosses;
/// let mut losses = OwnRowLosses::default();
/// for row in 0..40 {
///     let own = row % 2;
///     losses.add(&[-0.1, -0.2 - 0.1 * own as f64], own); // the second learns its own rows better
/// }
/// assert!((losses.sum + 1.0).abs() < 1e-12);
/// assert!(losses.p_value() < 0.3);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct OwnRowLosses {
    /// Number of rows.
    pub rows: u64,
    /// S; below 0 where teachers fit their own rows better.
    pub sum: f64,
    /// Σᵢ (maxₜ cᵢₜ − minₜ cᵢₜ)².
    pub squared_ranges: f64,
}

impl OwnRowLosses {
    /// Adds a row.
    ///
    /// | argument | meaning | shape |
    /// |---|---|---|
    /// | `changes` | what training changed of each teacher's loss on it | k |
    /// | `own` | the teacher that has it; others are ignored | below k |
    pub fn add(&mut self, changes: &[f64], own: usize) {
        let Some(change) = changes.get(own) else { return };
        let low = changes.iter().copied().fold(f64::INFINITY, f64::min);
        let high = changes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.rows += 1;
        self.sum += change - changes.iter().sum::<f64>() / changes.len() as f64;
        self.squared_ranges += (high - low) * (high - low);
    }

    /// Adds those of another run.
    pub fn join(&mut self, other: &Self) {
        self.rows += other.rows;
        self.sum += other.sum;
        self.squared_ranges += other.squared_ranges;
    }

    /// The probability of a sum so far below 0, at most, if losses do not depend on the division.
    ///
    /// exp(−2 S²/Σ range²); 1 where S ≥ 0.
    ///
    /// # Guarantee
    /// At most p with probability p, if the teacher of each row is drawn uniformly, independently of the
    /// losses (`unit::losses_that_ignore_the_division_are_rarely_significant`).
    ///
    /// # Reference
    /// W. Hoeffding, 1963, theorem 2.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        if !(self.sum < 0.0 && self.squared_ranges > 0.0) {
            return 1.0;
        }
        math::exp(-2.0 * self.sum * self.sum / self.squared_ranges).min(1.0)
    }
}

/// Stated distribution of a generator's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputDistribution {
    /// Uniform on (−1, 1), independent coordinates.
    Uniform,
    /// Standard normal.
    Normal,
}

impl InputDistribution {
    /// The probability of a mean square at least as far from its expected value, at most.
    ///
    /// Uniform: 2 exp(−2 n (m − 1/3)²). Normal: 2 exp(−n (m − 1 − ln m)/2).
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `count` | n, number of coordinates | – |
    /// | `mean_square` | m | ≥ 0; 1 is returned for NaN |
    ///
    /// # Guarantee
    /// At most p with probability p (`unit::inputs_of_another_distribution_are_rejected`).
    ///
    /// # Reference
    /// W. Hoeffding, 1963, theorem 1; the Chernoff bound of a χ² distribution.
    #[must_use]
    pub fn p_value(self, count: u64, mean_square: f64) -> f64 {
        let exponent = match self {
            InputDistribution::Uniform => {
                2.0 * (mean_square - 1.0 / 3.0) * (mean_square - 1.0 / 3.0)
            }
            InputDistribution::Normal if mean_square > 0.0 => {
                (mean_square - 1.0 - math::ln(mean_square)) / 2.0
            }
            InputDistribution::Normal => f64::INFINITY,
        };
        if count == 0 || mean_square.is_nan() {
            return 1.0;
        }
        (2.0 * math::exp(-(count as f64) * exponent)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::pate::VoteNoise;
    use crate::random::{Purpose, Words};

    /// Whether each of 400 records of 200 votes is rejected at level 0.1; a vote repeats n₁ while
    /// labels are 1.
    fn rejected(stated: &NoisyVote, actual: &NoisyVote) -> usize {
        let run = |record| {
            let mut words = Words::new(3, Purpose::Test, record);
            let (mut votes, mut ones) = ([0; 3], [0; 3]);
            let mut n = 0;
            for _ in 0..200 {
                let label = words.uniform() < actual.probability(n as u32).unwrap();
                votes[n] += 1;
                ones[n] += u64::from(label);
                n = if label { n } else { (n + 1) % 3 };
            }
            LabelChannel::of(stated, &votes, &ones).unwrap().p_value() <= 0.1
        };
        (0..400).filter(|record| run(*record)).count()
    }

    #[test]
    fn the_level_holds_where_votes_follow_labels() {
        let stated = NoisyVote::new(2, 0.5, VoteNoise::BothCounts).unwrap();
        let count = rejected(&stated, &stated);
        assert!(count <= 40, "{count}");
        // a scale of γ in place of 1/γ
        let scale = NoisyVote::new(2, 2.0, VoteNoise::BothCounts).unwrap();
        assert!(rejected(&stated, &scale) > 300);
    }

    #[test]
    fn one_noise_is_rejected() {
        let [both, one] = [VoteNoise::BothCounts, VoteNoise::OneCount]
            .map(|noise| NoisyVote::new(2, 1.0, noise).unwrap());
        let ones = |n| (1e5 * one.probability(n).unwrap()).round() as u64;
        let (votes, ones) = ([100_000; 3], [ones(0), ones(1), ones(2)]);
        assert!(LabelChannel::of(&both, &votes, &ones).unwrap().p_value() < 1e-9);
        assert!(LabelChannel::of(&both, &[], &[]).unwrap().p_value() >= 1.0);
    }

    /// How many of 400 divisions of 60 rows among 3 teachers are significant at level 0.1, if teachers fit
    /// their own rows better by `gain`.
    fn significant(gain: f64) -> usize {
        let run = |record| {
            let mut words = Words::new(7, Purpose::Test, record);
            let mut losses = OwnRowLosses::default();
            for row in 0..60 {
                let own = words.below(3) as usize;
                // a teacher that is worse everywhere, and rows that differ
                let mut changes = [0.5, 0.0, 0.1].map(|c: f64| c - f64::from(row % 7) / 7.0);
                changes[own] -= gain;
                losses.add(&changes, own);
            }
            losses.p_value() <= 0.1
        };
        (0..400).filter(|record| run(*record)).count()
    }

    #[test]
    fn losses_that_ignore_the_division_are_rarely_significant() {
        let count = significant(0.0);
        assert!(count <= 40, "{count}");
        assert!(significant(0.2) > 380, "{}", significant(0.2));
        let mut none = OwnRowLosses::default();
        none.add(&[1.0, 0.0], 2);
        assert_eq!((none, none.p_value()), (OwnRowLosses::default(), 1.0));
    }

    #[test]
    fn inputs_of_another_distribution_are_rejected() {
        let mean_square = |record: u64, is_normal: bool| {
            let mut words = Words::new(5, Purpose::Test, record);
            let mut draw = || if is_normal { words.normal() } else { 2.0 * words.uniform() - 1.0 };
            (0..50).map(|_| draw()).map(|z| z * z).sum::<f64>() / 50.0
        };
        for (law, is_normal) in
            [(InputDistribution::Uniform, false), (InputDistribution::Normal, true)]
        {
            let rejected = |is_normal| {
                (0..400).filter(|at| law.p_value(50, mean_square(*at, is_normal)) <= 0.1).count()
            };
            assert!(rejected(is_normal) <= 40, "{law:?}");
            assert!(rejected(!is_normal) > 380, "{law:?}");
        }
        assert!(InputDistribution::Normal.p_value(0, f64::NAN) >= 1.0);
    }
}
