//! ε of a number of votes, and the most votes within an ε.

use super::composition::MOST_VOTES;
use super::moments::check_orders;
use super::{EpsilonBracket, MomentsEpsilon, NoisyVote, moments_epsilon};
use crate::accounting::AccountingError;
use crate::accounting::error::argument;
use crate::accounting::pld::check_delta;
use crate::math;

/// ε of several votes, whatever their counts.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VotesEpsilon {
    /// Number of votes.
    pub votes: u64,
    /// By composition of a pair that dominates each vote: an upper bound, and how far it can be from
    /// the smallest ε.
    pub composed: EpsilonBracket,
    /// By moments, as published for PATE-GAN: an upper bound.
    pub moments: MomentsEpsilon,
}

/// An accountant of votes that does not look at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteAccounting {
    /// [`NoisyVote::composed_epsilon`].
    Composition,
    /// [`NoisyVote::moment`] for orders from 1 to this one.
    Moments {
        /// The largest order, 1 to 10,000.
        orders: u32,
    },
}

impl NoisyVote {
    /// ε of several votes by both accountants.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `votes` | number of votes | 1 to 10⁹ |
    /// | `delta` | δ | (0, 1) |
    /// | `orders` | largest order of the moments | 1 to 10,000 |
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    pub fn votes_epsilon(
        &self,
        votes: u64,
        delta: f64,
        orders: u32,
    ) -> Result<VotesEpsilon, AccountingError> {
        let composed = self.composed_epsilon(votes, delta)?;
        Ok(VotesEpsilon { votes, composed, moments: self.by_moments(votes, delta, orders)? })
    }

    /// The most votes, a multiple of `group`, with ε ≤ `epsilon` by an accountant; 0 if a single
    /// group exceeds it. At most 10⁹.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `group` | votes of one iteration | 1 to 10⁹ |
    /// | `epsilon` | ε, nats | above 0, finite |
    /// | `delta` | δ | (0, 1) |
    ///
    /// # Guarantee
    /// The accountant's ε of the result is at most `epsilon`
    /// (`unit::the_most_votes_reach_the_target`).
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::accounting::pate::{NoisyVote, VoteAccounting, VoteNoise};
    /// let vote = NoisyVote::new(5, 1e-3, VoteNoise::BothCounts)?;
    /// let moments = VoteAccounting::Moments { orders: 100 };
    /// let iteration = 5 * 64;
    /// assert_eq!(vote.most_votes(iteration, 1.0, 1e-5, moments)?, 32 * iteration);
    /// # Ok::<(), dpscope_core::accounting::AccountingError>(())
    /// ```
    pub fn most_votes(
        &self,
        group: u64,
        epsilon: f64,
        delta: f64,
        accounting: VoteAccounting,
    ) -> Result<u64, AccountingError> {
        check_delta(delta)?;
        if !(epsilon > 0.0 && epsilon.is_finite()) {
            return Err(argument("epsilon", epsilon, "above 0 and finite"));
        }
        if !(1..=MOST_VOTES).contains(&group) {
            return Err(argument("group", group as f64, "in [1, 1e9]"));
        }
        let is_within = |groups: u64| -> Result<bool, AccountingError> {
            let votes = groups * group;
            let found = match accounting {
                VoteAccounting::Composition => self.composed_epsilon(votes, delta)?.upper,
                VoteAccounting::Moments { orders } => {
                    self.by_moments(votes, delta, orders)?.epsilon
                }
            };
            Ok(found <= epsilon)
        };
        let (mut within, mut beyond) = (0, 1);
        let most = MOST_VOTES / group;
        while beyond <= most && is_within(beyond)? {
            within = beyond;
            beyond = if beyond == most { most + 1 } else { (2 * beyond).min(most) };
        }
        while beyond - within > 1 {
            let middle = within.midpoint(beyond);
            if is_within(middle)? { within = middle } else { beyond = middle }
        }
        Ok(within * group)
    }

    fn by_moments(
        &self,
        votes: u64,
        delta: f64,
        orders: u32,
    ) -> Result<MomentsEpsilon, AccountingError> {
        check_orders(orders)?;
        moments_epsilon((1..=orders).map(|order| votes as f64 * self.moment(order)), delta)
    }
}

/// ε of votes whose counts are known. It depends on private data: it must not be published, and it
/// must not decide when a training stops.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountedVotesEpsilon {
    /// By the published moments of counted votes: removal of a record from these data alone.
    pub moments: MomentsEpsilon,
    /// By exact moments: removal of a record from these data.
    pub exact: MomentsEpsilon,
    /// By exact moments: addition of a record.
    pub exact_reverse: MomentsEpsilon,
}

