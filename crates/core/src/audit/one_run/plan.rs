//! What an ideal attack finds: for planning.

use super::independent::{accuracy, cut_of};
use super::{CanaryGame, Guesses, OneRunError};
use crate::audit::sizes::smallest_size;
use crate::math;
use crate::special::quadrature::gauss_legendre_32;
use crate::special::{BetaDistribution, Tail, UnitPoint, normal};

/// An attack whose scores are N(±μ/2, 1), independent over canaries.
///
/// If the k scores farthest from 0 are guessed, with the cut c from Φ(μ/2 − c) + Φ(−μ/2 − c) = k/m, a
/// guess is correct with probability a = Φ(μ/2 − c)/(k/m), and about ⌊ka + ½⌋ guesses are. The rule of an
/// audit guesses the ⌈k/2⌉ largest as included and the ⌊k/2⌋ smallest as not included, which is worse
/// where k is nearly m: the j largest of m scores have m/2 ∫ φ(s − μ/2) P\[Bin(m − 1, F̄(s)) < j\] ds
/// included canaries, F̄ the tail of a score.
///
/// # Example
/// ```
/// use dpscope_core::audit::one_run::{CanaryGame, IdealAttack};
/// let attack = IdealAttack::new(CanaryGame::coins(1_000)?, 1.0)?;
/// let (guesses, epsilon) = attack.best_guesses(1e-5, 0.05)?;
/// assert_eq!((guesses, format!("{epsilon:.2}")), (90, "1.70".to_owned()));
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

    /// Probability that a guess is correct if the `guesses` scores farthest from 0 are guessed: a.
    ///
    /// # Errors
    /// [`OneRunError::Guesses`].
    pub fn accuracy(&self, guesses: u64) -> Result<f64, OneRunError> {
        Guesses::new(self.game, guesses, 0)?;
        Ok(accuracy(self.game, guesses, self.mu))
    }

    /// The correct ones of these guesses: ⌊ka + ½⌋ of k.
    ///
    /// # Errors
    /// [`OneRunError::Guesses`].
    pub fn expected(&self, guesses: u64) -> Result<Guesses, OneRunError> {
        let correct = (guesses as f64 * self.accuracy(guesses)? + 0.5).floor() as u64;
        Guesses::new(self.game, guesses, correct.min(guesses))
    }

    /// The expected correct guesses, rounded, if half of them are the largest scores and half the smallest.
    ///
    /// # Guarantee
    /// `tests/coverage/planning.rs::expected_guesses_are_those_of_simulated_attacks`.
    ///
    /// # Errors
    /// [`OneRunError::Guesses`].
    pub fn expected_of_halves(&self, guesses: u64) -> Result<Guesses, OneRunError> {
        Guesses::new(self.game, guesses, 0)?;
        let halves = [guesses.div_ceil(2), guesses / 2];
        let [included, excluded] =
            halves.map(|count| included_among_largest(self.game.canaries(), count, self.mu));
        let correct = (included + excluded + 0.5).floor() as u64;
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
            let bound = self.expected_of_halves(guesses)?.epsilon_lower(delta, significance)?;
            if bound > best.1 {
                best = (guesses, bound);
            }
            guesses = (guesses + 1).max(guesses.saturating_mul(27) / 25);
        }
        Ok(best)
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
        Ok((guesses, self.expected_of_halves(guesses)?.epsilon_lower(delta, significance)?))
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
        smallest_size(guesses.unwrap_or(0), 8, reaches)
    }
}

/// Expected number of included canaries among those with the `count` largest of their scores N(±μ/2, 1).
fn included_among_largest(canaries: u64, count: u64, mu: f64) -> f64 {
    let (all, half_mu) = (canaries as f64, 0.5 * mu);
    if count == 0 || count == canaries {
        return 0.5 * count as f64;
    }
    // P[Bin(m − 1, p) < j] = P[Beta(j, m − j) > p]
    let place = BetaDistribution::with_shapes(count as f64, (canaries - count) as f64);
    let [least, most] = [(Tail::Lower, 1e-12), (Tail::Upper, 1e-12)]
        .map(|(tail, mass)| place.quantile_at(tail, mass));
    let score = |tail: UnitPoint| match tail.value() <= 0.5 {
        true => cut_of(2.0 * tail.value(), mu),
        false => -cut_of(2.0 * tail.complement(), mu),
    };
    // those above are among the largest, those below are not
    let high = score(least).min(half_mu + 9.0);
    let low = score(most).max(half_mu - 9.0).min(high);
    let density = |s: f64| {
        let from_mean = s - half_mu;
        let tail = 0.5 * (normal::normal_cdf(half_mu - s) + normal::normal_cdf(-half_mu - s));
        let is_among = place.tail(Tail::Upper, UnitPoint::from_value(tail));
        math::exp(-0.5 * from_mean * from_mean - math::LN_SQRT_2PI) * is_among
    };
    let panels = ((high - low) / 3.0).ceil().max(1.0);
    let width = (high - low) / panels;
    let integral = (0..panels as u32).map(|panel| {
        let start = low + f64::from(panel) * width;
        gauss_legendre_32(start, start + width, density)
    });
    0.5 * all * (normal::normal_cdf(half_mu - high) + integral.sum::<f64>())
}
