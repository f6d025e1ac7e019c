//! ε of many votes, without looking at them.

use super::NoisyVote;
use super::flip::Flip;
use crate::accounting::error::argument;
use crate::accounting::pld::check_delta;
use crate::accounting::{AccountingError, Given, PrivacyLossDistribution};
use crate::math;
use crate::special::{BetaDistribution, SpecialError};

/// Bounds on the ε of votes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EpsilonBracket {
    /// Some votes have at least this ε, nats.
    pub lower: f64,
    /// No votes have a larger ε, nats.
    pub upper: f64,
}

/// Most votes.
pub(super) const MOST_VOTES: u64 = 1_000_000_000;

/// Intervals of the grid of a loss between 0 and ε₀, at most.
const MOST_INTERVALS: f64 = 512.0;

/// Points of a composed distribution.
const COMPOSED_POINTS: f64 = 2_097_152.0;

impl NoisyVote {
    /// Bounds on the ε of several votes whose counts an adversary chooses, each after the last release.
    ///
    /// With H(ε) the largest δ(ε) over all pairs of votes that differ in one teacher, H is the
    /// privacy profile of a pair of distributions that dominates each vote; compositions of that
    /// pair dominate all adaptive compositions. H is evaluated on a grid of losses and connected by
    /// lines in e^ε, from above. From below: the same count in every vote, exactly.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `votes` | number of votes | 1 to 10⁹ |
    /// | `delta` | δ | (0, 1) |
    ///
    /// # Guarantee
    /// The exact value is within the bounds (`unit::brackets_contain_exact_compositions`).
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    ///
    /// # Reference
    /// Y. Zhu, J. Dong and Y.-X. Wang, Optimal accounting of differential privacy via characteristic
    /// function, 2022, for dominating pairs; V. Doroshenko et al., Connect the dots, 2022, for the grid.
    pub fn composed_epsilon(
        &self,
        votes: u64,
        delta: f64,
    ) -> Result<EpsilonBracket, AccountingError> {
        check_delta(delta)?;
        if !(1..=MOST_VOTES).contains(&votes) {
            return Err(argument("votes", votes as f64, "in [1, 1e9]"));
        }
        let all = self.epsilon() * votes as f64; // (ε, 0)-DP of each vote adds up
        let room = COMPOSED_POINTS / (16.0 * (votes as f64).sqrt());
        let intervals = MOST_INTERVALS.min(room).max(1.0) as usize;
        let dominating = self.dominating(intervals)?;
        let composed = dominating.self_composed_near(votes, Given::Delta(delta))?;
        let upper = composed.epsilon_at(delta)?.min(all);
        Ok(EpsilonBracket { lower: self.repeated(votes, delta)?.min(upper), upper })
    }

    /// The pair that dominates each vote, on 2·`intervals` + 1 losses from −ε₀ to ε₀.
    fn dominating(&self, intervals: usize) -> Result<PrivacyLossDistribution, AccountingError> {
        let step = self.epsilon() / intervals as f64;
        let flips = self.telling_flips()?;
        let profile = |index: usize| {
            let epsilon = index as f64 * step;
            flips.iter().map(|flip| flip.delta_at(epsilon)).fold(0.0, f64::max)
        };
        let upper: Vec<f64> = (0..=intervals).map(profile).collect();
        // each flip is there in both directions, so that H(−ε) = 1 − e^{−ε} + e^{−ε} H(ε)
        let last = intervals as i64;
        let at = |index: i64| {
            let epsilon = index as f64 * step;
            let profile = upper[index.unsigned_abs() as usize];
            if index >= 0 { profile } else { -math::exp_m1(epsilon) + math::exp(epsilon) * profile }
        };
        // in x = e^ε, H has slope −1 on the left of the grid and 0 on its right
        let slope = |index: i64| match index {
            index if index < -last => -1.0,
            index if index >= last => 0.0,
            _ => {
                let rise = math::exp(index as f64 * step) * math::exp_m1(step);
                (at(index + 1) - at(index)) / rise
            }
        };
        let mass = |index: i64| {
            let other = (slope(index) - slope(index - 1)).max(0.0);
            math::exp(index as f64 * step) * other
        };
        let mut masses: Vec<f64> = (-last..=last).map(mass).collect();
        let missing = 1.0 - masses.iter().sum::<f64>();
        if let Some(top) = masses.last_mut() {
            *top += missing.max(0.0);
        }
        PrivacyLossDistribution::from_masses(step, -last, masses, 0.0)
    }

