//! Score histograms of integer counts: mergeable in any order, constant in memory.

use crate::adjacency::World;
use crate::format::given;

/// Errors of histograms.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HistogramError {
    /// A pilot without scores.
    #[error("no pilot scores in the {world} world: bins cannot be placed")]
    NoPilotScores {
        /// `target` or `zero-out`.
        world: &'static str,
    },
    /// A unit that is not positive and finite.
    #[error("score unit {} is not a positive finite number", given(*.unit))]
    Unit {
        /// Nats in one unit.
        unit: f64,
    },
    /// A layout outside its domain.
    #[error("{name} is {value}; allowed: {allowed}")]
    Shape {
        /// The argument.
        name: &'static str,
        /// Its value.
        value: i64,
        /// Its domain.
        allowed: &'static str,
    },
    /// A number of counts other than the number of bins.
    #[error("a histogram with another number of bins cannot be merged or read")]
    ForeignBins,
    /// A count above 2⁶⁴ − 1.
    #[error("a bin count exceeds 2^64 - 1")]
    Overflow,
}

/// Maximum number of bins.
pub const MAX_BINS: u32 = 1 << 17;

/// Bins of integer scores.
///
/// Scores are integers in units of `unit` nats. Bin 0 contains every score below `origin`, the last
/// bin every score from the highest edge up; the other bins are `2^shift` units wide. Edge j, the
/// boundary between bins j and j + 1, is `origin + j·2^shift`. Binning therefore never rounds:
/// error counts at an edge equal those of the sorted scores.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "BinFields", into = "BinFields"))]
pub struct ScoreBins {
    unit: f64,
    origin: i64,
    shift: u32,
    bins: u32,
}

#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct BinFields {
    unit: f64,
    origin: i64,
    shift: u32,
    bins: u32,
}

#[cfg(feature = "serde")]
impl TryFrom<BinFields> for ScoreBins {
    type Error = HistogramError;

    fn try_from(f: BinFields) -> Result<Self, HistogramError> {
        ScoreBins::new(f.unit, f.origin, f.shift, f.bins)
    }
}

#[cfg(feature = "serde")]
impl From<ScoreBins> for BinFields {
    fn from(bins: ScoreBins) -> Self {
        let ScoreBins { unit, origin, shift, bins } = bins;
        BinFields { unit, origin, shift, bins }
    }
}

fn bins_outside(value: i64) -> HistogramError {
    HistogramError::Shape { name: "bins", value, allowed: "2 to 131072" }
}

impl ScoreBins {
    /// Bins with these edges.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `unit` | nats in one unit of the integer score | finite, > 0 |
    /// | `origin` | lowest edge, in units | magnitude below 2⁶⁰ |
    /// | `shift` | log₂ of the bin width in units | 0 to 40 |
    /// | `bins` | bins with the two saturating ones | 2 to [`MAX_BINS`] |
    ///
    /// # Errors
    /// An argument outside its domain.
    pub fn new(unit: f64, origin: i64, shift: u32, bins: u32) -> Result<Self, HistogramError> {
        if !(unit > 0.0 && unit.is_finite()) {
            return Err(HistogramError::Unit { unit });
        }
        let shape = |name, value, allowed| HistogramError::Shape { name, value, allowed };
        if origin.unsigned_abs() >= 1 << 60 {
            return Err(shape("origin", origin, "magnitude below 2^60"));
        }
        if shift > 40 {
            return Err(shape("shift", i64::from(shift), "0 to 40"));
        }
        if !(2..=MAX_BINS).contains(&bins) {
            return Err(bins_outside(i64::from(bins)));
        }
        Ok(ScoreBins { unit, origin, shift, bins })
    }

    /// Bins for scores like those of a pilot: at least 50 per standard deviation (the smaller of
    /// the two worlds'), over the pilot's range widened by half its length at each end. The bins
    /// are wider if there would be more than [`MAX_BINS`].
    ///
    /// # Errors
    /// A world without pilot scores, a unit that is not positive and finite, or scores too large
    /// for [`new`](Self::new).
    pub fn from_pilot(unit: f64, target: &[i64], zero_out: &[i64]) -> Result<Self, HistogramError> {
        let of = |scores: &[i64], world: World| {
            Spread::of(scores).ok_or(HistogramError::NoPilotScores { world: world.name() })
        };
        let (d, d_prime) = (of(target, World::Target)?, of(zero_out, World::ZeroOut)?);
        let lowest = i128::from(d.lowest.min(d_prime.lowest));
        let highest = i128::from(d.highest.max(d_prime.highest));
        let margin = (highest - lowest) / 2 + 1;
        let (from, to) = (lowest - margin, highest + margin);

        let widest = d.standard_deviation.min(d_prime.standard_deviation) / 50.0;
        let mut shift = 0;
        while shift < 40 && ((1_u64 << (shift + 1)) as f64) <= widest {
            shift += 1;
        }
        while ((to - from) >> shift) + 3 > i128::from(MAX_BINS) {
            shift += 1;
        }
        let bins = ((to - from) >> shift) + 3;
        let origin = from.clamp(i64::MIN.into(), i64::MAX.into());
        ScoreBins::new(unit, origin as i64, shift, bins as u32)
    }

