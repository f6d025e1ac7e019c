//! Ranks of secrets, and lists of several lengths.

use super::odds::poisson_binomial_tail;
use super::walk::{first_as_unlikely, largest_of_grid, ln_reached};
use super::{ListGuesses, OneRunError, check_delta, check_epsilon, check_significance};
use crate::adjacency::Adjacency;
use crate::audit::group_privacy::of_two_steps;
use crate::math;
use crate::special::{UnitPoint, ln_binomial_pmf};

/// Lists of different lengths for secrets with S equally probable values.
///
/// With independent hits q_i = j_i e^ε/(j_i e^ε + S − j_i) and the tail PB of their number,
/// P\[v or more\] ≤ PB(v) + mδ(S − 1)/(S − 1 + e^ε). Lengths, and which canaries are guessed, may depend on what
/// training released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MixedLists {
    canaries: u64,
    values: u64,
    lengths: Vec<u64>,
    correct: u64,
}

impl MixedLists {
    /// v of the lists have the true value.
    ///
    /// # Errors
    /// As [`ListGuesses::new`] for each length, and [`ListGuesses::with_counts`].
    pub fn new(
        canaries: u64,
        values: u64,
        lengths: Vec<u64>,
        correct: u64,
    ) -> Result<Self, OneRunError> {
        for &length in &lengths {
            let guesses = lengths.len() as u64;
            ListGuesses::new(canaries, values, length)?.with_counts(guesses, correct)?;
        }
        if lengths.is_empty() {
            return Err(OneRunError::Guesses { guesses: 0, canaries });
        }
        Ok(Self { canaries, values, lengths, correct })
    }

    /// The largest probability of v or more correct lists under (ε, δ)-DP for replacing a record.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`], [`OneRunError::Delta`].
    pub fn p_value(&self, epsilon: f64, delta: f64) -> Result<f64, OneRunError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        Ok((self.reached(epsilon) + self.spent(epsilon, delta)).min(1.0))
    }

    /// Lower bound on ε: the largest of 0, 0.005, 0.010, … that is rejected together with all smaller ones.
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`].
    pub fn epsilon_lower(&self, delta: f64, significance: f64) -> Result<f64, OneRunError> {
        check_delta(delta)?;
        check_significance(significance)?;
        let p = |epsilon: f64, of_delta: f64| self.reached(epsilon) + self.spent(of_delta, delta);
        Ok(largest_of_grid(
            |epsilon| p(epsilon, 0.0) < significance,
            |epsilon| p(epsilon, epsilon) < significance,
        ))
    }

    fn reached(&self, epsilon: f64) -> f64 {
        let hits =
            self.lengths.iter().map(|&length| (hit(self.values, length, epsilon).value(), 1));
        poisson_binomial_tail(hits, self.correct)
    }

    fn spent(&self, epsilon: f64, delta: f64) -> f64 {
        monotone_cost(self.canaries, self.values, epsilon) * delta
    }
}

/// Ranks of the true values of m secrets: V_j of them are at most j, for all j of a fixed list of lengths.
///
/// Under (ε, 0)-DP for replacing a record the ranks dominate independent ones with
/// P\[R ≤ j\] = q_j = j e^ε/(j e^ε + S − j). The statistic is s = min_j P\[Bin(m, q_j) ≥ V_j\], and α the probability
/// of so small an s under these. P\[so small an s\] ≤ α + mδ(S − 1)/(S − 1 + e^ε).
///
/// Ties count against the attacker; a missing rank is S.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRanks {
    canaries: u64,
    values: u64,
    lengths: Vec<u64>,
    correct: Vec<u64>,
}

/// The list lengths of ranks: 1, 2, 4, … up to S/2.
#[must_use]
pub fn rank_lengths(values: u64) -> Vec<u64> {
    (0..63).map(|power| 1_u64 << power).take_while(|&length| length <= values / 2).collect()
}

/// Most ranks whose joint probability is computed; for more it would take minutes, and the sum over all lengths is
/// valid, and hardly weaker.
const MOST_RANKED: u64 = 20_000;

impl SecretRanks {
    /// `correct[i]` of the ranks are at most `lengths[i]`.
    ///
    /// # Errors
    /// As [`ListGuesses::new`]; [`OneRunError::Lengths`] without lengths, [`OneRunError::Ranking`] if lengths or
    /// counts fall.
    pub fn new(
        canaries: u64,
        values: u64,
        lengths: Vec<u64>,
        correct: Vec<u64>,
    ) -> Result<Self, OneRunError> {
        if lengths.is_empty() || lengths.len() != correct.len() {
            return Err(OneRunError::Lengths { sizes: lengths.len(), counts: correct.len() });
        }
        let (mut length_before, mut before) = (0, 0);
        for (&guesses, &correct) in lengths.iter().zip(&correct) {
            ListGuesses::new(canaries, values, guesses)?.with_counts(canaries, correct)?;
            if guesses <= length_before || correct < before {
                let guesses_before = length_before;
                return Err(OneRunError::Ranking { correct, guesses, before, guesses_before });
            }
            (length_before, before) = (guesses, correct);
        }
        Ok(Self { canaries, values, lengths, correct })
    }

    /// The counts of these ranks at the usual lengths.
    ///
    /// # Errors
    /// As [`SecretRanks::new`]; [`OneRunError::Rank`] for a rank outside 1 … S.
    pub fn of_ranks(values: u64, ranks: &[u64]) -> Result<Self, OneRunError> {
        if let Some(&rank) = ranks.iter().find(|&&rank| rank == 0 || rank > values) {
            return Err(OneRunError::Rank { rank, values });
        }
        let lengths = rank_lengths(values);
        let at_most = |length: &u64| ranks.iter().filter(|&rank| rank <= length).count() as u64;
        let correct = lengths.iter().map(at_most).collect();
        Self::new(ranks.len() as u64, values, lengths, correct)
    }

    /// s: the smallest tail of all lengths, at ε and δ = 0.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`].
    pub fn smallest_p_value(&self, epsilon: f64) -> Result<f64, OneRunError> {
        check_epsilon(epsilon)?;
        Ok(math::exp(self.ln_smallest(epsilon)))
    }

    /// α: the probability of so small an s, at ε and δ = 0.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`].
    pub fn joint_p_value(&self, epsilon: f64) -> Result<f64, OneRunError> {
        check_epsilon(epsilon)?;
        Ok(self.crossing(epsilon, self.ln_smallest(epsilon)))
    }

    /// The largest probability of such ranks under (ε, δ)-DP for replacing a record.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`], [`OneRunError::Delta`].
    pub fn p_value(&self, epsilon: f64, delta: f64) -> Result<f64, OneRunError> {
        check_delta(delta)?;
        Ok((self.joint_p_value(epsilon)? + self.spent(epsilon, delta)).min(1.0))
    }

    /// How many of the ranks are at most each length.
    #[must_use]
    pub fn correct(&self) -> &[u64] {
        &self.correct
    }

    /// Lower bound on ε: the largest of 0, 0.005, 0.010, … that is rejected together with all smaller ones;
    /// for adding or removing a record by group privacy, the limit for replace at (2ε, (1 + e^ε)δ).
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
        let at = |epsilon| match adjacency {
            Adjacency::Replace => (epsilon, delta),
            Adjacency::AddRemove | Adjacency::ZeroOut => of_two_steps(epsilon, delta),
        };
        let by_union = |epsilon: f64| {
            let (epsilon, delta) = at(epsilon);
            let level = self.lengths.len() as f64 * math::exp(self.ln_smallest(epsilon));
            level + self.spent(0.0, delta) < significance
        };
        let rejects = |epsilon: f64| {
            let (epsilon, delta) = at(epsilon);
            let ln_smallest = self.ln_smallest(epsilon);
            let left = significance - self.spent(epsilon, delta);
            math::exp(ln_smallest) < left && self.crossing(epsilon, ln_smallest) < left
        };
        Ok(largest_of_grid(by_union, rejects))
    }

    fn spent(&self, epsilon: f64, delta: f64) -> f64 {
        monotone_cost(self.canaries, self.values, epsilon) * delta
    }

    fn ln_smallest(&self, epsilon: f64) -> f64 {
        let tails = self.lengths.iter().zip(&self.correct).map(|(&length, &correct)| {
            ln_reached(self.canaries, correct, hit(self.values, length, epsilon))
        });
        tails.fold(0.0, f64::min)
    }

    /// The probability that counts of independent ranks reach the boundary of s at some length.
    fn crossing(&self, epsilon: f64, ln_smallest: f64) -> f64 {
        if self.canaries > MOST_RANKED {
            let union = self.lengths.len() as f64 * math::exp(ln_smallest);
            return union.min(1.0);
        }
        let canaries = self.canaries as usize;
        let mut below = vec![1.0]; // by the count at the length before
        let mut crossed = 0.0;
        let mut before = UnitPoint::ZERO;
        for &length in &self.lengths {
            let q = hit(self.values, length, epsilon);
            // the same expression gave s, so the deciding length crosses its own boundary
            let boundary = first_as_unlikely(self.canaries, q, ln_smallest) as usize;
            // of those with a larger rank than the length before
            let step = (q.value() - before.value()) / before.complement();
            let mut next = vec![0.0; boundary];
            for (count, &probability) in below.iter().enumerate() {
                if probability > 0.0 {
                    let left = canaries - count;
                    crossed += spread(&mut next, count, left, step, probability);
                }
            }
            (below, before) = (next, q);
        }
        (crossed * (1.0 + 1e-12)).min(1.0)
    }
}

