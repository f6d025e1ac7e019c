//! Rows named as being of one side of a random split.

use super::SplitError;
use crate::adjacency::Adjacency;
use crate::audit::group_privacy::limit_of_two_steps;
use crate::audit::one_run::{
    CanaryGame, Guesses, check_delta, check_epsilon, check_significance, last_below, rounded_down,
};
use crate::math;
use crate::special::ln_binomial_pmf;

/// Covers the rounding of sums of probabilities.
const ROUNDING: f64 = 1e-12;

/// k of N rows are named as being of a side that has r rows, and v of them are.
///
/// The training was on a uniformly random subset of fixed size; the side is fixed beforehand and may be
/// the members or the others. Which rows are named may depend on all that training released.
///
/// **Replace.** With the noncentral hypergeometric law h(j) ∝ C(r, j) C(N − r, k − j) e^{εj} and its tail
/// H, every training that is (ε, δ)-DP for replacing a record obeys
///
/// P\[v or more\] ≤ min(1, H(v) + r(N − r)δ H(v)(1 − H(v)) / (v(N − r − k + v) h(v))),
///
/// 1 at the least possible v. At δ = 0 this is Fisher's exact test of the odds ratio e^ε.
///
/// **Add/remove.** The smallest of three limits, of one count and so without correction
/// ([`AddRemoveLimits`]).
///
/// # Proof of the limit for replace
/// Swap a named row of the side with a row of the other side that is not named: one record is replaced, and
/// the same output has one correct guess less. From j correct guesses there are j(N − r − k + j) such swaps,
/// to j − 1 of them (k − j + 1)(r − j + 1) back. Summed over all swaps,
/// Σ_j j(N − r − k + j)(P_j − P_{j−1} h(j)/h(j − 1))₊ ≤ r(N − r)δ in units of a split's probability. The rest
/// is as for [`Guesses`], since h is log-concave, too.
///
/// # Guarantee
/// Coverage at the law that attains the limit: `tests/coverage/split.rs`. Values:
/// `tests/oracles/golden.rs::audits_without_coins_agree`.
///
/// # Numerics
/// Sums of ratios from v outward; p is rounded up by a relative 1e-12. The number of terms is that of a
/// few standard deviations, plus the distance from v to the mode.
///
/// # Example
/// ```
/// use dpscope_core::adjacency::Adjacency;
/// use dpscope_core::audit::split::NamedRows;
/// let named = NamedRows::new(2_000, 1_000, 125, 111)?;
/// let [replace, add_remove] = [Adjacency::Replace, Adjacency::AddRemove]
///     .map(|adjacency| named.epsilon_lower(adjacency, 1e-5, 0.05));
/// assert_eq!((format!("{:.2}", replace?), format!("{:.2}", add_remove?)), ("1.68".into(), "1.22".into()));
/// # Ok::<(), dpscope_core::audit::split::SplitError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NamedRows {
    rows: u64,
    side: u64,
    guesses: u64,
    correct: u64,
}

/// Limits of P\[v or more correct\] for adding or removing a record; each holds alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AddRemoveLimits {
    /// By group privacy: the limit for replace at (2ε, (1 + e^ε)δ).
    pub group: f64,
    /// By independent coins with probability r/N, of which the split is one size: their limit over
    /// P\[Bin(N, r/N) = r\]. It needs privacy at every size.
    pub coins_over_size: f64,
    /// By factorial moments: the least over a ≤ min(v, r) of
    /// \[C(k, a) e^{aε} C(N, r − a)/C(N, r) + C(r, a) δ(1 + e^ε + … + e^{(a−1)ε})\] / C(v, a).
    ///
    /// Insert or remove a rows of the side: the output changes its law by at most e^{aε} and that sum of
    /// δ, and then any a of the named rows may be those; sum over all choices, and apply Markov's
    /// inequality to the number of correct a-tuples.
    pub moments: f64,
}

impl AddRemoveLimits {
    /// The smallest.
    #[must_use]
    pub fn smallest(&self) -> f64 {
        self.group.min(self.coins_over_size).min(self.moments)
    }
}

impl NamedRows {
    /// v of k named rows are of the side.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `rows` | N, all rows of the split | 2 … 10¹² |
    /// | `side` | r, rows of the named side | 1 … N − 1 |
    /// | `guesses` | k, named rows | 1 … N |
    /// | `correct` | v | max(0, k + r − N) … min(k, r) |
    ///
    /// # Errors
    /// [`SplitError::Side`], [`SplitError::Guesses`], [`SplitError::Correct`].
    pub fn new(rows: u64, side: u64, guesses: u64, correct: u64) -> Result<Self, SplitError> {
        if side == 0 || side >= rows || rows > 1_000_000_000_000 {
            return Err(SplitError::Side { side, rows });
        }
        if !(1..=rows).contains(&guesses) {
            return Err(SplitError::Guesses { guesses, rows });
        }
        let named = Self { rows, side, guesses, correct };
        let (least, most) = (named.least_correct(), named.most_correct());
        if !(least..=most).contains(&correct) {
            return Err(SplitError::Correct { correct, guesses, least, most });
        }
        Ok(named)
    }