    /// The bin of a score in units.
    #[must_use]
    pub fn bin(&self, score: i64) -> usize {
        if score < self.origin {
            return 0;
        }
        let above = (score.wrapping_sub(self.origin) as u64) >> self.shift;
        above.min(u64::from(self.bins) - 2) as usize + 1
    }

    /// Number of bins, including the two saturating ones.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bins as usize
    }

    /// Always `false`: there are at least two bins.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Number of edges, one less than bins.
    #[must_use]
    pub fn edges(&self) -> usize {
        self.len() - 1
    }

    /// The threshold τ at edge `edge`, in nats: half a unit below the edge, so that no integer
    /// score equals it. Indices beyond the last edge mean the last edge.
    #[must_use]
    pub fn threshold(&self, edge: usize) -> f64 {
        let edge = edge.min(self.edges() - 1);
        let units = self.origin + ((edge as i64) << self.shift);
        (units as f64 - 0.5) * self.unit
    }

    /// The middle of a bin in nats; for a saturating bin, half a width outside.
    #[must_use]
    pub fn centre(&self, bin: usize) -> f64 {
        let width = (1_u64 << self.shift) as f64;
        (self.origin as f64 + (bin as f64 - 0.5) * width) * self.unit
    }

    /// Nats in one unit of the integer scores.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The lowest edge, in units.
    #[must_use]
    pub fn origin(&self) -> i64 {
        self.origin
    }

    /// log₂ of a bin's width in units.
    #[must_use]
    pub fn shift(&self) -> u32 {
        self.shift
    }

    /// Width of a bin in nats.
    #[must_use]
    pub fn width(&self) -> f64 {
        (1_u64 << self.shift) as f64 * self.unit
    }
}

struct Spread {
    lowest: i64,
    highest: i64,
    standard_deviation: f64,
}

impl Spread {
    fn of(scores: &[i64]) -> Option<Self> {
        let (lowest, highest) = (*scores.iter().min()?, *scores.iter().max()?);
        let n = scores.len() as f64;
        let centred = |s: &i64| s.abs_diff(lowest) as f64;
        let mean = scores.iter().map(centred).sum::<f64>() / n;
        let square = |s: &i64| (centred(s) - mean) * (centred(s) - mean);
        let standard_deviation = (scores.iter().map(square).sum::<f64>() / n).sqrt();
        Some(Spread { lowest, highest, standard_deviation })
    }
}

/// Counts of one world's scores.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<u64>", into = "Vec<u64>"))]
pub struct ScoreHistogram {
    counts: Vec<u64>,
}

#[cfg(feature = "serde")]
impl TryFrom<Vec<u64>> for ScoreHistogram {
    type Error = HistogramError;

    fn try_from(counts: Vec<u64>) -> Result<Self, HistogramError> {
        ScoreHistogram { counts }.checked()
    }
}

#[cfg(feature = "serde")]
impl From<ScoreHistogram> for Vec<u64> {
    fn from(histogram: ScoreHistogram) -> Self {
        histogram.counts
    }
}

impl ScoreHistogram {
    /// No scores yet.
    #[must_use]
    pub fn empty(bins: &ScoreBins) -> Self {
        ScoreHistogram { counts: vec![0; bins.len()] }
    }

    /// A histogram of these counts, lowest bin first.
    ///
    /// # Errors
    /// A number of counts other than the number of bins, or a total above 2⁶⁴ − 1.
    pub fn from_counts(bins: &ScoreBins, counts: Vec<u64>) -> Result<Self, HistogramError> {
        if counts.len() != bins.len() {
            return Err(HistogramError::ForeignBins);
        }
        ScoreHistogram { counts }.checked()
    }

    fn checked(self) -> Result<Self, HistogramError> {
        let bins = self.counts.len();
        if !(2..=MAX_BINS as usize).contains(&bins) {
            return Err(bins_outside(i64::try_from(bins).unwrap_or(i64::MAX)));
        }
        let total = self.counts.iter().try_fold(0_u64, |sum, &c| sum.checked_add(c));
        total.map(|_| self).ok_or(HistogramError::Overflow)
    }

    /// Counts one score.
    pub fn add(&mut self, bins: &ScoreBins, score: i64) {
        self.counts[bins.bin(score)] += 1;
    }

