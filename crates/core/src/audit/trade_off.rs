//! Error counts of an attack at every threshold of its scores.

#[cfg(not(target_arch = "wasm32"))]
mod ascending;
mod buckets;
mod cut;
mod ordered_pairs;
mod worlds;

use crate::adjacency::World;
use crate::audit::histogram::{ScoreBins, ScoreHistogram};
use crate::interval::IntervalError;
pub use cut::{Cut, ErrorCounts, RateIntervals, Trials};
use worlds::{Worlds, merged};

/// Invalid scores.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TradeOffError {
    /// A world without a single observation.
    #[error("the {world} world has no observations; an audit needs both worlds")]
    EmptyWorld {
        /// `target` or `zero-out`.
        world: &'static str,
    },
    /// Histograms of different lengths.
    #[error("the two worlds' histograms have {target} and {zero_out} bins, expected {expected}")]
    Bins {
        /// Bins in D.
        target: usize,
        /// Bins in D′.
        zero_out: usize,
        /// Bins of the layout.
        expected: usize,
    },
}

/// Error counts at every threshold that can be optimal, in ascending order: FN never falls, FP
/// never rises.
#[derive(Debug, Clone, PartialEq)]
pub struct TradeOff {
    trials: Trials,
    source: Source,
}

#[derive(Debug, Clone, PartialEq)]
enum Source {
    /// Every edge of a histogram.
    Edges(Vec<Cut>),
    /// Finite scores of both worlds. Threshold 0 is below every score, threshold j at the j-th score
    /// of D′ in ascending order: between two of those FP is constant and FN only rises.
    Scores(Worlds),
}

impl TradeOff {
    /// Thresholds at every edge of two histograms with the same bins.
    ///
    /// # Errors
    /// A world without observations, or histograms that do not fit `bins`.
    pub fn from_histograms(
        bins: &ScoreBins,
        target: &ScoreHistogram,
        zero_out: &ScoreHistogram,
    ) -> Result<Self, TradeOffError> {
        let (d, d_prime) = (target.counts(), zero_out.counts());
        if d.len() != bins.len() || d_prime.len() != bins.len() {
            let (target, zero_out) = (d.len(), d_prime.len());
            return Err(TradeOffError::Bins { target, zero_out, expected: bins.len() });
        }
        let trials = Trials { target: target.total(), zero_out: zero_out.total() };
        let mut errors = ErrorCounts { false_positives: trials.zero_out, false_negatives: 0 };
        let cuts = (0..bins.edges()).map(|edge| {
            errors.false_negatives += d[edge];
            errors.false_positives -= d_prime[edge];
            Cut { threshold: bins.threshold(edge), errors }
        });
        TradeOff { trials, source: Source::Edges(cuts.collect()) }.checked()
    }

    /// Thresholds between distinct scores: ties are never separated.
    ///
    /// Scores are sorted once a question needs their order; a few thresholds are counted without.
    ///
    /// A score that is not finite is a failed run. It counts against the attacker: in D as a false
    /// negative, in D′ as a false positive, at every threshold.
    ///
    /// # Errors
    /// A world without observations.
    pub fn from_scores(
        target: impl Into<Vec<f64>>,
        zero_out: impl Into<Vec<f64>>,
    ) -> Result<Self, TradeOffError> {
        let (target, zero_out) = (target.into(), zero_out.into());
        let trials = Trials { target: target.len() as u64, zero_out: zero_out.len() as u64 };
        TradeOff { trials, source: Source::Scores(Worlds::new([target, zero_out])) }.checked()
    }

    /// Sorts the scores now, where they lie: for questions about all thresholds.
    pub(in crate::audit) fn in_order(self) -> Self {
        let source = match self.source {
            Source::Scores(worlds) => Source::Scores(worlds.into_ordered()),
            edges @ Source::Edges(_) => edges,
        };
        TradeOff { source, ..self }
    }

