//! Null probabilities from the scores of canaries that were not included.

use super::band::geometric_ranks;
use super::{NullTails, OneShotError, check_significance};
use crate::interval::clopper_pearson_upper;

/// Scores of canaries that were not included, from the distribution U of the plan.
///
/// # Example
/// ```
/// use dpscope_core::audit::one_shot::{AnyMechanism, CanaryDesign, NullScores};
/// let null = NullScores::of_pool((0..1_000).map(f64::from).collect())?;
/// let canaries = AnyMechanism::new(CanaryDesign::Poisson { mean: 10.0 })?;
/// let bound = canaries.epsilon_lower(&null.tails(&[999.0; 10]), 0.0, 0.05)?;
/// assert_eq!(format!("{bound:.2}"), "5.71");
/// # Ok::<(), dpscope_core::audit::one_shot::OneShotError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NullScores {
    /// Falling; NaN as infinity.
    scores: Vec<f64>,
    /// Ranks of the grid with limits of the tail beyond them; none for a pool, which is exact.
    limits: Option<Vec<(u64, f64)>>,
}

impl NullScores {
    /// Scores of fresh independent draws from U, N ≥ 100 k̄ of them.
    ///
    /// For r of a fixed grid, the tail of U beyond the r-th largest score is at most Beta(r, N + 1 − r)
    /// distributed: its upper limits hold together with probability 1 − `significance`, by a union.
    /// Pass the bound the rest of its significance.
    ///
    /// # Errors
    /// [`OneShotError::NoNull`], [`OneShotError::Significance`].
    pub fn of_fresh_draws(scores: Vec<f64>, significance: f64) -> Result<Self, OneShotError> {
        check_significance(significance)?;
        let count = scores.len();
        let grid = geometric_ranks(count as f64);
        let tail = significance / grid.len().max(1) as f64;
        let limit = |&rank: &u64| {
            let limit = clopper_pearson_upper(rank - 1, count as u64, tail);
            (rank, limit.unwrap_or(1.0))
        };
        let limits = grid.iter().map(limit).collect();
        Self::new(scores, Some(limits))
    }

    /// Scores of all members of a finite pool from which canaries are drawn uniformly, with
    /// replacement: exact. A canary that is drawn twice counts twice.
    ///
    /// # Errors
    /// [`OneShotError::NoNull`].
    pub fn of_pool(scores: Vec<f64>) -> Result<Self, OneShotError> {
        Self::new(scores, None)
    }

    fn new(mut scores: Vec<f64>, limits: Option<Vec<(u64, f64)>>) -> Result<Self, OneShotError> {
        if scores.is_empty() {
            return Err(OneShotError::NoNull);
        }
        for score in &mut scores {
            *score = if score.is_nan() { f64::INFINITY } else { *score + 0.0 };
        }
        scores.sort_unstable_by(|a, b| b.total_cmp(a));
        Ok(Self { scores, limits })
    }

    /// p of the scores of the included canaries, higher where the attack suspects inclusion.
    #[must_use]
    pub fn tails(&self, included: &[f64]) -> NullTails {
        NullTails::of_probabilities(included.iter().map(|&score| self.p_value(score)))
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
                let beyond = limits.iter().find(|(rank, _)| *rank > at_least as u64);
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
    fn a_null_needs_scores() {
        assert_eq!(NullScores::of_pool(vec![]), Err(OneShotError::NoNull));
        assert!(NullScores::of_fresh_draws(vec![0.0], 0.0).is_err());
    }
}