    /// Adds another histogram with the same bins.
    ///
    /// # Errors
    /// A different number of bins, or a count above 2⁶⁴ − 1; `self` is then unchanged.
    pub fn merge(&mut self, other: &ScoreHistogram) -> Result<(), HistogramError> {
        if self.counts.len() != other.counts.len() {
            return Err(HistogramError::ForeignBins);
        }
        if self.total().checked_add(other.total()).is_none() {
            return Err(HistogramError::Overflow);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        Ok(())
    }

    /// Counts, lowest bin first.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Scores counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Scores in the two saturating bins: (below the lowest edge, at or above the highest edge).
    #[must_use]
    pub fn saturated(&self) -> (u64, u64) {
        (self.counts[0], self.counts[self.counts.len() - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins() -> ScoreBins {
        ScoreBins::new(0.5, -8, 2, 6).unwrap() // edges -8, -4, 0, 4, 8
    }

    #[test]
    fn bins_contain_their_lower_edge_and_saturate_at_both_ends() {
        let scores = [i64::MIN, -9, -8, -5, -4, -1, 0, 3, 4, 7, 8, i64::MAX];
        let expected = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5];
        for (score, bin) in scores.into_iter().zip(expected) {
            assert_eq!(bins().bin(score), bin, "score {score}");
        }
    }

    #[test]
    fn thresholds_count_the_scores_on_each_side() {
        let bins = bins();
        for edge in 0..bins.edges() {
            for score in -12..12_i64 {
                let nats = score as f64 * bins.unit();
                assert_eq!(bins.bin(score) > edge, nats > bins.threshold(edge));
            }
        }
    }

    #[test]
    fn pilot_bins_are_narrow_enough_and_cover_the_pilot() {
        let target: Vec<i64> = (-4000..6000).collect();
        let zero_out: Vec<i64> = (-5000..1000).collect();
        let bins = ScoreBins::from_pilot(1.0, &target, &zero_out).unwrap();
        assert!(bins.width() <= 6000.0 / 12.0_f64.sqrt() / 50.0);
        assert!(bins.threshold(0) < -10_000.0 && bins.threshold(bins.edges() - 1) > 11_000.0);
        let constant = ScoreBins::from_pilot(1.0, &[3; 5], &[3; 5]).unwrap();
        assert!(constant.bin(3) > 0 && constant.bin(3) < constant.len() - 1);
        let wide = ScoreBins::from_pilot(1.0, &[0, 1, 1 << 40], &[0; 9]).unwrap();
        assert!(wide.len() <= MAX_BINS as usize);
    }

    const EXTREMES: [i64; 9] =
        [i64::MIN, i64::MIN + 1, -(1 << 60), -1, 0, 1, 1 << 60, i64::MAX - 1, i64::MAX];

    #[test]
    fn extreme_scores_edges_and_bins_do_not_overflow() {
        let largest = (1 << 60) - 1;
        for origin in [-largest, 0, largest] {
            for (shift, count) in [(0, 2), (40, 2), (0, MAX_BINS), (40, MAX_BINS)] {
                let bins = ScoreBins::new(1.0, origin, shift, count).unwrap();
                for score in EXTREMES {
                    // The same by division of 128-bit integers.
                    let above = (i128::from(score) - i128::from(origin)).div_euclid(1 << shift);
                    let expected = (above + 1).clamp(0, i128::from(count) - 1) as usize;
                    assert_eq!(bins.bin(score), expected, "{score} in {bins:?}");
                }
                let last = bins.threshold(bins.edges() - 1);
                for edge in [bins.edges(), 1 << 40, usize::MAX] {
                    assert_eq!(bins.threshold(edge), last);
                }
                assert!(bins.threshold(0) <= last && bins.centre(usize::MAX).is_finite());
            }
        }
    }

    #[test]
    fn extreme_pilots_are_refused_or_covered() {
        for (low, high) in EXTREMES.into_iter().flat_map(|low| EXTREMES.map(|high| (low, high))) {
            match ScoreBins::from_pilot(1.0, &[low, high], &[high, low, high]) {
                Ok(bins) => assert!((1..bins.len() - 1).contains(&bins.bin(low.max(high)))),
                Err(HistogramError::Shape { name: "origin" | "shift", .. }) => {
                    assert!(low.abs_diff(high).max(low.unsigned_abs()) > 1 << 57, "{low} {high}");
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn counts_that_are_read_are_checked() {
        use serde::Deserialize;
        use serde::de::{IntoDeserializer, value};
        let read = |counts: Vec<u64>| -> Result<ScoreHistogram, value::Error> {
            ScoreHistogram::deserialize(counts.into_deserializer())
        };
        assert_eq!(read(vec![0, u64::MAX]).unwrap().saturated(), (0, u64::MAX));
        for counts in [vec![], vec![7], vec![1, u64::MAX], vec![0; MAX_BINS as usize + 1]] {
            assert!(read(counts).is_err());
        }
    }

    #[test]
    fn merging_adds_and_refuses_foreign_bins_and_overflow() {
        let bins = bins();
        let mut a = ScoreHistogram::empty(&bins);
        a.add(&bins, 0);
        let mut sum = a.clone();
        sum.merge(&a).unwrap();
        assert_eq!(sum.total(), 2);
        let other = ScoreBins::new(0.5, -8, 2, 7).unwrap();
        assert_eq!(sum.merge(&ScoreHistogram::empty(&other)), Err(HistogramError::ForeignBins));
        let full = ScoreHistogram::from_counts(&bins, vec![0, 0, u64::MAX, 0, 0, 0]).unwrap();
        assert_eq!(sum.merge(&full), Err(HistogramError::Overflow));
        assert_eq!(sum.total(), 2);
    }
}
