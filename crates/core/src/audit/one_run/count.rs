//! A fixed number of guesses: the exact test.

use super::root::last_below;
use super::tails::{Tails, rounded_down};
use super::{
    CanaryGame, OneRunError, OneRunFinding, check_counts, check_delta, check_epsilon,
    check_significance,
};
use crate::math;

/// Chance of so few correct guesses that they are reversed.
const FEW: f64 = 5e-4;

/// Whether guesses say "included", "not included" or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum KnownSides {
    /// Both, or one side that was chosen after a look at scores.
    #[default]
    Both,
    /// One side, which was fixed before the coins were drawn: δ counts half.
    One,
}

/// k guesses, v of them correct, with k fixed before the coins were drawn.
///
/// With W ~ Bin(k, q), q = e^ε/(e^ε + s − 1), F = P\[W ≥ v\] and f = P\[W = v\], every (ε, δ)-DP
/// training obeys
///
/// P\[v or more correct\] ≤ p(ε, δ) = min(1, F + mδ F(1 − F)/(v f)); p = 1 at v = 0.
///
/// The inequality is attained: no test that looks at the number of correct guesses alone is tighter.
/// All δ hold together, since every rejection is an event {v ≥ v_δ}.
///
/// If coins are not fair, guesses of one side have a bound
/// ([`Guesses::with_inclusion_probability`]).
///
/// # Proof
/// Write t_j for the ratio of the probability of exactly j correct guesses to P\[W = j\]. Turn the
/// coin of one guessed canary while everything else stays: the same output then has one correct
/// guess more or fewer, so (ε, δ)-DP relates the two counts. Summed over canaries,
/// Σ_j j P\[W = j\] (t_j − t_{j−1})₊ ≤ mδ. The excess of P\[v or more correct\] over F is
/// Σ_j (t_j − t_{j−1}) (P\[W ≥ max(j, v)\] − P\[W ≥ j\] F), at most mδ times the largest ratio of the
/// two coefficients, which is at j = v because binomial probabilities are log-concave. A step of t
/// at v attains it.
///
/// # Reference
/// T. Steinke, M. Nasr and M. Jagielski (2023), arXiv:2305.08846, for the game and a looser bound
/// ([`Guesses::steinke_p_value`]).
///
/// # Example
/// ```
/// use dpscope_core::audit::one_run::{CanaryGame, Guesses};
/// let guesses = Guesses::new(CanaryGame::coins(1_000)?, 100, 95)?;
/// assert_eq!(format!("{:.4}", guesses.epsilon_lower(1e-5, 0.05)?), "2.1719");
/// # Ok::<(), dpscope_core::audit::one_run::OneRunError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Guesses {
    game: CanaryGame,
    guesses: u64,
    correct: u64,
    sides: KnownSides,
    /// Probability that the side named by one-sided guesses is true.
    inclusion: f64,
}

impl Guesses {
    /// v correct of k guesses.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `guesses` | k | 1 … m |
    /// | `correct` | v | 0 … k |
    ///
    /// # Errors
    /// [`OneRunError::Guesses`], [`OneRunError::Correct`].
    pub fn new(game: CanaryGame, guesses: u64, correct: u64) -> Result<Self, OneRunError> {
        check_counts(game.canaries(), guesses, correct)?;
        Ok(Self { game, guesses, correct, sides: KnownSides::Both, inclusion: 0.5 })
    }

    /// Sets the sides that were guessed.
    #[must_use]
    pub fn with_sides(self, sides: KnownSides) -> Self {
        Self { sides, ..self }
    }

