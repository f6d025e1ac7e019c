//! Moments of votes, and ε from their sums.

use super::NoisyVote;
use super::flip::Flip;
use crate::accounting::AccountingError;
use crate::accounting::error::argument;
use crate::accounting::pld::check_delta;
use crate::math;

/// ε by moments.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MomentsEpsilon {
    /// Privacy parameter ε, in nats.
    pub epsilon: f64,
    /// The order l that attains it.
    pub order: u32,
}

/// ε = min_l (α(l) + ln 1/δ)/l, for the moments of orders 1, 2, ….
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `moments` | α(1), α(2), …, of all votes together | ≥ 0; infinite ones are passed over |
/// | `delta` | δ | (0, 1) |
///
/// # Guarantee
/// Rounded up; a mechanism with these moments is (ε, δ)-DP in their directions
/// (`tests/oracles/golden.rs::votes_agree`).
///
/// # Errors
/// [`AccountingError::Argument`] for δ outside its domain, a negative moment or NaN, or no finite one.
pub fn moments_epsilon(
    moments: impl IntoIterator<Item = f64>,
    delta: f64,
) -> Result<MomentsEpsilon, AccountingError> {
    check_delta(delta)?;
    let mut best = MomentsEpsilon { epsilon: f64::INFINITY, order: 0 };
    for (moment, order) in moments.into_iter().zip(1_u32..) {
        if !(moment >= 0.0) {
            return Err(argument("moment", moment, "0 or more"));
        }
        let epsilon = (moment - math::ln(delta)) / f64::from(order) * (1.0 + 1e-14);
        if epsilon < best.epsilon {
            best = MomentsEpsilon { epsilon, order };
        }
    }
    if best.order == 0 {
        return Err(argument("moments", f64::INFINITY, "finite for some order"));
    }
    Ok(best)
}

/// Rejects a largest order outside 1 to 10,000.
pub(super) fn check_orders(orders: u32) -> Result<(), AccountingError> {
    if (1..=10_000).contains(&orders) {
        return Ok(());
    }
    Err(argument("orders", f64::from(orders), "in [1, 10000]"))
}

impl NoisyVote {
    /// A bound on the moment of order l of any vote: min(ε₀² l(l + 1)/2, ε₀ l), with ε₀ =
    /// [`NoisyVote::epsilon`].
    #[must_use]
    pub fn moment(&self, order: u32) -> f64 {
        let (epsilon, order) = (self.epsilon(), f64::from(order));
        (epsilon * epsilon * order * (order + 1.0) / 2.0).min(epsilon * order)
    }

    /// The smaller of [`Self::moment`] and what the votes allow.
    ///
    /// With q the probability of the minority, where q < 1/(1 + e^{ε₀}),
    /// ln[(1 − q)((1 − q)/(1 − e^{ε₀} q))^l + q e^{ε₀ l}]
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `votes` | n₁ | 0 to k |
    /// | `order` | l | ≥ 1 |
    ///
    /// # Guarantee
    /// Not below the exact moment under the data at hand
    /// (`unit::bounds_are_not_below_exact_moments`), but possibly below that under a neighbour
    /// (`unit::the_other_direction_may_exceed_the_bound`); it depends on the votes, and must not be
    /// published.
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    pub fn moment_of(&self, votes: u32, order: u32) -> Result<f64, AccountingError> {
        let bound = self.moment(order);
        let ln_q = self.ln_minority(self.majority(votes)?.unsigned_abs());
        let (q, epsilon, order) = (math::exp(ln_q), self.epsilon(), f64::from(order));
        if q >= 1.0 / (1.0 + math::exp(epsilon)) {
            return Ok(bound);
        }
        let rare = order * (math::ln_1p(-q) - math::ln_1p(-math::exp(epsilon + ln_q)));
        let moment = if rare.max(epsilon * order) < 30.0 {
            math::ln_1p((1.0 - q) * math::exp_m1(rare) + q * math::exp_m1(epsilon * order))
        } else {
            let (first, second) = (math::ln_1p(-q) + rare, ln_q + epsilon * order);
            first.max(second) + math::ln_1p(math::exp(-(first - second).abs()))
        };
        Ok(moment.min(bound))
    }