    /// Rows of the split: N.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows of the named side: r.
    #[must_use]
    pub const fn side(&self) -> u64 {
        self.side
    }

    /// Named rows: k.
    #[must_use]
    pub const fn guesses(&self) -> u64 {
        self.guesses
    }

    /// Named rows that are of the side: v.
    #[must_use]
    pub const fn correct(&self) -> u64 {
        self.correct
    }

    pub(super) fn least_correct(&self) -> u64 {
        (self.guesses + self.side).saturating_sub(self.rows)
    }

    pub(super) fn most_correct(&self) -> u64 {
        self.guesses.min(self.side)
    }

    /// The largest probability of v or more correct guesses under (ε, δ)-DP for this adjacency.
    ///
    /// # Errors
    /// [`SplitError::Bound`] for ε or δ outside their domains.
    pub fn p_value(
        &self,
        adjacency: Adjacency,
        epsilon: f64,
        delta: f64,
    ) -> Result<f64, SplitError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        Ok(match adjacency {
            Adjacency::Replace => self.replace(epsilon, delta),
            Adjacency::AddRemove | Adjacency::ZeroOut => self.limits(epsilon, delta)?.smallest(),
        })
    }

    /// The three limits for adding or removing a record.
    ///
    /// # Errors
    /// [`SplitError::Bound`] for ε or δ outside their domains.
    pub fn add_remove_limits(
        &self,
        epsilon: f64,
        delta: f64,
    ) -> Result<AddRemoveLimits, SplitError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        self.limits(epsilon, delta)
    }

    /// Lower bound on ε: the supremum of the ε with p(ε, δ) < `significance`, 0 if there is none.
    ///
    /// # Errors
    /// [`SplitError::Bound`] for δ or a significance outside their domains.
    pub fn epsilon_lower(
        &self,
        adjacency: Adjacency,
        delta: f64,
        significance: f64,
    ) -> Result<f64, SplitError> {
        check_delta(delta)?;
        check_significance(significance)?;
        // an error of the limits of valid counts cannot occur; 1 rejects nothing
        let p = |epsilon| self.p_value(adjacency, epsilon, delta).unwrap_or(1.0);
        Ok(rounded_down(last_below(significance, p)))
    }

    fn limits(&self, epsilon: f64, delta: f64) -> Result<AddRemoveLimits, SplitError> {
        Ok(AddRemoveLimits {
            group: limit_of_two_steps(epsilon, delta, |epsilon, delta| {
                self.replace(epsilon, delta)
            }),
            coins_over_size: self.coins_over_size(epsilon, delta)?,
            moments: self.moments(epsilon, delta),
        })
    }

    /// The limit for replacing a record.
    fn replace(&self, epsilon: f64, delta: f64) -> f64 {
        if self.correct == self.least_correct() {
            return 1.0;
        }
        let tails = self.tails(epsilon);
        (tails.reached() + self.budget_at(self.correct, delta) * tails.step()).min(1.0)
    }

    /// Factor of H(1 − H)/h in the limit for replace, at a number of correct guesses.
    pub(super) fn budget_at(&self, correct: u64, delta: f64) -> f64 {
        let [rows, side, guesses, correct] =
            [self.rows, self.side, self.guesses, correct].map(|count| count as f64);
        side * (rows - side) * delta / (correct * (rows - side - guesses + correct))
    }

    /// h(v, v + 1, …) and h(…, v − 1), both over h(v).
    fn tails(&self, epsilon: f64) -> CutTails {
        let odds = math::exp(epsilon);
        let mut above = Sum::new(1.0);
        for count in self.correct..self.most_correct() {
            if !above.add(self.ratio(count) * odds) {
                break;
            }
        }
        let mut below = Sum::new(0.0);
        for count in (self.least_correct()..self.correct).rev() {
            if !below.add(1.0 / (self.ratio(count) * odds)) {
                break;
            }
        }
        CutTails { above: above.total, below: below.total }
    }

    /// h(j + 1)/h(j) at ε = 0.
    pub(super) fn ratio(&self, count: u64) -> f64 {
        let [rows, side, guesses, count] =
            [self.rows, self.side, self.guesses, count].map(|count| count as f64);
        (side - count) * (guesses - count) / ((count + 1.0) * (rows - side - guesses + count + 1.0))
    }

    fn coins_over_size(&self, epsilon: f64, delta: f64) -> Result<f64, SplitError> {
        if self.correct == 0 {
            return Ok(1.0);
        }
        let share = self.side as f64 / self.rows as f64;
        let coins = Guesses::new(CanaryGame::coins(self.rows)?, self.guesses, self.correct)?;
        let p = coins.with_inclusion_probability(share)?.p_value(epsilon, delta)?;
        // both arguments are in their domain
        let ln_size = ln_binomial_pmf(self.side, self.rows, share).unwrap_or(f64::NEG_INFINITY);
        Ok((p * (1.0 + ROUNDING) / math::exp(ln_size)).min(1.0))
    }

    fn moments(&self, epsilon: f64, delta: f64) -> f64 {
        let [rows, side, guesses, correct] =
            [self.rows, self.side, self.guesses, self.correct].map(|count| count as f64);
        let odds = math::exp(epsilon);
        let (mut drawn, mut chosen, mut spent, mut least) = (1.0, 1.0, 0.0, 1.0_f64);
        let mut taken = 0.0;
        while taken < correct.min(side) {
            drawn *= (guesses - taken) * (side - taken) * odds
                / ((rows - side + taken + 1.0) * (correct - taken));
            chosen *= (side - taken) / (correct - taken);
            spent = 1.0 + odds * spent;
            taken += 1.0;
            let share = if delta == 0.0 { 0.0 } else { chosen * (delta * spent) };
            least = least.min(drawn + share);
            if share >= least {
                break; // it rises from here on: side ≥ correct, so each factor is at least 1
            }
        }
        (least * (1.0 + ROUNDING)).min(1.0)
    }
}

