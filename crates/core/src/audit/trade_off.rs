//! Error counts of an attack at every threshold of its scores.

#[cfg(not(target_arch = "wasm32"))]
mod ascending;
mod ordered_pairs;

use crate::adjacency::World;
use crate::audit::histogram::{ScoreBins, ScoreHistogram};
use crate::interval::{IntervalError, clopper_pearson_lower, clopper_pearson_upper};

/// Observations of each world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trials {
    /// Observations of D.
    pub target: u64,
    /// Observations of D′.
    pub zero_out: u64,
}

/// Errors of the test "D if and only if the score exceeds τ".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ErrorCounts {
    /// Scores of D′ above τ, FP.
    pub false_positives: u64,
    /// Scores of D at or below τ, FN.
    pub false_negatives: u64,
}

/// A threshold and its error counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// τ, in the scores' own unit (nats for likelihood ratios); −∞ where every score is above.
    pub threshold: f64,
    /// Errors at τ.
    pub errors: ErrorCounts,
}

impl Cut {
    /// Intervals of both rates among `trials` observations, each limit at the one-sided `tail`.
    ///
    /// # Errors
    /// More errors than trials, or a `tail` outside its domain.
    pub(crate) fn limits(&self, trials: Trials, tail: f64) -> Result<RateIntervals, IntervalError> {
        let ErrorCounts { false_positives: fp, false_negatives: fn_ } = self.errors;
        Ok(RateIntervals {
            threshold: self.threshold,
            fpr_lower: clopper_pearson_lower(fp, trials.zero_out, tail)?,
            fpr_upper: clopper_pearson_upper(fp, trials.zero_out, tail)?,
            fnr_lower: clopper_pearson_lower(fn_, trials.target, tail)?,
            fnr_upper: clopper_pearson_upper(fn_, trials.target, tail)?,
        })
    }
}

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
    /// Finite scores of both worlds, each in ascending order. Threshold 0 is below every score,
    /// threshold j at the j-th score of D′: between two of those FP is constant and FN only rises.
    Sorted { target: Vec<f64>, zero_out: Vec<f64> },
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

    /// Thresholds between distinct scores, found by sorting: ties are never separated.
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
        let (mut target, mut zero_out) = (target.into(), zero_out.into());
        let trials = Trials { target: target.len() as u64, zero_out: zero_out.len() as u64 };
        #[cfg(not(target_arch = "wasm32"))]
        let mut buffer = Vec::new();
        for scores in [&mut target, &mut zero_out] {
            scores.retain_mut(|score| {
                *score += 0.0; // −0 and 0 are a tie
                score.is_finite()
            });
            #[cfg(not(target_arch = "wasm32"))]
            ascending::sort(scores, &mut buffer);
            // a page does not sort millions, and waits for every byte
            #[cfg(target_arch = "wasm32")]
            scores.sort_unstable_by(f64::total_cmp);
        }
        TradeOff { trials, source: Source::Sorted { target, zero_out } }.checked()
    }

    /// The trade-off of all observations of two trade-offs of sorted scores.
    ///
    /// `None` if one of them is of histograms.
    #[must_use]
    pub fn joined(&self, other: &TradeOff) -> Option<TradeOff> {
        let Source::Sorted { target: t1, zero_out: z1 } = &self.source else { return None };
        let Source::Sorted { target: t2, zero_out: z2 } = &other.source else { return None };
        let trials = Trials {
            target: self.trials.target + other.trials.target,
            zero_out: self.trials.zero_out + other.trials.zero_out,
        };
        let source = Source::Sorted { target: merged(t1, t2), zero_out: merged(z1, z2) };
        Some(TradeOff { trials, source })
    }

    /// Lowest and highest finite score; `None` without any, or for histograms.
    #[must_use]
    pub fn score_range(&self) -> Option<(f64, f64)> {
        let Source::Sorted { target, zero_out } = &self.source else { return None };
        let lowest = target.first().into_iter().chain(zero_out.first()).copied();
        let highest = target.last().into_iter().chain(zero_out.last()).copied();
        Some((lowest.reduce(f64::min)?, highest.reduce(f64::max)?))
    }

    /// Finite scores of D and of D′, rising; `None` for histograms.
    pub(super) fn world_scores(&self) -> Option<[&[f64]; 2]> {
        match &self.source {
            Source::Sorted { target, zero_out } => Some([target, zero_out]),
            Source::Edges(_) => None,
        }
    }

    /// Finite scores of both worlds together, rising; empty for histograms.
    #[must_use]
    pub fn pooled_scores(&self) -> Vec<f64> {
        match &self.source {
            Source::Sorted { target, zero_out } => merged(target, zero_out),
            Source::Edges(_) => Vec::new(),
        }
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
            Source::Sorted { zero_out, .. } => zero_out.len() + 1,
        }
    }

    /// Cut `index` of [`cut_count`](Self::cut_count), by rising threshold; indices beyond the end
    /// mean the last one.
    #[must_use]
    pub fn cut(&self, index: usize) -> Cut {
        match &self.source {
            Source::Edges(cuts) => cuts[index.min(cuts.len() - 1)],
            Source::Sorted { zero_out, .. } => match index.checked_sub(1) {
                Some(i) if !zero_out.is_empty() => {
                    self.at_threshold(zero_out[i.min(zero_out.len() - 1)])
                }
                _ => self.at_threshold(f64::NEG_INFINITY),
            },
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
            Source::Sorted { target, zero_out } => {
                let below = |scores: &[f64]| scores.partition_point(|&s| s <= threshold) as u64;
                let failed = self.trials.target - target.len() as u64;
                let errors = ErrorCounts {
                    false_negatives: failed + below(target),
                    false_positives: self.trials.zero_out - below(zero_out),
                };
                Cut { threshold, errors }
            }
        }
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

/// Merges two ascending lists.
fn merged(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let first = a[i] <= b[j];
        out.push(if first { a[i] } else { b[j] });
        i += usize::from(first);
        j += usize::from(!first);
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
    out
}

/// Confidence limits of both error rates at one threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RateIntervals {
    /// τ.
    pub threshold: f64,
    /// Lower limit of the false positive rate.
    pub fpr_lower: f64,
    /// Upper limit of the false positive rate.
    pub fpr_upper: f64,
    /// Lower limit of the false negative rate.
    pub fnr_lower: f64,
    /// Upper limit of the false negative rate.
    pub fnr_upper: f64,
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