    /// One flip of each pair of neighbouring counts, up to symmetry.
    fn telling_flips(&self) -> Result<Vec<Flip>, AccountingError> {
        let mut flips = Vec::new();
        for votes in 0..=self.teachers() / 2 {
            flips.extend(self.flips(votes)?);
        }
        Ok(flips)
    }

    /// The largest ε of one flip in every vote, rounded down, over all counts next to a tie, where few
    /// teachers decide the vote, and over counts further away at distances that grow by an eighth.
    fn repeated(&self, votes: u64, delta: f64) -> Result<f64, AccountingError> {
        let (tie, mut distance) = (self.teachers() / 2, 0);
        let mut largest: f64 = 0.0;
        while distance <= tie {
            for flip in self.flips(tie - distance)? {
                // a flip whose tails cannot be computed proves nothing
                largest = largest.max(flip.repeated(votes, delta).unwrap_or(0.0));
            }
            distance += 1 + distance / 8;
        }
        Ok(largest)
    }
}

impl Flip {
    /// A lower bound on ε of the same flip in every vote.
    ///
    /// With j releases of the outcome that P makes more likely, the loss is linear in j, and
    /// δ(ε) = P[J ≥ j₀] − e^ε Q[J ≥ j₀] for the smallest j₀ whose loss exceeds ε.
    fn repeated(&self, votes: u64, delta: f64) -> Result<f64, SpecialError> {
        let outcome = usize::from(self.losses[1] > self.losses[0]);
        let (gain, loss) = (self.losses[outcome], self.losses[1 - outcome]);
        let (p, q) = (math::exp(self.ln_p[outcome]), math::exp(self.ln_q[outcome]));
        if !(p > 0.0 && gain > loss) {
            return Ok(0.0); // underflow: the outcome is too rare to prove anything
        }
        let q = q.max(f64::MIN_POSITIVE);
        let n = votes as f64;
        let delta_at = |epsilon: f64| -> Result<f64, SpecialError> {
            let least = ((epsilon - n * loss) / (gain - loss)).floor() + 1.0;
            if least < 1.0 || least > n {
                return Ok(if least < 1.0 { -math::exp_m1(epsilon) } else { 0.0 });
            }
            // P[Binomial(n, p) ≥ j] = I_p(j, n − j + 1)
            let counts = BetaDistribution::new(least, n - least + 1.0)?;
            // with little noise, a probability is rounded to 1
            let tail = |x: f64| if x < 1.0 { counts.cdf(x) } else { Ok(1.0) };
            let error = 1e-11; // of both tails
            Ok(tail(p)? * (1.0 - error) - math::exp(epsilon) * tail(q)? * (1.0 + error))
        };
        let (mut low, mut high) = (0.0, n * gain);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if delta_at(middle)? >= delta { low = middle } else { high = middle }
        }
        Ok(low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::pate::{VoteNoise, moments_epsilon};

    /// δ(ε) of a flip that is repeated, by its binomial sum.
    fn delta(flip: Flip, votes: u64, epsilon: f64) -> f64 {
        let term = |count: u64| {
            let [zeros, ones] = [(votes - count) as f64, count as f64];
            let loss = zeros * flip.losses[0] + ones * flip.losses[1];
            let ways = crate::special::ln_gamma(votes as f64 + 1.0).unwrap()
                - crate::special::ln_gamma(zeros + 1.0).unwrap()
                - crate::special::ln_gamma(ones + 1.0).unwrap();
            let mass = math::exp(ways + zeros * flip.ln_p[0] + ones * flip.ln_p[1]);
            if loss > epsilon { -mass * math::exp_m1(epsilon - loss) } else { 0.0 }
        };
        (0..=votes).map(term).sum()
    }

    #[test]
    fn brackets_contain_exact_compositions() {
        let cases = [
            (2, 1e-3, 10_240, 1e-5),
            (5, 0.05, 300, 1e-5),
            (5, 1.0, 7, 1e-6),
            (6, 0.3, 40, 1e-3),
            (1, 0.5, 10, 1e-5),
            (9, 3.0, 2, 1e-9),
        ];
        for noise in [VoteNoise::BothCounts, VoteNoise::OneCount] {
            for (teachers, gamma, votes, delta_of) in cases {
                let vote = NoisyVote::new(teachers, gamma, noise).unwrap();
                let EpsilonBracket { lower, upper } =
                    vote.composed_epsilon(votes, delta_of).unwrap();
                assert!(lower <= upper && upper > 0.0, "{lower} {upper}");
                let largest = |epsilon: f64| {
                    let flips = vote.telling_flips().unwrap();
                    flips.iter().map(|&f| delta(f, votes, epsilon)).fold(0.0, f64::max)
                };
                assert!(largest(upper) <= delta_of * (1.0 + 1e-9), "{teachers} {gamma} {votes}");
                assert!(largest(lower) >= delta_of * (1.0 - 1e-9) || lower == 0.0);
                // close to each other, and better than moments
                assert!(lower > 0.85 * upper, "{noise:?} {teachers} {gamma}: {lower} {upper}");
                let moments = (1..=1_000).map(|order| votes as f64 * vote.moment(order));
                assert!(upper < moments_epsilon(moments, delta_of).unwrap().epsilon);
            }
        }
    }

    #[test]
    fn a_narrower_grid_is_not_below_the_exact_value() {
        let vote = NoisyVote::new(4, 0.4, VoteNoise::BothCounts).unwrap();
        let fine = vote.dominating(512).unwrap();
        for intervals in [1, 2, 3, 10, 100] {
            let coarse = vote.dominating(intervals).unwrap();
            for at in 0..20 {
                let epsilon = f64::from(at) * 0.04;
                let flips = vote.telling_flips().unwrap();
                let exact = flips.iter().map(|flip| flip.delta_at(epsilon)).fold(0.0, f64::max);
                let found = coarse.delta_at(epsilon).unwrap();
                assert!(found >= exact * (1.0 - 1e-12), "{intervals} {epsilon}: {found} {exact}");
                assert!(fine.delta_at(epsilon).unwrap() <= exact + 1e-5);
            }
        }
    }

    #[test]
    fn the_lower_bound_of_one_vote_is_exact() {
        for noise in [VoteNoise::BothCounts, VoteNoise::OneCount] {
            for (teachers, gamma) in
                [(5, 50.0), (2, 100.0), (130, 3.0), (1_000, 0.3), (1_001, 3.0), (10_000, 5.0)]
            {
                let vote = NoisyVote::new(teachers, gamma, noise).unwrap();
                let found = vote.composed_epsilon(1, 1e-5).unwrap();
                // δ(ε) = P − e^ε Q of the outcome that P makes more likely
                let exact = |flip: &Flip| {
                    let outcome = usize::from(flip.losses[1] > flip.losses[0]);
                    let above = math::exp(flip.ln_p[outcome]) - 1e-5;
                    if above > 0.0 { math::ln(above) - flip.ln_q[outcome] } else { 0.0 }
                };
                let flips = vote.telling_flips().unwrap();
                let exact = flips.iter().map(exact).fold(0.0, f64::max);
                assert!(found.lower <= exact * (1.0 + 1e-12), "{teachers} {gamma} {found:?}");
                assert!(found.lower >= exact - 1e-6, "{teachers} {gamma}: {found:?} {exact}");
                assert!(found.upper >= exact, "{teachers} {gamma}: {found:?} {exact}");
            }
        }
    }

    #[test]
    fn arguments_outside_their_domain_are_rejected() {
        let vote = NoisyVote::new(5, 1.0, VoteNoise::BothCounts).unwrap();
        for delta in [0.0, 1.0, f64::NAN] {
            assert!(vote.composed_epsilon(10, delta).is_err());
        }
        assert!(vote.composed_epsilon(0, 1e-5).is_err());
        assert!(vote.composed_epsilon(2_000_000_000, 1e-5).is_err());
        let many = vote.composed_epsilon(1_000_000_000, 1e-5).unwrap();
        assert!(many.upper.is_finite());
    }
}