    /// Sets the known probability π with which each canary is included; all guesses say "included".
    /// For guesses that all say "not included", pass 1 − π.
    ///
    /// q = πe^ε/(πe^ε + 1 − π), and πδ in place of δ. Which canaries are guessed may depend on the
    /// scores; neither k nor the side may.
    ///
    /// # Proof
    /// As for fair coins: turning the coin of a guessed canary from OUT to IN makes one more guess
    /// correct, and the odds of the coin are π/(1 − π) in place of 1. An output spends δ with the coin
    /// at IN alone.
    ///
    /// # Guarantee
    /// `tests/coverage/one_run.rs::biased_coins_cover_and_fair_odds_do_not`.
    ///
    /// # Errors
    /// [`OneRunError::Inclusion`] outside (0, 1), [`OneRunError::SetSize`] for sets of three or more.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::audit::one_run::{CanaryGame, Guesses};
    /// let guesses = Guesses::new(CanaryGame::coins(1_000)?, 50, 40)?.with_inclusion_probability(0.1)?;
    /// assert_eq!(format!("{:.4}", guesses.epsilon_lower(1e-5, 0.05)?), "2.9712");
    /// # Ok::<(), dpscope_core::audit::one_run::OneRunError>(())
    /// ```
    pub fn with_inclusion_probability(self, inclusion: f64) -> Result<Self, OneRunError> {
        if !(inclusion > 0.0 && inclusion < 1.0) {
            return Err(OneRunError::Inclusion { inclusion });
        }
        match self.game.set_size {
            2 => Ok(Self { sides: KnownSides::One, inclusion, ..self }),
            set_size => Err(OneRunError::SetSize { set_size }),
        }
    }

    /// Other counts with the same sides and coins.
    pub(super) fn with_counts(
        self,
        game: CanaryGame,
        guesses: u64,
        correct: u64,
    ) -> Result<Self, OneRunError> {
        let Self { sides, inclusion, .. } = self;
        Ok(Self { sides, inclusion, ..Self::new(game, guesses, correct)? })
    }

    /// Whether both answers are equally probable beforehand.
    pub(super) fn has_fair_coins(&self) -> bool {
        self.inclusion == 0.5
    }

    /// The canaries.
    #[must_use]
    pub const fn game(&self) -> CanaryGame {
        self.game
    }

    /// Number of guesses: k.
    #[must_use]
    pub const fn guesses(&self) -> u64 {
        self.guesses
    }

    /// Number of correct guesses: v.
    #[must_use]
    pub const fn correct(&self) -> u64 {
        self.correct
    }

    /// Whether fewer guesses are correct than by chance, at a significance of 5·10⁻⁴.
    ///
    /// # Errors
    /// None for valid guesses.
    pub fn few_correct(&self) -> Result<Option<OneRunFinding>, OneRunError> {
        let Self { guesses, correct, .. } = *self;
        if correct >= guesses {
            return Ok(None);
        }
        let p_value = 1.0 - Self { correct: correct + 1, ..*self }.p_value(0.0, 0.0)?;
        let found = OneRunFinding::FewCorrect { guesses, correct, p_value: p_value.max(0.0) };
        Ok((p_value < FEW).then_some(found))
    }

