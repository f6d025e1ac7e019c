//! Histograms of scores, as they are drawn.

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditHistograms;
use dpscope_core::audit::histogram::{HistogramError, ScoreBins, ScoreHistogram};

use crate::record::page::{ExpectedScoreBin, ScoreBin};

/// Bins of recorded scores.
pub(super) const BINS: usize = 25;

/// Most bins of counted scores.
const MOST_BINS: usize = 60;

/// Histograms of the scores of both worlds, in 25 equal bins.
///
/// | argument | meaning |
/// |---|---|
/// | `scores` | of runs with the target and without, finite |
#[must_use]
pub fn score_bins(scores: [&[f64]; 2]) -> Vec<ScoreBin> {
    let all = || scores.iter().flat_map(|world| world.iter().copied());
    let (low, high) =
        (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    if low > high {
        return Vec::new();
    }
    let width = ((high - low) / BINS as f64).max(1e-9);
    let edge = |at: usize| low + width * at as f64;
    let mut bins: Vec<ScoreBin> =
        (0..BINS).map(|at| ScoreBin { from: edge(at), to: edge(at + 1), runs: [0; 2] }).collect();
    for (world, scores) in scores.into_iter().enumerate() {
        for score in scores {
            bins[(((score - low) / width) as usize).min(BINS - 1)].runs[world] += 1;
        }
    }
    bins
}

/// Histograms of counted scores of both worlds in at most 60 equal bins, beside the numbers that
/// other counts with the same bins lead to expect. Scores outside of the others' range are counted in
/// the outermost bins.
///
/// | argument | meaning |
/// |---|---|
/// | `bins` | of both histograms |
/// | `counted` | scores of the runs |
/// | `others` | scores whose shares are expected, at least one in each world |
///
/// # Errors
/// A count above 2⁶⁴ − 1.
pub fn expected_score_bins(
    bins: &ScoreBins,
    counted: &AuditHistograms,
    others: &AuditHistograms,
) -> Result<Vec<ExpectedScoreBin>, HistogramError> {
    let of = |histograms: &AuditHistograms| -> Result<[ScoreHistogram; 2], HistogramError> {
        let [target, zero_out] = World::BOTH.map(|world| histograms.whole(world));
        Ok([target?, zero_out?])
    };
    let (counted, others) = (of(counted)?, of(others)?);
    let ratios = [0, 1]
        .map(|world: usize| counted[world].total() as f64 / others[world].total().max(1) as f64);
    let is_empty = |at: &usize| others.iter().all(|world| world.counts()[*at] == 0);
    let Some(first) = (0..bins.len()).find(|at| !is_empty(at)) else { return Ok(Vec::new()) };
    let last = (first..bins.len()).rev().find(|at| !is_empty(at)).unwrap_or(first);
    let width = (last - first + 1).div_ceil(MOST_BINS);
    let drawn = (last - first + 1).div_ceil(width);
    let edge = |at: usize| bins.centre(first + at * width) - 0.5 * bins.width();
    let sum = |world: &ScoreHistogram, from: usize, to: usize| -> u64 {
        world.counts()[from..to].iter().sum()
    };
    let bin = |at: usize| {
        let inside = first + at * width..(first + (at + 1) * width).min(bins.len());
        let from = if at == 0 { 0 } else { inside.start };
        let to = if at + 1 == drawn { bins.len() } else { inside.end };
        let runs = [0, 1].map(|world: usize| sum(&counted[world], from, to));
        let expected =
            [0, 1].map(|world: usize| ratios[world] * sum(&others[world], from, to) as f64);
        ExpectedScoreBin { from: edge(at), to: edge(at + 1), runs, expected }
    };
    Ok((0..drawn).map(bin).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_in_one_bin_and_shares_are_those_of_the_others() {
        let bins = ScoreBins::new(0.5, -1_000, 0, 2_002).unwrap();
        let (mut counted, mut others) =
            (AuditHistograms::empty(&bins), AuditHistograms::empty(&bins));
        for run in 0..100 {
            for (world, shift) in World::BOTH.into_iter().zip([40, -40]) {
                others.add(&bins, world, run, shift + 2 * run as i64);
                counted.add(&bins, world, run, if run == 0 { 5_000 } else { shift + run as i64 });
            }
        }
        let drawn = expected_score_bins(&bins, &counted, &others).unwrap();
        assert!((30..=MOST_BINS).contains(&drawn.len()), "{}", drawn.len());
        for world in 0..2 {
            assert_eq!(drawn.iter().map(|bin| bin.runs[world]).sum::<u64>(), 100);
            let expected: f64 = drawn.iter().map(|bin| bin.expected[world]).sum();
            assert!((expected - 100.0).abs() < 1e-9, "{expected}");
        }
        assert_eq!(drawn.last().unwrap().runs, [1, 1], "the score outside");
        assert!(drawn.windows(2).all(|pair| pair[0].to == pair[1].from));
        assert!(drawn[0].from <= -20.0 && drawn.last().unwrap().to >= 119.0, "{drawn:?}");
        let nothing = AuditHistograms::empty(&bins);
        assert_eq!(expected_score_bins(&bins, &counted, &nothing).unwrap(), []);
    }
}
