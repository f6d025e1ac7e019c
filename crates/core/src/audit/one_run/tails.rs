//! Tails of binomial counts and the p-values that they yield.

use super::root::last_below;
use crate::math;
use crate::special::{BetaDistribution, Tail, UnitPoint};

/// A value below x by more than the error of the root of a p-value: 1e-13 (1 + x).
pub(in crate::audit) fn rounded_down(x: f64) -> f64 {
    (x - 1e-13 * (1.0 + x)).max(0.0)
}

/// Tails of Bin(k, q) around v, with what does not depend on q computed once.
pub(super) struct Tails {
    canaries: f64,
    guesses: f64,
    correct: f64,
    /// ln of the odds of a correct guess at ε = 0, ln(q/(1 − q)).
    ln_odds: f64,
    /// Factor of δ.
    share: f64,
    /// Distribution of the v-th smallest of k uniforms; none if v = 0.
    order_statistic: Option<BetaDistribution>,
}

impl Tails {
    pub(super) fn new(
        canaries: u64,
        [guesses, correct]: [u64; 2],
        ln_odds: f64,
        share: f64,
    ) -> Self {
        let (guesses, correct) = (guesses as f64, correct as f64);
        let order_statistic = (correct > 0.0)
            .then(|| BetaDistribution::with_shapes(correct, guesses - correct + 1.0));
        Self { canaries: canaries as f64, guesses, correct, ln_odds, share, order_statistic }
    }

    /// The largest probability of a correct guess.
    fn accuracy(&self, epsilon: f64) -> UnitPoint {
        UnitPoint::from_logit(epsilon + self.ln_odds)
    }

    /// The supremum of the ε with p(ε, δ) < α, rounded down; 0 if there is none.
    pub(super) fn epsilon_lower(&self, delta: f64, significance: f64) -> f64 {
        if self.correct == self.guesses {
            return rounded_down(self.all_correct(delta, significance));
        }
        rounded_down(last_below(significance, |epsilon| self.at(epsilon, delta)))
    }

    /// The end of rejection at v = k, where q^k + (mδ/k)(1 − q^k) = α has the solution
    /// q^k = (kα − mδ)/(k − mδ); the difference is formed from exact products.
    fn all_correct(&self, delta: f64, significance: f64) -> f64 {
        let k = self.guesses;
        let (high, low) = math::two_product(self.canaries, self.share * delta);
        let (needed, needed_low) = math::two_product(k, significance);
        let excess = (needed - high) + (needed_low - low);
        if excess <= 0.0 {
            return 0.0;
        }
        let ln_q = math::ln(excess / (k - high)) / k;
        // ln(q/(1 − q)) − ln_odds
        (-self.ln_odds + ln_q - math::ln(-math::exp_m1(ln_q))).max(0.0)
    }

    /// The p-value p(ε, δ).
    pub(super) fn at(&self, epsilon: f64, delta: f64) -> f64 {
        let Some(order_statistic) = self.order_statistic else {
            return 1.0;
        };
        let q = self.accuracy(epsilon);
        let ln_reached = order_statistic.ln_tail(Tail::Lower, q);
        let reached = math::exp(ln_reached);
        let budget = self.canaries * (self.share * delta);
        if budget == 0.0 {
            return reached;
        }
        // v f(v) (1 − q) is the density of logit q
        let ln_missed = order_statistic.ln_tail(Tail::Upper, q);
        let ln_step = order_statistic.ln_logit_density(q) - math::ln(q.complement());
        (reached + budget * math::exp(ln_reached + ln_missed - ln_step)).min(1.0)
    }

    /// The p-value of Steinke et al.
    pub(super) fn steinke(&self, epsilon: f64, delta: f64) -> f64 {
        let Some(order_statistic) = self.order_statistic else {
            return 1.0;
        };
        let q = self.accuracy(epsilon);
        let reached = order_statistic.tail(Tail::Lower, q);
        let budget = 2.0 * self.canaries * delta;
        (reached + budget * self.largest_mean_below(q, &order_statistic)).min(1.0)
    }

    /// max over i of the mean of P\[W = j\] over the i integers below v.
    fn largest_mean_below(&self, q: UnitPoint, order_statistic: &BetaDistribution) -> f64 {
        const LARGE: f64 = 1e200;
        let odds = q.value() / q.complement();
        // in units of e^ln_unit: P[W = v] may underflow
        let ln_step = order_statistic.ln_logit_density(q) - math::ln(q.complement());
        let mut ln_unit = ln_step - math::ln(self.correct);
        let mut j = self.correct;
        let (mut probability, mut sum, mut terms) = (1.0, 0.0, 0.0);
        while j >= 1.0 {
            probability *= j / ((self.guesses - j + 1.0) * odds);
            j -= 1.0;
            // probabilities rise to the mode and fall below it, and so does the mean
            if terms > 0.0 && probability * terms < sum {
                break;
            }
            sum += probability;
            terms += 1.0;
            if probability > LARGE {
                (probability, sum) = (probability / LARGE, sum / LARGE);
                ln_unit += math::ln(LARGE);
            }
        }
        if terms > 0.0 { math::exp(ln_unit + math::ln(sum / terms)) } else { 0.0 }
    }
}