/// Adds the law of `count` + Bin(`left`, `step`), times a probability, to the counts below a boundary, and
/// returns what is not below it.
fn spread(next: &mut [f64], count: usize, left: usize, step: f64, probability: f64) -> f64 {
    let boundary = next.len();
    let tail =
        ln_reached(left as u64, boundary.saturating_sub(count) as u64, UnitPoint::from_value(step));
    let odds = step / (1.0 - step);
    // from the mode outward, since the first term may underflow
    let most = boundary.min(count + left + 1);
    let mode = ((left as f64 + 1.0) * step) as usize;
    let start = mode.min(most.saturating_sub(count + 1));
    if count < most {
        // counts and step are in their domains
        let ln_start = ln_binomial_pmf(start as u64, left as u64, step);
        let at_start = probability * math::exp(ln_start.unwrap_or(f64::NEG_INFINITY));
        let mut term = at_start;
        for hits in start..most - count {
            next[count + hits] += term;
            term *= odds * (left - hits) as f64 / (hits + 1) as f64;
        }
        let mut term = at_start;
        for hits in (0..start).rev() {
            term *= (hits + 1) as f64 / (odds * (left - hits) as f64);
            if term == 0.0 {
                break;
            }
            next[count + hits] += term;
        }
    }
    probability * math::exp(tail)
}

/// q = j e^ε/(j e^ε + S − j).
fn hit(values: u64, length: u64, epsilon: f64) -> UnitPoint {
    let ln_odds = math::ln(length as f64) - math::ln((values - length) as f64);
    UnitPoint::from_logit(epsilon + ln_odds)
}

/// m(S − 1)/(S − 1 + e^ε): the factor of δ of a test that is monotone in hits.
fn monotone_cost(canaries: u64, values: u64, epsilon: f64) -> f64 {
    let others = (values - 1) as f64;
    canaries as f64 * others / (others + math::exp(epsilon))
}