impl NoisyVote {
    /// ε of votes with these counts n₁.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `counts` | votes for 1, of each vote | 0 to k each |
    /// | `delta` | δ | (0, 1) |
    /// | `orders` | largest order of the moments | 1 to 10,000 |
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    pub fn counted_votes_epsilon(
        &self,
        counts: &[u32],
        delta: f64,
        orders: u32,
    ) -> Result<CountedVotesEpsilon, AccountingError> {
        check_orders(orders)?;
        let mut times = vec![0_u64; self.teachers() as usize + 1];
        for &count in counts {
            let out_of_range = || argument("count", f64::from(count), "at most the teachers");
            *times.get_mut(count as usize).ok_or_else(out_of_range)? += 1;
        }
        let seen: Vec<(u32, f64)> = (0..)
            .zip(&times)
            .filter(|&(_, &times)| times > 0)
            .map(|(count, &times)| (count, times as f64))
            .collect();
        type Moment = fn(&NoisyVote, u32, u32) -> Result<f64, AccountingError>;
        let by = |moment: Moment| {
            let sum = |order| {
                let each = |&(count, times): &(u32, f64)| Ok(times * moment(self, count, order)?);
                seen.iter().map(each).sum::<Result<f64, AccountingError>>()
            };
            let moments = (1..=orders).map(sum).collect::<Result<Vec<f64>, _>>()?;
            // Each term is rounded; so many additions lose less than this.
            moments_epsilon(moments.into_iter().map(|moment| moment * (1.0 + 1e-11)), delta)
        };
        Ok(CountedVotesEpsilon {
            moments: by(Self::moment_of)?,
            exact: by(Self::exact_moment)?,
            exact_reverse: by(Self::exact_reverse_moment)?,
        })
    }

    /// The probability that a vote of all teachers for one class is released as that class.
    #[must_use]
    pub fn unanimous(&self) -> f64 {
        1.0 - math::exp(self.ln_minority(self.teachers().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::pate::VoteNoise;

    fn vote(gamma: f64) -> NoisyVote {
        NoisyVote::new(5, gamma, VoteNoise::BothCounts).unwrap()
    }

    #[test]
    fn the_most_votes_reach_the_target() {
        let moments = VoteAccounting::Moments { orders: 100 };
        for (gamma, group, epsilon) in [(1e-3, 320, 1.0), (1e-4, 320, 1.0), (0.05, 7, 3.0)] {
            for accounting in [moments, VoteAccounting::Composition] {
                let most = vote(gamma).most_votes(group, epsilon, 1e-5, accounting).unwrap();
                let of = |votes| {
                    let found = vote(gamma).votes_epsilon(votes, 1e-5, 100).unwrap();
                    match accounting {
                        VoteAccounting::Composition => found.composed.upper,
                        VoteAccounting::Moments { .. } => found.moments.epsilon,
                    }
                };
                assert!(most.is_multiple_of(group) && most > 0);
                assert!(of(most) <= epsilon && of(most + group) > epsilon, "{gamma} {most}");
            }
        }
        // published: B = 2 and 5 student steps, γ = 1e-3; B = 64, γ = 1e-4; a batch at γ = 1
        assert_eq!(vote(1e-3).most_votes(10, 1.0, 1e-5, moments).unwrap(), 10_400);
        assert_eq!(vote(1e-4).most_votes(320, 1.0, 1e-5, moments).unwrap(), 320 * 3_251);
        assert_eq!(vote(1.0).most_votes(64, 1.0, 1e-5, moments).unwrap(), 0);
        assert_eq!(vote(1e-6).most_votes(300, 1e3, 0.5, moments).unwrap(), 999_999_900);
    }

    #[test]
    fn counted_votes_agree_with_their_sum() {
        let counts = [0, 5, 5, 3, 2, 5];
        let found = vote(1.0).counted_votes_epsilon(&counts, 1e-3, 30).unwrap();
        let sum = |order| -> f64 {
            counts.iter().map(|&count| vote(1.0).exact_moment(count, order).unwrap()).sum()
        };
        let expected = moments_epsilon((1..=30).map(sum), 1e-3).unwrap();
        assert!((found.exact.epsilon / expected.epsilon - 1.0).abs() < 1e-10);
        assert!(found.exact.epsilon <= found.moments.epsilon);
        let whatever = vote(1.0).votes_epsilon(counts.len() as u64, 1e-3, 30).unwrap();
        assert!(found.moments.epsilon <= whatever.moments.epsilon * (1.0 + 1e-10));
        assert!(vote(1.0).counted_votes_epsilon(&[6], 1e-3, 30).is_err());
        assert!(vote(1.0).counted_votes_epsilon(&counts, 1e-3, 0).is_err());
    }

    #[test]
    fn little_noise_keeps_a_unanimous_label() {
        assert!((vote(1e-3).unanimous() - 0.5012).abs() < 1e-4);
        assert!(vote(10.0).unanimous() > 0.999_999);
    }

    #[test]
    fn arguments_outside_their_domain_are_rejected() {
        let most = |group, epsilon, delta| {
            vote(1.0).most_votes(group, epsilon, delta, VoteAccounting::Composition)
        };
        assert!(most(0, 1.0, 1e-5).is_err());
        assert!(most(u64::MAX, 1.0, 1e-5).is_err());
        assert!(most(1, 0.0, 1e-5).is_err());
        assert!(most(1, f64::NAN, 1e-5).is_err());
        assert!(most(1, 1.0, 0.0).is_err());
        assert!(vote(1.0).votes_epsilon(10, 1e-5, 10_001).is_err());
    }
}
