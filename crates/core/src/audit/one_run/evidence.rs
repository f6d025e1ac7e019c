//! E-values: evidence that multiplies over runs.

use super::walk::check_ranking;
use super::{CanaryGame, OneRunError, check_delta, check_epsilon};
use crate::math;

/// Correct guesses among the first k of a ranking, for one or several k.
///
/// E(ε) = mean over k and g ∈ {0.1, …, 0.9} of (θ/q)^v ((1 − θ)/(1 − q))^{k − v}, θ = q + (1 − q)g,
/// has a mean of at most 1 if training is (ε, 0)-DP. Values of several runs multiply, and runs may be
/// stopped at any time: the product exceeds 1/α with probability at most α. For δ > 0 pass
/// α = 1/max ΠE to [`CanaryGame::monotone_p_value`], with m the canaries of all runs that the plan
/// allows, done or not.
#[derive(Debug, Clone, PartialEq)]
pub struct GuessRecord {
    game: CanaryGame,
    sizes: Vec<u64>,
    correct: Vec<u64>,
}

impl GuessRecord {
    /// `correct[i]` of the first `sizes[i]` guesses, nested.
    ///
    /// # Errors
    /// [`OneRunError::Lengths`], [`OneRunError::Guesses`], [`OneRunError::Correct`],
    /// [`OneRunError::Ranking`].
    pub fn new(game: CanaryGame, sizes: Vec<u64>, correct: Vec<u64>) -> Result<Self, OneRunError> {
        check_ranking(game, &sizes, &correct)?;
        Ok(Self { game, sizes, correct })
    }

    /// The canaries of the run.
    #[must_use]
    pub const fn game(&self) -> CanaryGame {
        self.game
    }

    /// Numbers of guesses, and the correct ones.
    pub(super) fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        self.sizes.iter().copied().zip(self.correct.iter().copied())
    }

    /// The record if all guesses were correct.
    pub(super) fn all_correct(&self) -> Self {
        Self { game: self.game, sizes: self.sizes.clone(), correct: self.sizes.clone() }
    }

    /// ln of the e-value at ε, ln E(ε).
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`].
    pub fn ln_e_value(&self, epsilon: f64) -> Result<f64, OneRunError> {
        check_epsilon(epsilon)?;
        Ok(self.ln_e(epsilon))
    }

    pub(super) fn ln_e(&self, epsilon: f64) -> f64 {
        let q = self.game.accuracy(epsilon);
        let terms: Vec<f64> = self
            .sizes
            .iter()
            .zip(&self.correct)
            .flat_map(|(&size, &correct)| {
                (1..10_u32).map(move |tenths| {
                    let gain = f64::from(tenths) / 10.0;
                    let (right, wrong) = (correct as f64, (size - correct) as f64);
                    // θ/q = 1 + g(1 − q)/q and (1 − θ)/(1 − q) = 1 − g
                    right * math::ln_1p(gain * (q.complement() / q.value()))
                        + wrong * math::ln_1p(-gain)
                })
            })
            .collect();
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = terms.iter().map(|term| math::exp(term - largest)).sum();
        largest + math::ln(sum / terms.len() as f64)
    }
}

impl CanaryGame {
    /// The largest probability under (ε, δ)-DP of an event whose probability is at most `level`
    /// where the coins of all guesses are independent and correct with probability q.
    ///
    /// p = α + mδ(1 − α) ln(1/q)/ln(1/α), at most 1
    ///
    /// The event must be monotone: a guess that becomes correct never leaves it, for any fixed output
    /// of the training. Tests that choose the number of guesses by the data, walks along a ranking
    /// and e-values have this form.
    ///
    /// # Proof
    /// Let t(x) be the density of the pattern x of correct guesses against independent ones. Turning
    /// one coin relates t(x) to t without one correct guess, and Σ_i E\[x_i (t(x) − t(x − e_i))₊\] ≤ mδ.
    /// Averaging t over pairs in which it decreases keeps this sum small and the probability of the
    /// event large, so t may be monotone; on each of its level sets B, Σ_i P\[x_i = 1, i pivotal\] ≥
    /// P\[B\] ln P\[B\]/ln q.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`], [`OneRunError::Delta`]. A level outside (0, 1) yields 1.
    pub fn monotone_p_value(
        &self,
        level: f64,
        epsilon: f64,
        delta: f64,
    ) -> Result<f64, OneRunError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        Ok(self.monotone_p(level, epsilon, delta))
    }

    pub(super) fn monotone_p(&self, level: f64, epsilon: f64, delta: f64) -> f64 {
        /// The logarithm of a smaller level would be rounding noise of its sum.
        const SMALLEST: f64 = 1e-290;
        let level = level.max(SMALLEST);
        if level.is_nan() || level >= 1.0 {
            return 1.0;
        }
        let others = f64::from(self.set_size() - 1);
        let ln_inverse_q = math::ln_1p(others * math::exp(-epsilon));
        let budget = self.canaries() as f64 * delta;
        (level + budget * (1.0 - level) * ln_inverse_q / -math::ln(level)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::ln_binomial_pmf;

    #[test]
    fn the_mean_is_one_at_the_worst_case() {
        let game = CanaryGame::coins(30).unwrap();
        for epsilon in [0.0, 0.7, 2.0] {
            let q = game.accuracy(epsilon).value();
            let mean: f64 = (0..=30)
                .map(|correct| {
                    let record = GuessRecord::new(game, vec![30], vec![correct]).unwrap();
                    let ln_e = record.ln_e_value(epsilon).unwrap();
                    math::exp(ln_e + ln_binomial_pmf(correct, 30, q).unwrap())
                })
                .sum();
            assert!((mean - 1.0).abs() < 1e-12, "{epsilon}: {mean}");
        }
    }

    #[test]
    fn delta_costs_more_where_the_level_is_larger() {
        let game = CanaryGame::coins(1_000).unwrap();
        let cost = |level| game.monotone_p_value(level, 1.0, 1e-5).unwrap() - level;
        assert!(cost(0.05) > cost(0.01) && cost(0.01) > cost(1e-100));
        assert_eq!(game.monotone_p_value(0.03, 1.0, 0.0).unwrap(), 0.03);
        assert_eq!(game.monotone_p_value(1.0, 1.0, 0.0).unwrap(), 1.0);
        assert!(game.monotone_p_value(0.0, 1.0, 0.0).unwrap() > 0.0);
    }
}
