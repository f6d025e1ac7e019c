//! Null probabilities from the scores of canaries that were not included.

use super::band::geometric_ranks;
use super::{LEVEL, NullTails, OneShotError, check_significance};
use crate::audit::one_run::{OneRunFinding, RepeatedScores, reversed_finding};
use crate::audit::repeats::Repeats;
use crate::interval::clopper_pearson_upper;
use crate::math;
use crate::special::arrival::probability_of_arrivals;
use crate::special::normal;

/// The share of the significance that limits from fresh draws use.
pub const NULL_SHARE: f64 = 0.1;

/// Mean of normal scores times √K from which canaries are seen.
const SEEN: f64 = 4.0;

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

    /// Number of null scores.
    #[must_use]
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Never: there is at least one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// Whether this score is one of these.
    #[must_use]
    pub fn contains(&self, score: f64) -> bool {
        self.scores.binary_search_by(|null| (score + 0.0).total_cmp(null)).is_ok()
    }

    /// The p-values of canaries that score above all of these.
    #[must_use]
    pub fn least_tails(&self, canaries: usize) -> NullTails {
        let least = self.p_value(f64::MAX);
        NullTails::of_probabilities(std::iter::repeat_n(least, canaries))
    }

    /// ln of the tail of U in which a score must lie for a p-value of at most e^`ln_p`, about: the rank
    /// of the score that it must exceed over N + 1; −∞ where no score suffices.
    pub(super) fn ln_tail_needed(&self, ln_p: f64) -> f64 {
        let p = math::exp(ln_p);
        let count = self.scores.len() as f64;
        match &self.limits {
            None => math::ln((p * count).floor() / count),
            Some(limits) => {
                let rank = limits.partition_point(|&(_, limit)| limit <= p).checked_sub(1);
                let rank = rank.map_or(0, |place| limits[place].0);
                math::ln(rank as f64 / (count + 1.0))
            }
        }
    }

    /// Normal scores of canaries by their rank among these: an estimate, for drawings.
    #[must_use]
    pub fn normal_scores(&self, included: &[f64]) -> Vec<f64> {
        let score = |&score: &f64| {
            let at_least = self.scores.partition_point(|&null| null >= score) as f64;
            -normal::quantile((at_least + 0.5) / (self.scores.len() as f64 + 1.0))
        };
        included.iter().map(score).collect()
    }

    /// Reports included canaries whose scores are lower than these, as those of reversed scores are, or in a
    /// small part of them, as in another unit, and copies: of included canaries, of fresh draws, or of the former among the latter. A pool is what it
    /// is, and its members may be drawn twice.
    ///
    /// # Guarantee
    /// Independent scores, discrete or not, are taken for copies with probability at most 3·10⁻⁵
    /// (`unit::copies_are_reported_and_ties_are_not`).
    #[must_use]
    pub fn findings(&self, included: &[f64]) -> Vec<OneRunFinding> {
        let copies = self.copies(included);
        if copies.is_some() {
            return copies.into_iter().collect();
        }
        let is_included = |place: usize| place < included.len();
        let scores: Vec<f64> = included.iter().chain(&self.scores).copied().collect();
        let coins: Vec<bool> = (0..scores.len()).map(is_included).collect();
        reversed_finding(&scores, &coins).or_else(|| self.narrow(included)).into_iter().collect()
    }

    /// Included canaries in a small part of many different null scores, and not at its upper end.
    fn narrow(&self, included: &[f64]) -> Option<OneRunFinding> {
        let count = included.len() as f64;
        let changes = self.scores.windows(2).filter(|pair| pair[0] != pair[1]).count();
        if included.len() < 3 || 10 * changes < 9 * self.scores.len() {
            return None;
        }
        let scores = self.normal_scores(included);
        let mean = scores.iter().sum::<f64>() / count;
        let squares: f64 = scores.iter().map(|score| (score - mean) * (score - mean)).sum();
        let is_narrow = probability_of_arrivals(0.5 * (count - 1.0), 0.5 * squares) < LEVEL;
        let dispersion = squares / (count - 1.0);
        (is_narrow && mean * count.sqrt() < SEEN)
            .then_some(OneRunFinding::NarrowScores { dispersion })
    }

    fn copies(&self, included: &[f64]) -> Option<OneRunFinding> {
        self.limits.as_ref()?;
        let of = |scores, found: Option<Repeats>| Some(OneRunFinding::repeated(scores, found?));
        of(RepeatedScores::Null, Repeats::within(&self.scores))
            .or_else(|| of(RepeatedScores::Canaries, Repeats::within(included)))
            .or_else(|| {
                let included: Vec<f64> = included.iter().map(|score| score + 0.0).collect();
                of(RepeatedScores::CanariesInNull, Repeats::shared(&included, &self.scores))
            })
    }

    /// The only value of all these scores.
    #[must_use]
    pub fn constant(&self) -> Option<f64> {
        let is_constant = self.scores.first() == self.scores.last();
        self.scores.first().copied().filter(|_| is_constant)
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
    use crate::random::{Purpose, WideNormals};

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
    fn reversed_scores_are_reported() {
        let null = NullScores::of_pool((0..200).map(f64::from).collect()).unwrap();
        assert_eq!(null.findings(&[5.0; 20]).len(), 1);
        assert_eq!(null.findings(&[195.0; 20]), []);
        assert!(null.contains(5.0) && !null.contains(5.5));
    }

    #[test]
    fn scores_in_another_unit_are_reported() {
        let draws = |block: u64, count: usize| -> Vec<f64> {
            let mut draws = vec![0.0; count];
            WideNormals::new(12, Purpose::Test, block).fill(&mut draws);
            draws
        };
        let null = NullScores::of_pool(draws(1, 5_000)).unwrap();
        let found = |scale: f64, shift: f64| {
            let included: Vec<f64> = draws(2, 50).iter().map(|z| scale * z + shift).collect();
            null.findings(&included)
        };
        assert_eq!(found(1.0, 0.0), []);
        assert_eq!(found(1e-3, 9.0), [], "seen");
        assert!(matches!(found(1e-3, 2e-3)[..], [OneRunFinding::NarrowScores { .. }]));
        let answers = NullScores::of_pool(vec![0.0; 5_000]).unwrap();
        assert_eq!(answers.findings(&[0.0; 50]), [], "a classifier");
    }

    #[test]
    fn copies_are_reported_and_ties_are_not() {
        let draws = |block: u64, count: usize| -> Vec<f64> {
            let mut draws = vec![0.0; count];
            WideNormals::new(11, Purpose::Test, block).fill(&mut draws);
            draws
        };
        let found = |included: &[f64], null: Vec<f64>| {
            let null = NullScores::of_fresh_draws(null, 0.005).unwrap();
            match null.findings(included)[..] {
                [] => None,
                [OneRunFinding::RepeatedScores { scores, values, times, .. }] => {
                    Some((scores, values, times))
                }
                ref other => panic!("{other:?}"),
            }
        };
        let (included, null) = (draws(1, 52), draws(2, 50_000));
        assert_eq!(found(&included, null.clone()), None);
        let tiled = found(&included, draws(3, 500).repeat(100));
        assert_eq!(tiled, Some((RepeatedScores::Null, 500, 100)));
        let twice = found(&included.repeat(2), null.clone());
        assert_eq!(twice, Some((RepeatedScores::Canaries, 52, 2)));
        let appended = found(&included, [&null[..], &included].concat());
        assert_eq!(appended, Some((RepeatedScores::CanariesInNull, 52, 1)));
        // scores of few digits, and of a classifier that answers yes or no
        for scale in [1.0, 10.0, 100.0, 1e4] {
            let rounded = |draws: &[f64]| -> Vec<f64> {
                draws.iter().map(|z| (scale * z).round() / scale).collect()
            };
            assert_eq!(found(&rounded(&included), rounded(&null)), None, "{scale}");
        }
        let answers = |draws: &[f64], cut: f64| -> Vec<f64> {
            draws.iter().map(|&z| f64::from(u8::from(z > cut))).collect()
        };
        assert_eq!(found(&answers(&included, 0.0), answers(&null, 2.0)), None);
        // a pool, from which members are drawn several times
        let pool = NullScores::of_pool(draws(4, 100)).unwrap();
        assert_eq!(pool.findings(&draws(4, 100)), []);
    }

    #[test]
    fn the_tail_that_is_needed_has_the_p_value() {
        let scores: Vec<f64> = (0..1_000).map(f64::from).collect();
        let pool = NullScores::of_pool(scores.clone()).unwrap();
        let draws = NullScores::of_fresh_draws(scores, 0.005).unwrap();
        for null in [&pool, &draws] {
            let ln_p = math::ln(0.05);
            let tail = math::exp(null.ln_tail_needed(ln_p));
            assert!((0.02..=0.05).contains(&tail), "{tail}");
            assert!(null.p_value(1_000.5 - 1_000.0 * tail) <= 0.05);
            assert_eq!(null.ln_tail_needed(-20.0), f64::NEG_INFINITY);
            assert_eq!(null.least_tails(3).ln_p()[2], math::ln(null.p_value(2_000.0)));
        }
    }

    #[test]
    fn a_null_needs_scores() {
        assert_eq!(NullScores::of_pool(vec![]), Err(OneShotError::NoNull));
        assert!(NullScores::of_fresh_draws(vec![0.0], 0.0).is_err());
    }
}