    /// ln E (P/Q)^l under P, the release from the data at hand; Q differs from it in one teacher, in the
    /// worse way.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `votes` | n₁ | 0 to k |
    /// | `order` | l | ≥ 1 |
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    ///
    /// # Numerics
    /// Relative error about 1e-16/γ for γ below 1.
    pub fn exact_moment(&self, votes: u32, order: u32) -> Result<f64, AccountingError> {
        let moment = |flip: Flip| flip.moment(f64::from(order));
        Ok(self.flips(votes)?.map(moment).fold(0.0, f64::max))
    }

    /// ln E (Q/P)^l under Q, in the notation of [`Self::exact_moment`].
    ///
    /// # Errors
    /// As [`Self::exact_moment`].
    pub fn exact_reverse_moment(&self, votes: u32, order: u32) -> Result<f64, AccountingError> {
        let moment = |flip: Flip| flip.reversed().moment(f64::from(order));
        Ok(self.flips(votes)?.map(moment).fold(0.0, f64::max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::pate::VoteNoise;

    const TEACHERS: [u32; 8] = [1, 2, 3, 5, 12, 25, 49, 50];
    const GAMMAS: [f64; 9] = [1e-4, 1e-3, 0.01, 0.1, 0.3, 0.7, 1.0, 2.0, 3.0];

    /// Bounds of all votes and orders to 100 on the grid that lie below the exact moment.
    fn too_small(bound: impl Fn(&NoisyVote, u32, u32) -> f64) -> usize {
        let mut count = 0;
        for (teachers, gamma) in TEACHERS.iter().flat_map(|k| GAMMAS.map(|gamma| (*k, gamma))) {
            let vote = NoisyVote::new(teachers, gamma, VoteNoise::BothCounts).unwrap();
            for (votes, order) in (0..=teachers).flat_map(|n| (1..=100).map(move |l| (n, l))) {
                let exact = vote.exact_moment(votes, order).unwrap();
                count += usize::from(!(bound(&vote, votes, order) >= exact * (1.0 - 1e-10)));
            }
        }
        count
    }

    #[test]
    fn bounds_are_not_below_exact_moments() {
        assert_eq!(too_small(|vote, votes, order| vote.moment_of(votes, order).unwrap()), 0);
        let any_votes = |vote: &NoisyVote, votes: u32, order: u32| {
            let reverse = vote.exact_reverse_moment(votes, order).unwrap();
            let bound = vote.moment(order);
            let holds = bound >= reverse * (1.0 - 1e-10);
            if holds && vote.moment_of(votes, order).unwrap() <= bound { bound } else { 0.0 }
        };
        assert_eq!(too_small(any_votes), 0);
        // without its condition on q, the data-dependent moment does not hold
        let unconditional = |vote: &NoisyVote, votes: u32, order: u32| {
            let q = vote
                .probability(votes)
                .unwrap()
                .min(vote.probability(vote.teachers() - votes).unwrap());
            let (l, grown) = (f64::from(order), math::exp(vote.epsilon()) * q);
            let base = (1.0 - q) / (1.0 - grown).abs();
            math::ln((1.0 - q) * math::powf(base, l) + q * math::exp(vote.epsilon() * l))
                .min(vote.moment(order))
        };
        assert!(too_small(unconditional) > 0);
    }

    #[test]
    fn the_other_direction_may_exceed_the_bound() {
        let vote = NoisyVote::new(12, 2.0, VoteNoise::BothCounts).unwrap();
        for order in 1..=8 {
            let sum = |moment: &dyn Fn(u32) -> f64| [12, 11, 10].map(moment).iter().sum::<f64>();
            let bound = sum(&|votes| vote.moment_of(votes, order).unwrap());
            let reverse = sum(&|votes| vote.exact_reverse_moment(votes, order).unwrap());
            assert!(reverse > bound, "{order}");
        }
    }

    #[test]
    fn epsilon_needs_moments_and_a_delta() {
        assert!(moments_epsilon([], 1e-5).is_err());
        assert!(moments_epsilon([f64::INFINITY], 1e-5).is_err());
        assert!(moments_epsilon([f64::NAN], 1e-5).is_err());
        for delta in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(moments_epsilon([1.0], delta).is_err());
        }
        let found = moments_epsilon([f64::INFINITY, 1.0, 2.0], 1e-5).unwrap();
        assert_eq!(found.order, 3);
    }
}
