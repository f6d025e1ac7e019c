//! Guesses that name a list of values for each canary.

use super::root::last_below;
use super::tails::{Tails, rounded_down};
use super::{
    MOST_CANARIES, OneRunError, check_counts, check_delta, check_epsilon, check_significance,
};
use crate::adjacency::Adjacency;
use crate::audit::group_privacy::limit_of_two_steps;
use crate::math;

/// Most values of a secret: those that fit an i64, and so all files of ranks.
const MOST_VALUES: u64 = 1 << 63;
/// Covers the rounding of products of ratios.
const ROUNDING: f64 = 1e-12;

/// k of m canaries are guessed by lists of j of S equally probable values, and v lists have the true value.
///
/// | canaries | the S values | j |
/// |---|---|---|
/// | secrets | what the secret may be | length of a list |
/// | sets of rows, one of them trained on or held out | the rows of a set | 1 |
///
/// **Replace** (another value in the same record; another row of the set). With
/// q = j e^ε/(j e^ε + S − j), and F and f those of Bin(k, q):
/// p = min(1, F + D F(1 − F)/(v f)), D = mδ(S − 1)/(S − j). For j = 1 this is [`Guesses`](super::Guesses).
///
/// **Add/remove.** The smaller of two limits of one count: group privacy, which is the limit for replace at
/// (2ε, (1 + e^ε)δ), and factorial moments,
/// p = min over 1 ≤ a ≤ v of C(m, a) A_a/C(v, a), A_a = q₀^a + δ(1 + q₀ + … + q₀^{a−1}), q₀ = j e^ε/S, and 1
/// where q₀ ≥ 1.
///
/// # Proof
/// *Replace.* For values a ≠ b let E be the outputs whose list of a canary has a and not b, with given other
/// hits. Replacing a by b changes P\[E\] by at most e^ε and δ, and costs one hit. Summed over S(S − 1) ordered
/// pairs: (S − j) P\[hit\] ≤ e^ε j P\[miss, one hit less\] + (S − 1)δ. The rest is as for `Guesses`.
///
/// *Moments.* Remove the record of one of a canaries: P\[all a are hit\] changes by at most e^ε and δ, and then
/// its value is independent of the output, so that its hit has probability j/S. Hence
/// P\[all a are hit\] ≤ A_a for each choice of a canaries. Sum over all C(m, a) choices, and apply Markov's
/// inequality to the number of hit a-tuples. A binomial law with q₀ is **not** an upper limit
/// (`tests/coverage/split.rs::a_binomial_with_the_hub_is_no_limit`).
///
/// # Example
/// ```
/// use dpscope_core::adjacency::Adjacency;
/// use dpscope_core::audit::one_run::ListGuesses;
/// let guesses = ListGuesses::new(200, 1_000_000, 1)?.with_counts(200, 7)?;
/// let replace = guesses.epsilon_lower(Adjacency::Replace, 1e-5, 0.05)?;
/// let add_remove = guesses.epsilon_lower(Adjacency::AddRemove, 1e-5, 0.05)?;
/// assert_eq!((format!("{replace:.2}"), format!("{add_remove:.2}")), ("9.73".into(), "8.78".into()));
/// # Ok::<(), dpscope_core::audit::one_run::OneRunError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ListGuesses {
    canaries: u64,
    values: u64,
    list_length: u64,
    guesses: u64,
    correct: u64,
}

impl ListGuesses {
    /// Lists of j of S values for each of m canaries, none of them right so far.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `canaries` | m | 1 … 10¹² |
    /// | `values` | S | 2 … 2⁶³ |
    /// | `list_length` | j | 1 … S − 1 |
    ///
    /// # Errors
    /// [`OneRunError::Canaries`], [`OneRunError::Values`], [`OneRunError::ListLength`].
    pub fn new(canaries: u64, values: u64, list_length: u64) -> Result<Self, OneRunError> {
        if !(1..=MOST_CANARIES).contains(&canaries) {
            return Err(OneRunError::Canaries { canaries });
        }
        if !(2..=MOST_VALUES).contains(&values) {
            return Err(OneRunError::Values { values });
        }
        if !(1..values).contains(&list_length) {
            return Err(OneRunError::ListLength { list_length, values });
        }
        Ok(Self { canaries, values, list_length, guesses: canaries, correct: 0 })
    }

    /// v of k lists have the true value; k was fixed beforehand.
    ///
    /// # Errors
    /// [`OneRunError::Guesses`], [`OneRunError::Correct`].
    pub fn with_counts(self, guesses: u64, correct: u64) -> Result<Self, OneRunError> {
        check_counts(self.canaries, guesses, correct)?;
        Ok(Self { guesses, correct, ..self })
    }

    /// Canaries, or sets: m.
    #[must_use]
    pub const fn canaries(&self) -> u64 {
        self.canaries
    }

    /// Guessed canaries: k.
    #[must_use]
    pub const fn guesses(&self) -> u64 {
        self.guesses
    }

    /// Lists that have the true value: v.
    #[must_use]
    pub const fn correct(&self) -> u64 {
        self.correct
    }

