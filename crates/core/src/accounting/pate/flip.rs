//! Two neighbouring votes.

use super::NoisyVote;
use crate::accounting::AccountingError;
use crate::math;

/// The release with the data at hand (P) and with one vote flipped (Q), 0 and 1 in this order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Flip {
    /// ln P of each outcome.
    pub(super) ln_p: [f64; 2],
    /// ln Q of each outcome.
    pub(super) ln_q: [f64; 2],
    /// ln P/Q, without cancellation.
    pub(super) losses: [f64; 2],
}

impl Flip {
    /// From majorities n₁ − n₀ that differ by 2.
    pub(super) fn new(vote: &NoisyVote, majority: i64, other: i64) -> Self {
        // the side towards which both lean, or P if they lean to both
        let leans_to_one = majority + other > 0 || (majority + other == 0 && majority > 0);
        let (gap, other_gap) = (majority.unsigned_abs(), other.unsigned_abs());
        let (minority, majority_loss, minority_loss, other_minority);
        if majority + other == 0 {
            // q(1) and 1 − q(1)
            let excess = vote.excess_of_one();
            minority = vote.ln_minority(gap);
            // with little noise the excess is near 1/2, and only q(1) is precise
            minority_loss = if excess < 0.25 {
                math::ln_1p(-2.0 * excess / (0.5 + excess))
            } else {
                minority - math::ln_1p(-math::exp(minority))
            };
            majority_loss = -minority_loss;
            other_minority = minority - minority_loss;
        } else {
            let ratio = vote.ln_minority_ratio(gap.min(other_gap));
            minority_loss = if gap < other_gap { ratio } else { -ratio };
            minority = vote.ln_minority(gap);
            other_minority = vote.ln_minority(other_gap);
            // (1 − q)/(1 − q') = 1 + (q' − q)/(1 − q'), where q' − q = −q'(e^{loss} − 1)
            let q = math::exp(other_minority);
            majority_loss = math::ln_1p(-q * math::exp_m1(minority_loss) / (1.0 - q));
        }
        // q follows from the losses: with little noise, 1 − e^{ln q} of the other outcome rounds to 0
        let majority = math::ln_1p(-math::exp(minority));
        let (p, q) = ([minority, majority], [other_minority, majority - majority_loss]);
        let losses = [minority_loss, majority_loss];
        let ordered = |[few, many]: [f64; 2]| if leans_to_one { [few, many] } else { [many, few] };
        Self { ln_p: ordered(p), ln_q: ordered(q), losses: ordered(losses) }
    }

    /// The flip seen from the other side.
    pub(super) fn reversed(self) -> Self {
        let losses = self.losses.map(|loss| -loss);
        Self { ln_p: self.ln_q, ln_q: self.ln_p, losses }
    }

    /// ln of the moment of order l, ln E_P (P/Q)^l.
    pub(super) fn moment(&self, order: f64) -> f64 {
        let powers = self.losses.map(|loss| order * loss);
        if powers[0].max(powers[1]) < 1.0 {
            let terms = [0, 1].map(|at| math::exp(self.ln_p[at]) * math::exp_m1(powers[at]));
            return math::ln_1p(terms[0] + terms[1]).max(0.0);
        }
        let [first, second] = [0, 1].map(|at| self.ln_p[at] + powers[at]);
        first.max(second) + math::ln_1p(math::exp(-(first - second).abs()))
    }

    /// δ(ε) = Σ (P − e^ε Q)₊.
    pub(super) fn delta_at(&self, epsilon: f64) -> f64 {
        let positive = |at: usize| {
            let above = self.losses[at] - epsilon;
            if above > 0.0 { math::exp(self.ln_p[at]) * -math::exp_m1(-above) } else { 0.0 }
        };
        positive(0) + positive(1)
    }
}

impl NoisyVote {
    /// What one teacher can change of a vote with n₁ = `votes`: up to two neighbours.
    pub(super) fn flips(&self, votes: u32) -> Result<impl Iterator<Item = Flip>, AccountingError> {
        let majority = self.majority(votes)?;
        let vote = *self;
        let neighbours = [majority - 2, majority + 2].into_iter();
        let most = i64::from(self.teachers);
        Ok(neighbours
            .filter(move |other| other.abs() <= most)
            .map(move |other| Flip::new(&vote, majority, other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::pate::VoteNoise;

    #[test]
    fn losses_are_ratios_of_probabilities() {
        for noise in [VoteNoise::BothCounts, VoteNoise::OneCount] {
            for (teachers, gamma) in
                [(1, 1.0), (2, 0.3), (5, 0.01), (6, 2.0), (9, 1.0), (1, 12.0), (3, 30.0)]
            {
                let vote = NoisyVote::new(teachers, gamma, noise).unwrap();
                for votes in 0..=teachers {
                    for flip in vote.flips(votes).unwrap() {
                        let back = flip.reversed();
                        assert_eq!(back.reversed(), flip);
                        let ones = vote.probability(votes).unwrap();
                        assert!((math::exp(flip.ln_p[1]) - ones).abs() < 1e-14);
                        for at in 0..2 {
                            let loss = flip.ln_p[at] - flip.ln_q[at];
                            assert!((loss - flip.losses[at]).abs() < 1e-13, "{teachers} {votes}");
                            assert!(loss.abs() <= vote.epsilon() * (1.0 + 1e-12));
                        }
                        let sum: f64 = flip.ln_q.iter().map(|&ln| math::exp(ln)).sum();
                        assert!((sum - 1.0).abs() < 1e-14);
                    }
                }
            }
        }
    }
}
