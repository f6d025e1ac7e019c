//! What an ideal attack finds: for planning.

use super::independent::accuracy;
use super::{CanaryGame, Guesses, OneRunError};

/// An attack whose scores are N(±μ/2, 1), independent over canaries.
///
/// The k scores farthest from 0 are guessed. With the cut c from Φ(μ/2 − c) + Φ(−μ/2 − c) = k/m, a
/// guess is correct with probability a = Φ(μ/2 − c)/(k/m), and about ⌊ka + ½⌋ guesses are.
///
/// # Example
/// ```
/// use dpscope_core::audit::one_run::{CanaryGame, IdealAttack};
/// let attack = IdealAttack::new(CanaryGame::coins(1_000)?, 1.0)?;
/// let (guesses, epsilon) = attack.best_guesses(1e-5, 0.05)?;
/// assert_eq!((guesses, format!("{epsilon:.2}")), (48, "1.70".to_owned()));
/// # Ok::<(), dpscope_core::audit::one_run::OneRunError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IdealAttack {
    game: CanaryGame,
    mu: f64,
}

impl IdealAttack {
    /// The attack on m canaries.
    ///
    /// # Errors
    /// [`OneRunError::Mu`] outside [0, 100], [`OneRunError::SetSize`] for sets.
    pub fn new(game: CanaryGame, mu: f64) -> Result<Self, OneRunError> {
        if !(0.0..=100.0).contains(&mu) {
            return Err(OneRunError::Mu { mu });
        }
        if game.set_size() != 2 {
            return Err(OneRunError::SetSize { set_size: game.set_size() });
        }
        Ok(Self { game, mu })
    }

    /// Probability that a guess is correct if `guesses` canaries are guessed: a.
    ///
    /// # Errors
    /// [`OneRunError::Guesses`].
    pub fn accuracy(&self, guesses: u64) -> Result<f64, OneRunError> {
        Guesses::new(self.game, guesses, 0)?;
        Ok(accuracy(self.game, guesses, self.mu))
    }

    /// The expected correct guesses, rounded: ⌊ka + ½⌋ of k.
    ///
    /// # Errors
    /// [`OneRunError::Guesses`].
    pub fn expected(&self, guesses: u64) -> Result<Guesses, OneRunError> {
        let correct = (guesses as f64 * self.accuracy(guesses)? + 0.5).floor() as u64;
        Guesses::new(self.game, guesses, correct.min(guesses))
    }

    /// The number of guesses with the largest expected bound, and this bound.
    ///
    /// Among about 30 numbers for each factor of 10.
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn best_guesses(&self, delta: f64, significance: f64) -> Result<(u64, f64), OneRunError> {
        let mut best = (1, 0.0);
        let mut guesses = 1;
        while guesses <= self.game.canaries() {
            let bound = self.expected(guesses)?.epsilon_lower(delta, significance)?;
            if bound > best.1 {
                best = (guesses, bound);
            }
            guesses = (guesses + 1).max(guesses.saturating_mul(27) / 25);
        }
        let all = self.expected(self.game.canaries())?.epsilon_lower(delta, significance)?;
        Ok(if all > best.1 { (self.game.canaries(), all) } else { best })
    }

    /// The number of guesses, the best one if none is given, and the expected bound.
    ///
    /// # Errors
    /// [`OneRunError::Guesses`], [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn bound(
        &self,
        guesses: Option<u64>,
        delta: f64,
        significance: f64,
    ) -> Result<(u64, f64), OneRunError> {
        let Some(guesses) = guesses else { return self.best_guesses(delta, significance) };
        Ok((guesses, self.expected(guesses)?.epsilon_lower(delta, significance)?))
    }

    /// The smallest number of canaries, in steps of 1 %, whose expected bound reaches `epsilon`, with
    /// this or the best number of guesses; none up to 10⁹.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`], [`OneRunError::Guesses`], [`OneRunError::Delta`],
    /// [`OneRunError::Significance`].
    pub fn canaries_for(
        mu: f64,
        epsilon: f64,
        guesses: Option<u64>,
        delta: f64,
        significance: f64,
    ) -> Result<Option<u64>, OneRunError> {
        super::check_epsilon(epsilon)?;
        let reaches = |canaries: u64| -> Result<bool, OneRunError> {
            let attack = Self::new(CanaryGame::coins(canaries)?, mu)?;
            Ok(attack.bound(guesses, delta, significance)?.1 >= epsilon)
        };
        let fewest = guesses.unwrap_or(0);
        let mut high = fewest.max(8);
        loop {
            if high > 1_000_000_000 {
                return Ok(None);
            }
            if reaches(high)? {
                break;
            }
            high *= 2;
        }
        let mut low = (high / 2).max(fewest);
        while high - low > (low / 100).max(1) {
            let middle = low + (high - low) / 2;
            if reaches(middle)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(Some(high))
    }
}
