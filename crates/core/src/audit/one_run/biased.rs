//! Coins that are not fair.

use super::error::OneRunError;
use super::tails::Tails;
use super::{CanaryGame, check_delta, check_epsilon, check_significance};
use crate::math;

/// k guesses "included", v of them correct, about canaries that were included with a known
/// probability π each.
///
/// The bound of [`Guesses`](super::Guesses) with q = πe^ε/(πe^ε + 1 − π) and πδ in place of δ. All
/// guesses say "included": a guess "not included" has another q. Which canaries are guessed may
/// depend on the scores; k may not.
///
/// # Proof
/// As there: turning the coin of a guessed canary from OUT to IN makes one more guess correct, and
/// the odds of the coin are π/(1 − π) in place of 1. An output spends δ with the coin at IN alone.
///
/// # Example
/// ```
/// use dpscope_core::audit::one_run::IncludedGuesses;
/// let guesses = IncludedGuesses::new(1_000, 0.1, 50, 40)?;
/// assert_eq!(format!("{:.4}", guesses.epsilon_lower(1e-5, 0.05)?), "2.9712");
/// # Ok::<(), dpscope_core::audit::one_run::OneRunError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IncludedGuesses {
    canaries: u64,
    inclusion: f64,
    guesses: u64,
    correct: u64,
}

impl IncludedGuesses {
    /// v correct of k guesses.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `canaries` | m | 1 … 10¹² |
    /// | `inclusion` | π | (0, 1) |
    /// | `guesses` | k | 1 … m |
    /// | `correct` | v | 0 … k |
    ///
    /// # Errors
    /// [`OneRunError::Canaries`], [`OneRunError::Inclusion`], [`OneRunError::Guesses`],
    /// [`OneRunError::Correct`].
    pub fn new(
        canaries: u64,
        inclusion: f64,
        guesses: u64,
        correct: u64,
    ) -> Result<Self, OneRunError> {
        CanaryGame::coins(canaries)?;
        if !(inclusion > 0.0 && inclusion < 1.0) {
            return Err(OneRunError::Inclusion { inclusion });
        }
        if !(1..=canaries).contains(&guesses) {
            return Err(OneRunError::Guesses { guesses, canaries });
        }
        if correct > guesses {
            return Err(OneRunError::Correct { correct, guesses });
        }
        Ok(Self { canaries, inclusion, guesses, correct })
    }

    /// The largest probability of v or more correct guesses under (ε, δ)-DP.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`], [`OneRunError::Delta`].
    pub fn p_value(&self, epsilon: f64, delta: f64) -> Result<f64, OneRunError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        Ok(self.tails().at(epsilon, delta))
    }

    /// Lower bound on ε: the supremum of the ε with p(ε, δ) < `significance`, 0 if there is none.
    ///
    /// # Guarantee
    /// If training is (ε, δ)-DP, the bound exceeds ε with probability at most `significance`
    /// (`tests/coverage/one_run.rs::biased_coins_cover_and_fair_odds_do_not`).
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn epsilon_lower(&self, delta: f64, significance: f64) -> Result<f64, OneRunError> {
        check_delta(delta)?;
        check_significance(significance)?;
        Ok(self.tails().epsilon_lower(delta, significance))
    }

    fn tails(&self) -> Tails {
        let ln_odds = math::ln(self.inclusion) - math::ln_1p(-self.inclusion);
        Tails::new(self.canaries, [self.guesses, self.correct], ln_odds, self.inclusion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::one_run::{Guesses, KnownSides};

    #[test]
    fn fair_coins_are_guesses_of_one_side() {
        for correct in [0, 60, 95, 100] {
            let biased = IncludedGuesses::new(1_000, 0.5, 100, correct).unwrap();
            let fair = Guesses::new(CanaryGame::coins(1_000).unwrap(), 100, correct).unwrap();
            let fair = fair.with_sides(KnownSides::One);
            let bound = biased.epsilon_lower(1e-4, 0.05).unwrap();
            assert_eq!(bound, fair.epsilon_lower(1e-4, 0.05).unwrap());
        }
    }

    #[test]
    fn probabilities_outside_the_interval_are_refused() {
        for inclusion in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(matches!(
                IncludedGuesses::new(10, inclusion, 5, 5),
                Err(OneRunError::Inclusion { .. })
            ));
        }
    }
}
