//! Guesses that learn from revealed coins.

use super::walk::largest_of_grid;
use super::{Guesses, OneRunError, check_delta, check_epsilon, check_significance};
use crate::math;

/// Guesses made one after another, each of which may depend on the coins that earlier ones revealed.
///
/// The number k is fixed beforehand or follows from what training released. Then
/// P\[v or more\] ≤ F(v) + mδ(s − 1)/(s − 1 + e^ε), F the tail of Bin(k, q) and s the set size, 2 for coins.
///
/// A coin that is revealed before it is guessed must not be counted. Guessing each half of the canaries with
/// the coins of the other half, and counting both, is not allowed
/// (`tests/coverage/one_run.rs::cross_fitting_both_ways_does_not_cover`).
///
/// # Proof
/// Let D be the rise of the conditional tail by one more hit, a function of the output and of other coins. In
/// (hit − q)D, turning the guessed coin changes the law of the output by at most e^ε and δ, so its mean is at
/// most δ/(1 + e^ε) for each canary, and δ(s − 1)/(s − 1 + e^ε) for each set. Replace one guess after another by an independent coin with probability
/// q, the last one first.
impl Guesses {
    /// The largest probability of v or more correct guesses under (ε, δ)-DP, if each guess may depend on the
    /// coins of those before it.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`], [`OneRunError::Delta`].
    pub fn adaptive_p_value(&self, epsilon: f64, delta: f64) -> Result<f64, OneRunError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        Ok(self.adaptive_p(epsilon, delta, epsilon))
    }

    /// Lower bound on ε by adaptive guesses: the largest of 0, 0.005, 0.010, … that is rejected together with
    /// all smaller ones.
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn adaptive_epsilon_lower(
        &self,
        delta: f64,
        significance: f64,
    ) -> Result<f64, OneRunError> {
        check_delta(delta)?;
        check_significance(significance)?;
        // the share of δ is largest at ε = 0, and the tail rises
        let surely = |epsilon: f64| self.adaptive_p(epsilon, delta, 0.0) < significance;
        let rejects = |epsilon: f64| self.adaptive_p(epsilon, delta, epsilon) < significance;
        Ok(largest_of_grid(surely, rejects))
    }

    fn adaptive_p(&self, epsilon: f64, delta: f64, of_delta: f64) -> f64 {
        let (canaries, others) = (self.game().canaries(), f64::from(self.game().set_size() - 1));
        let share = others / (others + math::exp(of_delta));
        (self.p(epsilon, 0.0) + canaries as f64 * delta * share).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::CanaryGame;
    use super::*;

    /// One set of three, ε = 0: the included canary is published with probability δ, and else guessed.
    #[test]
    fn sets_have_a_larger_share_of_delta() {
        let one = Guesses::new(CanaryGame::sets(1, 3).unwrap(), 1, 1).unwrap();
        let (delta, limit) = (0.01, one.adaptive_p_value(0.0, 0.01).unwrap());
        let attained = delta + (1.0 - delta) / 3.0;
        assert!(limit >= attained - 1e-12, "{limit} {attained}");
    }
}
