//! A split that was drawn within strata.

use super::cut::CutTails;
use super::{NamedRows, SplitError};
use crate::audit::AdjacencyBounds;
use crate::audit::group_privacy::limit_of_two_steps;
use crate::audit::one_run::{check_delta, check_epsilon, check_significance, largest_of_grid};
use crate::audit::one_shot::convolved;
use crate::math;

/// Named rows of one stratum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stratum {
    /// All rows.
    pub rows: u64,
    /// Rows of the named side.
    pub side: u64,
    /// Named rows, a number fixed beforehand.
    pub guesses: u64,
}

/// Named rows of all strata of a stratified split, and how many of them are of the side.
///
/// With the tail H of the sum of independent noncentral hypergeometric counts, one of each stratum,
///
/// P\[v or more\] ≤ H(v) + δ Σ_c r_c(N_c − r_c) max_u H_c(1 − H_c)/(u(N_c − r_c − k_c + u) h_c).
///
/// # Proof
/// Reveal the strata one after another. Given the others, [`NamedRows`] bounds the excess over the tail of
/// a stratum at any count u by its term; the sum of the terms bounds the excess of the sum.
///
/// p is not monotone in ε, so the bound is on the grid of [`Ranking`](crate::audit::one_run::Ranking). Only
/// group privacy says something of add/remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedStrata {
    strata: Vec<NamedRows>,
    correct: u64,
}

impl NamedStrata {
    /// v named rows of all strata are of the side.
    ///
    /// # Errors
    /// [`SplitError::Strata`] without strata, or if v is impossible; as [`NamedRows::new`] for a stratum.
    pub fn new(strata: &[Stratum], correct: u64) -> Result<Self, SplitError> {
        let named = strata.iter().map(|&Stratum { rows, side, guesses }| {
            let least = (guesses + side).saturating_sub(rows);
            NamedRows::new(rows, side, guesses, least)
        });
        let strata = named.collect::<Result<Vec<_>, _>>()?;
        if strata.is_empty() {
            return Err(SplitError::Strata("there is no stratum".to_owned()));
        }
        let [least, most] = [NamedRows::least_correct, NamedRows::most_correct]
            .map(|count| strata.iter().map(count).sum::<u64>());
        if !(least..=most).contains(&correct) {
            let guesses = strata.iter().map(NamedRows::guesses).sum();
            return Err(SplitError::Correct { correct, guesses, least, most });
        }
        Ok(Self { strata, correct })
    }

    /// The largest probability of v or more correct guesses under (ε, δ)-DP for replacing a record.
    ///
    /// # Errors
    /// [`SplitError::Bound`] for ε or δ outside their domains.
    pub fn p_value(&self, epsilon: f64, delta: f64) -> Result<f64, SplitError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        Ok(self.at(epsilon, delta))
    }

    /// Lower bounds on ε: the largest of 0, 0.005, 0.010, … that is rejected with all smaller ones.
    ///
    /// # Errors
    /// [`SplitError::Bound`] for δ or a significance outside their domains.
    pub fn bounds(&self, delta: f64, significance: f64) -> Result<AdjacencyBounds, SplitError> {
        check_delta(delta)?;
        check_significance(significance)?;
        // nothing is known to be rejected with all smaller values without a look at them
        let end = |rejects: &dyn Fn(f64) -> bool| largest_of_grid(|_| false, rejects);
        let group = |epsilon: f64| {
            limit_of_two_steps(epsilon, delta, |epsilon, delta| self.at(epsilon, delta))
                < significance
        };
        Ok(AdjacencyBounds {
            replace: end(&|epsilon| self.at(epsilon, delta) < significance),
            add_remove: end(&group),
        })
    }

    fn at(&self, epsilon: f64, delta: f64) -> f64 {
        let laws: Vec<Law> = self.strata.iter().map(|named| Law::of(named, epsilon)).collect();
        let least: u64 = self.strata.iter().map(NamedRows::least_correct).sum();
        if self.correct == least {
            return 1.0;
        }
        let mut sum = vec![1.0];
        for law in &laws {
            let counts = sum.len() + law.probabilities.len() - 1;
            sum = convolved(&sum, &law.probabilities, 0..counts);
        }
        let reached: f64 = sum[(self.correct - least) as usize..].iter().rev().sum();
        let spent: f64 = laws.iter().map(|law| law.largest_step).sum();
        ((reached + delta * spent) * (1.0 + 1e-12)).min(1.0)
    }
}

/// The law of the correct guesses of a stratum.
struct Law {
    /// From the least possible number on.
    probabilities: Vec<f64>,
    /// The largest factor of δ, over the number of correct guesses.
    largest_step: f64,
}

impl Law {
    fn of(named: &NamedRows, epsilon: f64) -> Self {
        let odds = math::exp(epsilon);
        let (least, most) = (named.least_correct(), named.most_correct());
        let ratios: Vec<f64> = (least..most).map(|count| named.ratio(count) * odds).collect();
        let mut ln = vec![0.0];
        ln.extend(ratios.iter().scan(0.0, |sum, ratio| {
            *sum += math::ln(*ratio);
            Some(*sum)
        }));
        // from the mode on, so that nothing overflows
        let largest = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let terms: Vec<f64> = ln.iter().map(|value| math::exp(value - largest)).collect();
        let total: f64 = terms.iter().sum();
        Self {
            probabilities: terms.iter().map(|term| term / total).collect(),
            largest_step: largest_step(named, &ratios),
        }
    }
}

/// The largest factor of δ over the counts, from the ratios of consecutive probabilities.
fn largest_step(named: &NamedRows, ratios: &[f64]) -> f64 {
    // sums from a count on, and below it, over its own probability
    let mut above = vec![1.0; ratios.len() + 1];
    for (place, ratio) in ratios.iter().enumerate().rev() {
        above[place] = 1.0 + ratio * above[place + 1];
    }
    let (mut below, mut largest) = (0.0, 0.0_f64);
    for (place, ratio) in ratios.iter().enumerate() {
        below = (1.0 + below) / ratio;
        let tails = CutTails { above: above[place + 1], below };
        let count = named.least_correct() + place as u64 + 1;
        largest = largest.max(named.budget_at(count, 1.0) * tails.step());
    }
    largest
}
