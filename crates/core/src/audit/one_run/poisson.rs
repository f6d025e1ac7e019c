//! Canaries of a known distribution, in Poisson number: canaries that were not included are free.

use super::error::OneRunError;
use super::tails::rounded_down;
use super::{check_delta, check_significance};
use crate::interval::clopper_pearson_upper;
use crate::math;

/// A plan: the number of canaries is Poisson with a stated mean, each is drawn from one stated
/// distribution U.
///
/// No coins and no ceiling. p-values p₁ ≤ p₂ ≤ … of the scores of the included canaries, under fresh
/// draws from U, bound ε by
///
/// ε ≥ max_j ln(q_j/k̄) − ln p_{j + j₀}
///
/// over a fixed grid of j, where the j-th arrival of a Poisson process of rate 1 is before q_j for
/// some j with probability at most α − k̄δ/(j₀ + 1), and each q_j has the same chance γ alone.
///
/// Valid for add/remove adjacency where canaries are records added to the data, and every constant of
/// the training (sampling rate, steps, normaliser, noise) is fixed by the plan. A sampler that fixes
/// the number of records does not qualify.
///
/// # Proof
/// Fill each of many slots with chance q, m q = k̄, and reveal them in order. Given the output and
/// earlier slots, keep a filled slot with the chance min(1, e^ε ν₀/ν), ν and ν₀ the densities of the
/// output with the slot filled and empty; flag it otherwise. A slot is filled, kept and of a p-value
/// in dp with chance at most q/(1 − q) e^ε dp, and filled and flagged with chance at most qδ. As
/// q → 0, kept p-values are dominated by a Poisson process of rate k̄e^ε, and by Markov's inequality
/// more than j₀ are flagged with probability at most k̄δ/(j₀ + 1).
///
/// # Example
/// ```
/// use dpscope_core::audit::one_run::{NullScores, PoissonCanaries};
/// let plan = PoissonCanaries::new(10.0, 0.0, 0.05)?;
/// let null = NullScores::of_pool((0..1_000).map(f64::from).collect())?;
/// let bound = plan.epsilon_lower(&null, &[999.0; 10]);
/// assert_eq!(format!("{bound:.2}"), "5.71");
/// # Ok::<(), dpscope_core::audit::one_run::OneRunError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PoissonCanaries {
    expected: f64,
    flagged: usize,
    /// (j, q_j).
    boundary: Vec<(usize, f64)>,
}

/// The grid ends here: beyond it a bound gains nothing, and the boundary takes long.
const LAST_OF_GRID: usize = 1024;

impl PoissonCanaries {
    /// The rule for a mean k̄, at δ and a significance α that [`NullScores`] does not use.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `expected` | k̄ | [1, 10⁶] |
    /// | `delta` | δ; above α/(5k̄) the bound falls fast | [0, 1) |
    /// | `significance` | α | (0, 1) |
    ///
    /// # Guarantee
    /// If training is (ε, δ)-DP, [`epsilon_lower`](Self::epsilon_lower) exceeds ε with probability at
    /// most α and the significance of the null together
    /// (`tests/coverage/one_run.rs::poisson_canaries_cover_and_their_twins_do_not`).
    ///
    /// # Errors
    /// [`OneRunError::Expected`], [`OneRunError::Delta`], [`OneRunError::Significance`].
    ///
    /// # Numerics
    /// q_j agrees with published values to six digits (`tests/oracles/one_run.rs::poisson_boundary`).
    pub fn new(expected: f64, delta: f64, significance: f64) -> Result<Self, OneRunError> {
        if !(1.0..=1e6).contains(&expected) {
            return Err(OneRunError::Expected { expected });
        }
        check_delta(delta)?;
        check_significance(significance)?;
        let budget = expected * delta;
        let flagged = (5.0 * budget / significance).ceil().max(1.0) - 1.0;
        let left = significance - budget / (flagged + 1.0);
        let grid = grid_up_to((expected as usize).min(LAST_OF_GRID));
        Ok(Self { expected, flagged: flagged as usize, boundary: boundary(&grid, left) })
    }

    /// (j, q_j) of the grid.
    #[must_use]
    pub fn boundary(&self) -> &[(usize, f64)] {
        &self.boundary
    }