    /// The trade-off of all observations of two trade-offs of sorted scores.
    ///
    /// `None` if one of them is of histograms.
    #[must_use]
    pub fn joined(&self, other: &TradeOff) -> Option<TradeOff> {
        let (Source::Scores(one), Source::Scores(two)) = (&self.source, &other.source) else {
            return None;
        };
        let trials = Trials {
            target: self.trials.target + other.trials.target,
            zero_out: self.trials.zero_out + other.trials.zero_out,
        };
        Some(TradeOff { trials, source: Source::Scores(one.joined(two)) })
    }

    /// Lowest and highest finite score; `None` without any, or for histograms.
    #[must_use]
    pub fn score_range(&self) -> Option<(f64, f64)> {
        match &self.source {
            Source::Scores(worlds) => worlds.range(),
            Source::Edges(_) => None,
        }
    }

    /// Finite scores of D and of D′, rising; `None` for histograms.
    pub(super) fn world_scores(&self) -> Option<[&[f64]; 2]> {
        match &self.source {
            Source::Scores(worlds) => Some(worlds.ordered().each_ref().map(Vec::as_slice)),
            Source::Edges(_) => None,
        }
    }

    /// Finite scores of both worlds together, rising; empty for histograms.
    #[must_use]
    pub fn pooled_scores(&self) -> Vec<f64> {
        self.world_scores().map_or_else(Vec::new, |[target, zero_out]| merged(target, zero_out))
    }

    fn checked(self) -> Result<Self, TradeOffError> {
        match (self.trials.target, self.trials.zero_out) {
            (0, _) => Err(TradeOffError::EmptyWorld { world: World::Target.name() }),
            (_, 0) => Err(TradeOffError::EmptyWorld { world: World::ZeroOut.name() }),
            _ => Ok(self),
        }
    }

    /// Observations of each world, failed runs included.
    #[must_use]
    pub fn trials(&self) -> Trials {
        self.trials
    }

    /// Number of thresholds, at least 1; two of them may be equal.
    #[must_use]
    pub fn cut_count(&self) -> usize {
        match &self.source {
            Source::Edges(cuts) => cuts.len(),
            Source::Scores(worlds) => worlds.lengths()[1] + 1,
        }
    }

    /// Cut `index` of [`cut_count`](Self::cut_count), by rising threshold; indices beyond the end
    /// mean the last one.
    #[must_use]
    pub fn cut(&self, index: usize) -> Cut {
        match &self.source {
            Source::Edges(cuts) => cuts[index.min(cuts.len() - 1)],
            Source::Scores(worlds) => {
                let [_, zero_out] = worlds.ordered();
                match index.checked_sub(1) {
                    Some(i) if !zero_out.is_empty() => {
                        self.at_threshold(zero_out[i.min(zero_out.len() - 1)])
                    }
                    _ => self.at_threshold(f64::NEG_INFINITY),
                }
            }
        }
    }

    /// Index of the first cut where a condition holds that holds at every later cut, or the number
    /// of cuts.
    pub(in crate::audit) fn first_cut_where(&self, holds: impl Fn(ErrorCounts) -> bool) -> usize {
        let (mut first, mut count) = (0, self.cut_count());
        while count > 0 {
            let half = count / 2;
            if holds(self.cut(first + half).errors) {
                count = half;
            } else {
                first += half + 1;
                count -= half + 1;
            }
        }
        first
    }

    /// All thresholds with their error counts, in ascending order.
    pub fn cuts(&self) -> impl Iterator<Item = Cut> {
        (0..self.cut_count()).map(|index| self.cut(index))
    }

    /// Error counts of the test with threshold τ; on a histogram, at the highest edge not above τ,
    /// or at the lowest edge.
    #[must_use]
    pub fn at_threshold(&self, threshold: f64) -> Cut {
        match &self.source {
            Source::Edges(cuts) => {
                let after = cuts.partition_point(|cut| cut.threshold <= threshold);
                cuts[after.saturating_sub(1)]
            }
            Source::Scores(worlds) => {
                let [target, zero_out] = worlds.at_most(threshold);
                let failed = self.trials.target - worlds.lengths()[0] as u64;
                let errors = ErrorCounts {
                    false_negatives: failed + target,
                    false_positives: self.trials.zero_out - zero_out,
                };
                Cut { threshold, errors }
            }
        }
    }

