//! Moments of the votes, as the mechanism's accountant computes them.

use dpscope_core::accounting::AccountingError;
use dpscope_core::accounting::pate::{NoisyVote, VoteNoise};
use dpscope_core::math;

use crate::fault::{Fault, FaultSet};

/// Which moment an accountant assigns to a vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteAccountant {
    /// The smaller of the bound for all votes and the data-dependent one under its condition.
    Valid,
    /// Uses the data-dependent moment for every q, and not the bound ε₀ l.
    ConditionIgnored,
    /// In addition, with q e^{ε₀ (l − 1) + 1} in place of q e^{ε₀ l}, and no moment below 0.
    OneOrderLess,
    /// As [`VoteAccountant::ConditionIgnored`], without the logarithm.
    NoLogarithm,
}

impl VoteAccountant {
    /// The accountant of a mechanism.
    #[must_use]
    pub fn of(faults: FaultSet) -> Self {
        let switches = [
            (Fault::B1, VoteAccountant::NoLogarithm),
            (Fault::S2, VoteAccountant::OneOrderLess),
            (Fault::E7, VoteAccountant::ConditionIgnored),
        ];
        let found = switches.into_iter().find(|(fault, _)| faults.has(*fault));
        found.map_or(VoteAccountant::Valid, |(_, accountant)| accountant)
    }

    /// The moment of order l of a vote; NaN where a published accountant has none.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `vote` | teachers and noise | – |
    /// | `ones` | n₁ | 0 to k |
    /// | `order` | l | ≥ 1 |
    ///
    /// # Guarantee
    /// Equal to the published functions (`tests/oracles/golden.rs::votes_agree`).
    ///
    /// # Errors
    /// More votes than teachers.
    pub fn moment(self, vote: &NoisyVote, ones: u32, order: u32) -> Result<f64, AccountingError> {
        let probability = vote.probability(ones)?;
        let q = vote.probability(vote.teachers() - ones)?.min(probability);
        let (epsilon, l) = (vote.epsilon(), f64::from(order));
        let quadratic = epsilon * epsilon * l * (l + 1.0) / 2.0;
        let without_logarithm = |tail: f64| {
            let rest = 1.0 - math::exp(epsilon) * q;
            let base = if rest == 0.0 { f64::INFINITY } else { (1.0 - q) / rest };
            (1.0 - q) * math::powf(base, l) + q * math::exp(tail)
        };
        // NaN is neither smaller nor larger
        let least = |moment: f64| if moment > quadratic { quadratic } else { moment };
        Ok(match self {
            Self::Valid => vote.moment_of(ones, order)?,
            Self::ConditionIgnored => least(math::ln(without_logarithm(epsilon * l))),
            Self::OneOrderLess => {
                let moment = least(math::ln(without_logarithm(epsilon * (l - 1.0) + 1.0)));
                if moment < 0.0 { 0.0 } else { moment }
            }
            Self::NoLogarithm => without_logarithm(epsilon * l).min(quadratic),
        })
    }
}

/// Moments of orders 1 to L for each number of votes.
#[derive(Debug, Clone)]
pub(crate) struct MomentTable {
    orders: u32,
    /// Moments by number of votes n₁ and order l, [n₁][l − 1]
    moments: Vec<f64>,
    /// Bounds for all votes, [l − 1].
    bounds: Vec<f64>,
}

impl MomentTable {
    pub(crate) fn new(
        accountant: VoteAccountant,
        vote: &NoisyVote,
        orders: u32,
    ) -> Result<Self, AccountingError> {
        let mut moments = Vec::new();
        for ones in 0..=vote.teachers() {
            for order in 1..=orders {
                moments.push(accountant.moment(vote, ones, order)?);
            }
        }
        let bounds = (1..=orders).map(|order| vote.moment(order)).collect();
        Ok(MomentTable { orders, moments, bounds })
    }

    /// α(l) of votes, `counts[n₁]` of each kind.
    pub(crate) fn sums(&self, counts: &[u64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.orders as usize];
        let rows = self.moments.chunks_exact(self.orders as usize).zip(counts);
        for (row, count) in rows.filter(|(_, count)| **count > 0) {
            for (sum, moment) in sums.iter_mut().zip(row) {
                *sum += *count as f64 * moment;
            }
        }
        sums
    }

    /// α(l) of any votes.
    pub(crate) fn bounds(&self, votes: u64) -> impl Iterator<Item = f64> {
        self.bounds.iter().map(move |moment| votes as f64 * moment)
    }
}

/// The vote of a mechanism, as its accountant sees it.
pub(crate) fn accounted_vote(teachers: u32, gamma: f64) -> Result<NoisyVote, AccountingError> {
    NoisyVote::new(teachers, gamma, VoteNoise::BothCounts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faulty_accountants_claim_other_moments() {
        let vote = accounted_vote(5, 1.0).unwrap();
        let sums = |faults: &str, counts: &[u64]| {
            let accountant = VoteAccountant::of(faults.parse().unwrap());
            MomentTable::new(accountant, &vote, 100).unwrap().sums(counts)
        };
        let unanimous = [0, 0, 0, 0, 0, 320];
        let valid = sums("", &unanimous);
        for fault in ["S2", "B1", "E7"] {
            assert_ne!(sums(fault, &unanimous), valid, "{fault}");
        }
        // without its condition, the moment of a narrow majority lies below what is proven
        let narrow = [0, 0, 0, 320, 0, 0];
        assert!(sums("E7", &narrow)[99] < sums("", &narrow)[99]);
        let bounds: Vec<f64> =
            MomentTable::new(VoteAccountant::Valid, &vote, 100).unwrap().bounds(320).collect();
        assert!(valid.iter().zip(&bounds).all(|(moment, bound)| moment <= bound));
    }
}