/// Probabilities above and below a count, over that of the count.
pub(super) struct CutTails {
    pub(super) above: f64,
    pub(super) below: f64,
}

impl CutTails {
    /// H(v), rounded up.
    fn reached(&self) -> f64 {
        if self.above.is_infinite() {
            return 1.0;
        }
        (self.above / (self.above + self.below) * (1.0 + ROUNDING)).min(1.0)
    }

    /// H(v)(1 − H(v))/h(v), rounded up.
    pub(super) fn step(&self) -> f64 {
        let (small, large) = (self.above.min(self.below), self.above.max(self.below));
        small / (1.0 + small / large) * (1.0 + ROUNDING)
    }
}

/// A sum of terms with falling ratios.
struct Sum {
    term: f64,
    total: f64,
}

impl Sum {
    fn new(total: f64) -> Self {
        Self { term: 1.0, total }
    }

    /// Adds the next term; false once those to come change nothing.
    fn add(&mut self, ratio: f64) -> bool {
        self.term *= ratio;
        self.total += self.term;
        let rest = if ratio < 1.0 { self.term * ratio / (1.0 - ratio) } else { f64::INFINITY };
        rest > 1e-18 * self.total && self.total.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(rows: u64, side: u64, guesses: u64, correct: u64) -> NamedRows {
        NamedRows::new(rows, side, guesses, correct).unwrap()
    }

    #[test]
    fn without_leakage_the_limit_is_fishers_test() {
        // 2 of 2 named rows of 4, 2 of them of the side: 1/6
        let p = named(4, 2, 2, 2).p_value(Adjacency::Replace, 0.0, 0.0).unwrap();
        assert!((p - 1.0 / 6.0).abs() < 1e-12, "{p}");
        assert_eq!(named(4, 3, 2, 1).p_value(Adjacency::Replace, 0.0, 0.0).unwrap(), 1.0);
    }

    #[test]
    fn limits_rise_with_epsilon_and_delta() {
        for adjacency in [Adjacency::Replace, Adjacency::AddRemove] {
            let named = named(200, 60, 20, 17);
            let mut last = 0.0;
            for step in 0..60 {
                let p = named.p_value(adjacency, 0.05 * f64::from(step), 1e-6).unwrap();
                assert!(p >= last, "{adjacency:?} at {step}: {p} after {last}");
                last = p;
            }
            let at = |delta| named.p_value(adjacency, 0.5, delta).unwrap();
            assert!(at(0.0) < at(1e-5) && at(1e-5) < at(1e-3));
        }
    }

    #[test]
    fn counts_that_cannot_occur_are_refused() {
        for (rows, side, guesses, correct) in [
            (10, 0, 1, 0),
            (10, 10, 1, 1),
            (10, 5, 0, 0),
            (10, 5, 11, 5),
            (10, 5, 8, 2),
            (10, 5, 3, 4),
        ] {
            assert!(NamedRows::new(rows, side, guesses, correct).is_err(), "{rows} {side}");
        }
    }

    #[test]
    fn many_rows_take_few_terms() {
        let named = named(1_000_000, 200_000, 10_000, 9_000);
        let bound = named.epsilon_lower(Adjacency::Replace, 1e-6, 0.05).unwrap();
        // odds of 9,000 : 1,000 among named rows against about 191,000 : 799,000 among the others
        let ln_odds = math::ln(9.0 * 799.0 / 191.0);
        assert!(bound > 0.97 * ln_odds && bound < ln_odds, "{bound}");
    }
}