    /// Error counts between equal steps of the range of scores that are not in order; `None` for
    /// others, which need no help.
    pub(in crate::audit) fn coarse(&self) -> Option<TradeOff> {
        let Source::Scores(worlds) = &self.source else { return None };
        let edges = worlds.buckets()?.edges(self.trials);
        Some(TradeOff { trials: self.trials, source: Source::Edges(edges) })
    }

    /// The first cut and those within steps of [`coarse`](Self::coarse): step i lies between its cuts
    /// i and i + 1. `None` where these are many.
    pub(in crate::audit) fn cuts_within(&self, coarse: &TradeOff, keep: &[bool]) -> Option<Self> {
        let (Source::Scores(worlds), Source::Edges(edges)) = (&self.source, &coarse.source) else {
            return None;
        };
        let cuts = worlds.buckets()?.cuts_within(keep, worlds.any_order(), edges)?;
        Some(TradeOff { trials: self.trials, source: Source::Edges(cuts) })
    }

    /// Observed FNR of the test with the smallest FNR among those whose observed FPR is at most
    /// `fpr`; 1 if there is none. An estimate, without coverage.
    #[must_use]
    pub fn fnr_at(&self, fpr: f64) -> f64 {
        let allowed = fpr * self.trials.zero_out as f64;
        let mut cuts = self.cuts();
        let found = cuts.find(|cut| cut.errors.false_positives as f64 <= allowed);
        let fnr = |cut: Cut| cut.errors.false_negatives as f64 / self.trials.target as f64;
        found.map_or(1.0, fnr)
    }

    /// Intervals of both rates at one threshold, each limit at the one-sided `tail`.
    ///
    /// # Guarantee
    /// Each of the four limits fails with probability at most `tail`: pointwise, at a threshold
    /// fixed beforehand. Test:
    /// `tests/coverage/intervals.rs::clopper_pearson_covers_and_its_twin_does_not`.
    ///
    /// # Errors
    /// `tail` outside its domain.
    pub fn rates_at(&self, cut: &Cut, tail: f64) -> Result<RateIntervals, IntervalError> {
        cut.limits(self.trials, tail)
    }