    /// Lower bound on ε from the scores of the included canaries, higher where the attack suspects
    /// inclusion; one that is not finite counts as the lowest.
    #[must_use]
    pub fn epsilon_lower(&self, null: &NullScores, included: &[f64]) -> f64 {
        let mut p: Vec<f64> = included.iter().map(|&score| null.p_value(score)).collect();
        p.sort_unstable_by(f64::total_cmp);
        let at = |&(j, arrival): &(usize, f64)| {
            let p = p.get(j + self.flagged - 1)?;
            Some(math::ln(arrival / self.expected) - math::ln(*p))
        };
        rounded_down(self.boundary.iter().filter_map(at).fold(0.0, f64::max))
    }
}

/// 1, 2, 3, 4, 6, 8, 11, …: ⌊2^{i/2} + ½⌋.
fn grid_up_to(last: usize) -> Vec<usize> {
    let at = |i: u32| (math::powf(2.0, 0.5 * f64::from(i)) + 0.5) as usize;
    let mut grid: Vec<usize> = (0..64).map(at).take_while(|&j| j <= last).collect();
    grid.dedup();
    grid
}

/// Equal quantiles of the j-th arrivals that are all passed with probability at least 1 − α.
fn boundary(grid: &[usize], significance: f64) -> Vec<(usize, f64)> {
    let quantiles = |ln_chance: f64| -> Vec<(usize, f64)> {
        grid.iter().map(|&j| (j, arrival_quantile(j, ln_chance))).collect()
    };
    let all = math::ln(significance);
    let (mut low, mut high) = (all - math::ln(grid.len() as f64), all);
    while high - low > 1e-12 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if chance_of_an_early_arrival(&quantiles(middle)) <= significance {
            low = middle;
        } else {
            high = middle;
        }
    }
    quantiles(low)
}

/// The time t with P\[Γ_j < t\] = P\[Poisson(t) ≥ j\] = e^`ln_chance`, rounded down.
fn arrival_quantile(j: usize, ln_chance: f64) -> f64 {
    let (mut low, mut high) = (0.0, 2.0 * j as f64 + 50.0);
    for _ in 0..70 {
        let middle = f64::midpoint(low, high);
        let terms = poisson_terms(middle, j);
        let below: f64 = terms.iter().sum();
        // from the smaller side
        let chance = if middle > j as f64 { 1.0 - below } else { poisson_tail(middle, j) };
        if math::ln(chance) <= ln_chance { low = middle } else { high = middle }
    }
    low
}

/// P\[Poisson(mean) = n\] for n below `count`.
fn poisson_terms(mean: f64, count: usize) -> Vec<f64> {
    let mut ln_factorial = 0.0;
    let ln_mean = math::ln(mean);
    let term = |n: usize| {
        if n > 0 {
            ln_factorial += math::ln(n as f64);
        }
        math::exp(n as f64 * ln_mean - mean - ln_factorial)
    };
    (0..count).map(term).collect()
}

/// P\[Poisson(mean) ≥ j\] for a mean of at most j.
fn poisson_tail(mean: f64, j: usize) -> f64 {
    let ln_first = j as f64 * math::ln(mean) - mean - math::lgamma(j as f64 + 1.0);
    let (mut ratio, mut sum, mut n) = (1.0, 0.0, j as f64);
    while ratio > 1e-18 * sum {
        sum += ratio;
        n += 1.0;
        ratio *= mean / n;
    }
    math::exp(ln_first) * sum
}

/// P\[some Γ_j < q_j\], by the number of arrivals before each q_j.
fn chance_of_an_early_arrival(boundary: &[(usize, f64)]) -> f64 {
    let (mut on_time, mut before, mut early) = (vec![1.0], 0.0, 0.0);
    for &(j, arrival) in boundary {
        let terms = poisson_terms(arrival - before, j);
        // P[increment ≥ n]
        let mut at_least = vec![0.0; j + 1];
        at_least[j] = poisson_tail_of_any(arrival - before, j, &terms);
        for n in (0..j).rev() {
            at_least[n] = at_least[n + 1] + terms[n];
        }
        let mut next = vec![0.0; j];
        for (count, &chance) in on_time.iter().enumerate() {
            early += chance * at_least[j - count];
            for (new, term) in next[count..].iter_mut().zip(&terms) {
                *new += chance * term;
            }
        }
        (on_time, before) = (next, arrival);
    }
    early
}

fn poisson_tail_of_any(mean: f64, j: usize, terms: &[f64]) -> f64 {
    if mean <= j as f64 { poisson_tail(mean, j) } else { 1.0 - terms.iter().sum::<f64>() }
}