    /// The largest probability of v or more correct lists under (ε, δ)-DP for this adjacency.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`], [`OneRunError::Delta`].
    pub fn p_value(
        &self,
        adjacency: Adjacency,
        epsilon: f64,
        delta: f64,
    ) -> Result<f64, OneRunError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        let tails = self.tails();
        Ok(match adjacency {
            Adjacency::Replace => tails.at(epsilon, delta),
            Adjacency::AddRemove | Adjacency::ZeroOut => {
                group(&tails, epsilon, delta).min(self.moments(epsilon, delta))
            }
        })
    }

    /// The two limits for adding or removing a record: by group privacy, and by factorial moments.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`], [`OneRunError::Delta`].
    pub fn add_remove_limits(&self, epsilon: f64, delta: f64) -> Result<[f64; 2], OneRunError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        Ok([group(&self.tails(), epsilon, delta), self.moments(epsilon, delta)])
    }

    /// Lower bound on ε: the supremum of the ε with p(ε, δ) < `significance`, 0 if there is none.
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn epsilon_lower(
        &self,
        adjacency: Adjacency,
        delta: f64,
        significance: f64,
    ) -> Result<f64, OneRunError> {
        check_delta(delta)?;
        check_significance(significance)?;
        let tails = self.tails();
        let p = |epsilon| group(&tails, epsilon, delta).min(self.moments(epsilon, delta));
        Ok(match adjacency {
            Adjacency::Replace => tails.epsilon_lower(delta, significance),
            Adjacency::AddRemove | Adjacency::ZeroOut => rounded_down(last_below(significance, p)),
        })
    }

    fn tails(&self) -> Tails {
        let (all, listed) = (self.values as f64, self.list_length as f64);
        let others = (self.values - self.list_length) as f64;
        let ln_odds = math::ln(listed) - math::ln(others);
        Tails::new(self.canaries, [self.guesses, self.correct], ln_odds, (all - 1.0) / others)
    }

    fn moments(&self, epsilon: f64, delta: f64) -> f64 {
        let in_hub = self.list_length as f64 * math::exp(epsilon) / self.values as f64;
        if in_hub >= 1.0 {
            return 1.0;
        }
        let (canaries, correct) = (self.canaries as f64, self.correct as f64);
        let (mut choices, mut all_hit, mut least) = (1.0_f64, 1.0, 1.0_f64);
        let mut taken = 0.0;
        while taken < correct {
            // C(m, a) A_a/C(v, a), where A_a = q₀ A_{a−1} + δ, with the choices in each term
            let ratio = (canaries - taken) / (correct - taken);
            choices *= ratio;
            all_hit = in_hub * all_hit * ratio + if delta > 0.0 { choices * delta } else { 0.0 };
            taken += 1.0;
            least = least.min(all_hit);
            if choices * delta >= least {
                break; // later terms are larger
            }
        }
        (least * (1.0 + ROUNDING)).min(1.0)
    }
}

/// The limit for replace at (2ε, (1 + e^ε)δ).
fn group(tails: &Tails, epsilon: f64, delta: f64) -> f64 {
    limit_of_two_steps(epsilon, delta, |epsilon, delta| tails.at(epsilon, delta))
}

#[cfg(test)]
mod tests {
    use super::super::{CanaryGame, Guesses};
    use super::*;

    fn lists(canaries: u64, values: u64, list_length: u64, counts: [u64; 2]) -> ListGuesses {
        let lists = ListGuesses::new(canaries, values, list_length).unwrap();
        lists.with_counts(counts[0], counts[1]).unwrap()
    }

    #[test]
    fn lists_of_one_value_are_guesses_of_sets() {
        let sets = Guesses::new(CanaryGame::sets(400, 5).unwrap(), 64, 47).unwrap();
        let of_lists = lists(400, 5, 1, [64, 47]);
        for (epsilon, delta) in [(0.0, 0.0), (1.0, 1e-5), (2.0, 1e-3)] {
            let expected = sets.p_value(epsilon, delta).unwrap();
            let found = of_lists.p_value(Adjacency::Replace, epsilon, delta).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn the_moment_of_all_correct_lists_is_the_power_of_one() {
        let [_, moments] = lists(2, 4, 1, [2, 2]).add_remove_limits(0.3, 0.0).unwrap();
        let in_hub = math::exp(0.3) / 4.0;
        let exact = in_hub * in_hub;
        assert!((moments - exact).abs() < 1e-12, "{moments} {exact}");
    }

    #[test]
    fn impossible_lists_are_refused() {
        assert!(ListGuesses::new(0, 10, 1).is_err());
        assert!(ListGuesses::new(1, 1, 1).is_err());
        assert!(ListGuesses::new(1, 10, 10).is_err());
        assert!(ListGuesses::new(1, u64::MAX, 1).is_err());
        assert!(ListGuesses::new(5, 10, 1).unwrap().with_counts(6, 0).is_err());
        assert!(ListGuesses::new(5, 10, 1).unwrap().with_counts(3, 4).is_err());
    }
}