    /// A simultaneous band over all thresholds, from `fixed` thresholds chosen without these
    /// scores.
    ///
    /// Each fixed threshold's four limits have tail significance/(4m); between fixed thresholds the
    /// rates are monotone, so a limit extends to its neighbours, as a step function.
    ///
    /// # Guarantee
    /// With probability at least 1 − significance every true rate at the fixed thresholds lies in
    /// its interval. Test: `tests/coverage/bounds.rs::simultaneous_band_covers_all_cuts_at_once`.
    ///
    /// # Errors
    /// A significance outside (0, 1).
    pub fn simultaneous_band(
        &self,
        fixed: &[f64],
        significance: f64,
    ) -> Result<Vec<RateIntervals>, IntervalError> {
        let tail = significance / (4.0 * fixed.len().max(1) as f64);
        fixed.iter().map(|&threshold| self.rates_at(&self.at_threshold(threshold), tail)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(t: &TradeOff) -> Vec<(u64, u64)> {
        t.cuts().map(|c| (c.errors.false_positives, c.errors.false_negatives)).collect()
    }

    #[test]
    fn ties_are_one_group_and_order_does_not_matter() {
        let t = TradeOff::from_scores([1.0, 0.0, 1.0], [0.0, 1.0]).unwrap();
        assert_eq!(counts(&t), [(2, 0), (1, 1), (0, 3)]);
        let shuffled = TradeOff::from_scores([0.0, 1.0, 1.0], [1.0, 0.0]).unwrap();
        assert_eq!(t, shuffled);
        let equal = TradeOff::from_scores([2.0; 4], [2.0; 3]).unwrap();
        assert_eq!(counts(&equal), [(3, 0), (0, 4), (0, 4), (0, 4)]);
        let zeros = TradeOff::from_scores([0.0, -0.0], [-0.0]).unwrap();
        assert_eq!(counts(&zeros), [(1, 0), (0, 2)]);
    }

    #[test]
    fn thresholds_at_other_scores_are_never_better() {
        let (d, d_prime) = ([0.5, 2.5, 3.5, 3.6], [0.0, 1.0, 2.0, 3.0]);
        let t = TradeOff::from_scores(d, d_prime).unwrap();
        for threshold in [f64::NEG_INFINITY, 0.2, 0.5, 0.7, 2.5, 2.9, 3.55, 9.0] {
            let other = t.at_threshold(threshold).errors;
            let no_worse = |c: Cut| {
                c.errors.false_positives <= other.false_positives
                    && c.errors.false_negatives <= other.false_negatives
            };
            assert!(t.cuts().any(no_worse), "{threshold}");
        }
    }

    #[test]
    fn failed_and_non_finite_runs_count_against_the_attacker_at_every_threshold() {
        let target = [5.0, f64::NAN, f64::INFINITY, f64::NAN];
        let zero_out = [0.0, f64::NEG_INFINITY, f64::NAN, f64::NAN];
        let t = TradeOff::from_scores(target, zero_out).unwrap();
        assert_eq!(t.trials(), Trials { target: 4, zero_out: 4 });
        assert_eq!(counts(&t), [(4, 3), (3, 3)]);
        assert_eq!(t.at_threshold(f64::MAX).errors.false_positives, 3);
    }

    #[test]
    fn joined_halves_are_the_whole() {
        let (a, b) = ([3.0, 1.0, f64::NAN], [2.0, 2.0]);
        let whole =
            TradeOff::from_scores([3.0, 1.0, f64::NAN, 2.0, 2.0], [2.0, 2.0, 3.0, 1.0, f64::NAN]);
        let first = TradeOff::from_scores(a, b).unwrap();
        let second = TradeOff::from_scores(b, a).unwrap();
        assert_eq!(first.joined(&second), Some(whole.unwrap()));
    }

    #[test]
    fn histograms_and_sorted_scores_agree_at_every_edge() {
        let bins = ScoreBins::new(1.0, -6, 1, 9).unwrap();
        let (d, d_prime) = ([-9_i64, -3, 0, 0, 4, 5, 8, 20], [-20_i64, -6, -5, 0, 1, 2]);
        let mut h = [ScoreHistogram::empty(&bins), ScoreHistogram::empty(&bins)];
        d.iter().for_each(|&s| h[0].add(&bins, s));
        d_prime.iter().for_each(|&s| h[1].add(&bins, s));
        let binned = TradeOff::from_histograms(&bins, &h[0], &h[1]).unwrap();
        let nats = |s: &[i64]| s.iter().map(|&v| v as f64).collect::<Vec<_>>();
        let exact = TradeOff::from_scores(nats(&d), nats(&d_prime)).unwrap();
        for cut in binned.cuts() {
            assert_eq!(cut.errors, exact.at_threshold(cut.threshold).errors);
        }
    }

    #[test]
    fn fnr_at_finds_the_best_allowed_test() {
        let t = TradeOff::from_scores([1.0, 2.0], [0.0, 1.0]).unwrap();
        assert_eq!(
            [t.fnr_at(1.0), t.fnr_at(0.5), t.fnr_at(0.4), t.fnr_at(0.0)],
            [0.0, 0.0, 0.5, 0.5]
        );
    }

    #[test]
    fn an_empty_world_is_an_error() {
        let empty = TradeOff::from_scores([], [1.0]);
        assert_eq!(empty, Err(TradeOffError::EmptyWorld { world: "target" }));
    }
}