/// Scores that canaries get which were not included.
#[derive(Debug, Clone, PartialEq)]
pub struct NullScores {
    /// Falling; NaN as infinity.
    scores: Vec<f64>,
    /// Ranks of the grid with limits of the tail beyond them; none for a pool, which is exact.
    limits: Option<Vec<(usize, f64)>>,
}

impl NullScores {
    /// Scores of fresh independent draws from U, N ≥ 100 k̄ of them.
    ///
    /// For r of a fixed grid, the tail of U beyond the r-th largest score is at most Beta(r, N + 1 − r)
    /// distributed: its upper limits hold together with probability 1 − `significance`, by a union.
    ///
    /// # Errors
    /// [`OneRunError::NoNull`], [`OneRunError::Significance`].
    pub fn of_fresh_draws(scores: Vec<f64>, significance: f64) -> Result<Self, OneRunError> {
        check_significance(significance)?;
        let count = scores.len();
        let grid = grid_up_to(count);
        let tail = significance / grid.len().max(1) as f64;
        let limit = |&rank: &usize| {
            let limit = clopper_pearson_upper(rank as u64 - 1, count as u64, tail);
            (rank, limit.unwrap_or(1.0))
        };
        let limits = grid.iter().map(limit).collect();
        Self::new(scores, Some(limits))
    }

    /// Scores of all members of a finite pool from which canaries are drawn uniformly, with
    /// replacement: exact. A canary that is drawn twice counts twice.
    ///
    /// # Errors
    /// [`OneRunError::NoNull`].
    pub fn of_pool(scores: Vec<f64>) -> Result<Self, OneRunError> {
        Self::new(scores, None)
    }

    fn new(mut scores: Vec<f64>, limits: Option<Vec<(usize, f64)>>) -> Result<Self, OneRunError> {
        if scores.is_empty() {
            return Err(OneRunError::NoNull);
        }
        for score in &mut scores {
            *score = if score.is_nan() { f64::INFINITY } else { *score + 0.0 };
        }
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        Ok(Self { scores, limits })
    }

    /// An upper limit of the probability that a canary that is not included has this score or more.
    ///
    /// Fresh draws: the limit of the smallest rank of the grid whose score lies strictly below; ties
    /// count against the attack.
    #[must_use]
    pub fn p_value(&self, score: f64) -> f64 {
        if !score.is_finite() {
            return 1.0;
        }
        let at_least = self.scores.partition_point(|&null| null >= score);
        match &self.limits {
            None => at_least.max(1) as f64 / self.scores.len() as f64,
            Some(limits) => {
                let beyond = limits.iter().find(|(rank, _)| *rank > at_least);
                beyond.map_or(1.0, |&(_, limit)| limit)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_count_against_the_attack() {
        let null = NullScores::of_fresh_draws(vec![0.0, 1.0, 1.0, 2.0], 0.05).unwrap();
        assert!(null.p_value(1.0) > null.p_value(1.5));
        assert_eq!(null.p_value(0.0), 1.0);
        assert_eq!(null.p_value(f64::NAN), 1.0);
        let pool = NullScores::of_pool(vec![0.0, 1.0, 1.0, 2.0]).unwrap();
        assert_eq!([2.5, 2.0, 1.0, 0.0].map(|s| pool.p_value(s)), [0.25, 0.25, 0.75, 1.0]);
    }

    #[test]
    fn delta_spends_significance_and_arrivals() {
        let without = PoissonCanaries::new(100.0, 0.0, 0.05).unwrap();
        let with = PoissonCanaries::new(100.0, 1e-3, 0.05).unwrap();
        assert_eq!((without.flagged, with.flagged), (0, 9));
        let null = NullScores::of_pool((0..100_000).map(f64::from).collect()).unwrap();
        let seen: Vec<f64> = (0..100).map(|i| f64::from(99_999 - 10 * i)).collect();
        let bound = |plan: &PoissonCanaries| plan.epsilon_lower(&null, &seen);
        assert!(bound(&with) < bound(&without) - 0.05);
        assert_eq!(with.epsilon_lower(&null, &[99_999.0; 5]), 0.0);
    }

    #[test]
    fn arguments_outside_their_domains_are_refused() {
        for expected in [0.0, 2e6, f64::NAN] {
            assert!(PoissonCanaries::new(expected, 0.0, 0.05).is_err());
        }
        assert!(PoissonCanaries::new(10.0, 1.0, 0.05).is_err());
        assert!(PoissonCanaries::new(10.0, 0.0, 0.0).is_err());
        assert_eq!(NullScores::of_pool(vec![]), Err(OneRunError::NoNull));
    }
}