    /// The largest probability of v or more correct guesses under (ε, δ)-DP.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`], [`OneRunError::Delta`].
    ///
    /// # Numerics
    /// Relative error below 1e-11 up to m = 10⁸ (`tests/oracles/golden.rs::one_run_agrees`).
    /// Rounds to nearest.
    pub fn p_value(&self, epsilon: f64, delta: f64) -> Result<f64, OneRunError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        Ok(self.p(epsilon, delta))
    }

    /// Lower bound on ε: the supremum of the ε with p(ε, δ) < `significance`, 0 if there is none.
    ///
    /// # Guarantee
    /// If training is (ε, δ)-DP, the bound exceeds ε with probability at most `significance`
    /// (`tests/coverage/one_run.rs::exact_sizes_do_not_exceed_the_significance`).
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn epsilon_lower(&self, delta: f64, significance: f64) -> Result<f64, OneRunError> {
        check_delta(delta)?;
        check_significance(significance)?;
        Ok(self.tails().epsilon_lower(delta, significance))
    }

    /// The bound if all guesses were correct: no result can exceed it.
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn ceiling(&self, delta: f64, significance: f64) -> Result<f64, OneRunError> {
        Self { correct: self.guesses, ..*self }.epsilon_lower(delta, significance)
    }

    /// The p-value of a claimed curve: min over its points (ε, δ) of p(ε, δ).
    ///
    /// A training that obeys every point of the curve has a p-value below α with probability at most
    /// α, without correction: all rejections are events {v ≥ v_i} of one count. `curve` has pairs
    /// (ε, δ), δ the larger of both directions.
    ///
    /// # Errors
    /// [`OneRunError::EmptyCurve`], [`OneRunError::Epsilon`], [`OneRunError::Delta`].
    pub fn p_value_of_curve(&self, curve: &[(f64, f64)]) -> Result<f64, OneRunError> {
        let tails = self.tails();
        let mut smallest: Option<f64> = None;
        for &(epsilon, delta) in curve {
            check_epsilon(epsilon)?;
            check_delta(delta)?;
            let p = tails.at(epsilon, delta);
            smallest = Some(smallest.map_or(p, |least| least.min(p)));
        }
        smallest.ok_or(OneRunError::EmptyCurve)
    }

    /// The p-value of Steinke et al., for comparison with published figures; never below
    /// [`Guesses::p_value`] for both sides.
    ///
    /// min(1, F(v) + 2mδ max_{1 ≤ i ≤ v} P\[v − i ≤ W < v\]/i)
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`], [`OneRunError::Delta`].
    ///
    /// # Reference
    /// T. Steinke, M. Nasr and M. Jagielski (2023), arXiv:2305.08846, theorem 5.2.
    pub fn steinke_p_value(&self, epsilon: f64, delta: f64) -> Result<f64, OneRunError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        Ok(self.tails().steinke(epsilon, delta))
    }

    /// The bound of Steinke et al., for comparison with published figures.
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn steinke_epsilon_lower(&self, delta: f64, significance: f64) -> Result<f64, OneRunError> {
        check_delta(delta)?;
        check_significance(significance)?;
        let tails = self.tails();
        Ok(rounded_down(last_below(significance, |epsilon| tails.steinke(epsilon, delta))))
    }

    pub(super) fn p(&self, epsilon: f64, delta: f64) -> f64 {
        self.tails().at(epsilon, delta)
    }

    fn tails(&self) -> Tails {
        let ln_odds = match self.has_fair_coins() {
            true => -math::ln(f64::from(self.game.set_size - 1)),
            false => math::ln(self.inclusion) - math::ln_1p(-self.inclusion),
        };
        let share = match self.sides {
            KnownSides::Both => 1.0,
            KnownSides::One => self.inclusion,
        };
        Tails::new(self.game.canaries, [self.guesses, self.correct], ln_odds, share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guesses(canaries: u64, guesses: u64, correct: u64) -> Guesses {
        Guesses::new(CanaryGame::coins(canaries).unwrap(), guesses, correct).unwrap()
    }

    #[test]
    fn without_delta_the_p_value_is_a_binomial_tail() {
        let p = guesses(20, 10, 9).p_value(0.0, 0.0).unwrap();
        assert!((p - 11.0 / 1024.0).abs() < 1e-15, "{p}");
        assert_eq!(guesses(20, 10, 0).p_value(3.0, 0.1).unwrap(), 1.0);
    }

    #[test]
    fn the_bound_of_all_correct_guesses_is_the_root_of_the_p_value() {
        for (sets, size, delta) in [(1_000, 2, 1e-5), (1_000, 2, 0.0), (500, 7, 1e-4)] {
            let counts = Guesses::new(CanaryGame::sets(sets, size).unwrap(), 100, 100).unwrap();
            let bound = counts.epsilon_lower(delta, 0.05).unwrap();
            let p = counts.p_value(bound, delta).unwrap();
            assert!((p / 0.05 - 1.0).abs() < 1e-10, "{counts:?}: {p}");
        }
    }

    #[test]
    fn name_and_shame_attains_the_p_value() {
        // with probability mδ/k the bits of k canaries are published; otherwise guesses are coins
        let (canaries, count, delta) = (1_000, 40, 0.01);
        let p = guesses(canaries, count, count).p_value(0.0, delta).unwrap();
        let published = 1_000.0 * delta / 40.0;
        let all_correct = published + (1.0 - published) * math::powi(2.0, -40);
        assert!((p - all_correct).abs() < 1e-15, "{p} {all_correct}");
    }

    #[test]
    fn bounds_rise_with_correct_guesses_and_fall_with_delta() {
        let mut last = 0.0;
        for correct in 50..=100 {
            let bound = guesses(1_000, 100, correct).epsilon_lower(1e-5, 0.05).unwrap();
            assert!(bound >= last, "{correct}");
            last = bound;
        }
        let at = |delta| guesses(1_000, 100, 95).epsilon_lower(delta, 0.05).unwrap();
        assert!(at(0.0) > at(1e-4) && at(1e-4) > at(1e-3));
    }

    #[test]
    fn a_side_fixed_beforehand_halves_delta() {
        let both = guesses(1_000, 100, 95);
        let one = both.with_sides(KnownSides::One);
        let halved = both.p_value(1.0, 5e-4).unwrap();
        assert_eq!(one.p_value(1.0, 1e-3).unwrap(), halved);
    }

    #[test]
    fn steinkes_bound_is_never_larger() {
        for (canaries, count, correct) in [(1_000, 1_000, 600), (1_000, 100, 100), (20, 20, 15)] {
            for delta in [0.0, 1e-5, 1e-3, 0.01] {
                let counts = guesses(canaries, count, correct);
                let (ours, theirs) = (
                    counts.epsilon_lower(delta, 0.05).unwrap(),
                    counts.steinke_epsilon_lower(delta, 0.05).unwrap(),
                );
                assert!(ours >= theirs - 1e-12, "{counts:?} {delta}: {ours} {theirs}");
            }
        }
    }

    #[test]
    fn too_large_a_delta_leaves_nothing() {
        // mδ/k = 0.05: even k correct guesses are compatible with ε = 0
        assert_eq!(guesses(1_000, 20, 20).epsilon_lower(1e-3, 0.05).unwrap(), 0.0);
        assert!(guesses(1_000, 21, 21).epsilon_lower(1e-3, 0.05).unwrap() > 0.0);
    }

    #[test]
    fn inclusion_probabilities_outside_the_interval_are_refused() {
        for inclusion in [0.0, 1.0, -0.1, f64::NAN] {
            let refused = guesses(10, 5, 5).with_inclusion_probability(inclusion);
            assert!(matches!(refused, Err(OneRunError::Inclusion { .. })));
        }
        let sets = Guesses::new(CanaryGame::sets(10, 3).unwrap(), 5, 5).unwrap();
        assert!(sets.with_inclusion_probability(0.3).is_err());
    }

    #[test]
    fn bad_arguments_are_refused() {
        let game = CanaryGame::coins(10).unwrap();
        assert!(CanaryGame::coins(0).is_err() && CanaryGame::sets(5, 1).is_err());
        assert!(Guesses::new(game, 0, 0).is_err() && Guesses::new(game, 11, 0).is_err());
        assert!(Guesses::new(game, 5, 6).is_err());
        let counts = Guesses::new(game, 5, 5).unwrap();
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(counts.p_value(bad, 0.0).is_err() && counts.p_value(1.0, bad).is_err());
            assert!(counts.epsilon_lower(0.0, bad).is_err());
        }
        assert!(counts.epsilon_lower(0.0, 1.0).is_err() && counts.p_value(1.0, 1.0).is_err());
        assert!(counts.p_value_of_curve(&[]).is_err());
    }
}
