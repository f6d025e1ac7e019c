//! Thresholds from few scores, which are not evaluated.

use super::rates::ExpectedRates;
use super::{BoundError, epsilon_from_rates};
use crate::adjacency::World;
use crate::audit::trade_off::{TradeOff, Trials};
use crate::interval::clopper_pearson_upper;
use crate::special::normal_cdf;

/// Candidates of the Gaussian fit, over [`REACH`] standard deviations at each end.
const CANDIDATES: i32 = 300;
const REACH: f64 = 6.0;

/// The variances of the worlds are fitted as if this many more observations of each had their mean:
/// a few runs do not show that they differ.
const COMMON: f64 = 50.0;

/// One-sided tail of the pilot's own limits, one standard error, behind the cautious threshold.
const CAUTION: f64 = 0.158_655;

/// Ratio of the ranks, from both ends, of the candidates of the cautious threshold.
const RANK_RATIO: f64 = 1.1;

/// The threshold with the largest expected bound if the scores of both worlds are Gaussian with the
/// pilot's means and variances; none where these are not known.
pub(super) fn fitted_threshold(
    pilot: &TradeOff,
    trials: Trials,
    delta: f64,
    significance: f64,
) -> Result<Option<(f64, ExpectedRates)>, BoundError> {
    let Some([target, zero_out]) = pilot.world_scores() else { return Ok(None) };
    let (Some(d), Some(d_prime)) = (Gaussian::of(target), Gaussian::of(zero_out)) else {
        return Ok(None);
    };
    let common = f64::midpoint(d.variance, d_prime.variance);
    let shrunk = |world: Gaussian| {
        let variance = world.count * world.variance + COMMON * common;
        (variance / (world.count + COMMON)).sqrt()
    };
    let (deviation, deviation_zero_out) = (shrunk(d), shrunk(d_prime));
    let lowest = (d.mean - REACH * deviation).min(d_prime.mean - REACH * deviation_zero_out);
    let highest = (d.mean + REACH * deviation).max(d_prime.mean + REACH * deviation_zero_out);
    if !(deviation > 0.0 && deviation_zero_out > 0.0 && (highest - lowest).is_finite()) {
        return Ok(None);
    }
    let at = |i: i32| lowest + (highest - lowest) * (f64::from(i) / f64::from(CANDIDATES));
    let rates = |threshold: f64| ExpectedRates {
        fpr: normal_cdf((d_prime.mean - threshold) / deviation_zero_out),
        fnr: normal_cdf((threshold - d.mean) / deviation),
    };
    let candidates = (0..=CANDIDATES).map(|i| (at(i), rates(at(i))));
    best(candidates, trials, delta, significance)
}

/// The threshold with the largest expected bound if the error rates are one standard error above the
/// pilot's, which a few lucky events do not win.
pub(super) fn cautious_threshold(
    pilot: &TradeOff,
    trials: Trials,
    delta: f64,
    significance: f64,
) -> Result<Option<(f64, ExpectedRates)>, BoundError> {
    let scores = pilot.pooled_scores();
    let mut ranks: Vec<usize> = Vec::new();
    let mut rank = 1.0;
    while rank < scores.len() as f64 / 2.0 + 1.0 {
        let from_end = rank as usize;
        ranks.extend([from_end - 1, scores.len().saturating_sub(from_end)]);
        rank = (rank * RANK_RATIO).max(rank + 1.0);
    }
    ranks.sort_unstable();
    ranks.dedup();
    let runs = pilot.trials();
    let mut candidates = Vec::with_capacity(ranks.len());
    for &threshold in ranks.iter().filter_map(|&rank| scores.get(rank)) {
        let errors = pilot.at_threshold(threshold).errors;
        let fpr = clopper_pearson_upper(errors.false_positives, runs.zero_out, CAUTION)?;
        let fnr = clopper_pearson_upper(errors.false_negatives, runs.target, CAUTION)?;
        candidates.push((threshold, ExpectedRates { fpr, fnr }));
    }
    best(candidates.into_iter(), trials, delta, significance)
}

/// The threshold with the largest expected bound midway between two adjacent scores, at the number of
/// evaluated observations; −∞, which shows nothing, where no expected bound is positive.
///
/// Error rates are expected one standard error above those of `choose`, as in [`cautious_threshold`];
/// where no threshold shows anything then, at those of `choose`. Where the worlds are separated, the
/// threshold lies in the middle of the gap.
pub(super) fn midpoint_threshold(
    choose: &TradeOff,
    trials: Trials,
    delta: f64,
    significance: f64,
) -> Result<f64, BoundError> {
    let scores = choose.pooled_scores();
    let runs = choose.trials();
    let apart = scores.windows(2).filter(|pair| pair[0] < pair[1]);
    let cuts: Vec<_> =
        apart.map(|pair| choose.at_threshold(f64::midpoint(pair[0], pair[1]))).collect();
    for is_cautious in [true, false] {
        let rate = |events: u64, runs: u64| match is_cautious {
            true => clopper_pearson_upper(events, runs, CAUTION),
            false => Ok(events as f64 / runs as f64),
        };
        let mut candidates = Vec::with_capacity(cuts.len());
        for cut in &cuts {
            let fpr = rate(cut.errors.false_positives, runs.zero_out)?;
            let fnr = rate(cut.errors.false_negatives, runs.target)?;
            candidates.push((cut.threshold, ExpectedRates { fpr, fnr }));
        }
        if let Some((threshold, _)) = best(candidates.into_iter(), trials, delta, significance)? {
            return Ok(threshold);
        }
    }
    Ok(f64::NEG_INFINITY)
}

#[derive(Clone, Copy)]
struct Gaussian {
    mean: f64,
    variance: f64,
    count: f64,
}

impl Gaussian {
    fn of(scores: &[f64]) -> Option<Self> {
        let count = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / count;
        let variance = scores.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / count;
        (mean.is_finite() && variance.is_finite()).then_some(Gaussian { mean, variance, count })
    }
}

/// The candidate with the largest expected bound; none if none is positive.
fn best(
    candidates: impl Iterator<Item = (f64, ExpectedRates)>,
    trials: Trials,
    delta: f64,
    significance: f64,
) -> Result<Option<(f64, ExpectedRates)>, BoundError> {
    let of = |world| match world {
        World::Target => trials.target,
        World::ZeroOut => trials.zero_out,
    };
    let mut best: Option<(f64, (f64, ExpectedRates))> = None;
    for (threshold, rates) in candidates {
        let limit = |world, rate| expected_limit(rate, of(world), significance / 2.0);
        let (fpr, fnr) = (limit(World::ZeroOut, rates.fpr)?, limit(World::Target, rates.fnr)?);
        let value = epsilon_from_rates(fpr, fnr, delta).epsilon;
        if value > 0.0 && best.is_none_or(|(largest, _)| value > largest) {
            best = Some((value, (threshold, rates)));
        }
    }
    Ok(best.map(|(_, found)| found))
}

/// The upper limit at the expected number of events, between those of its neighbours.
fn expected_limit(rate: f64, trials: u64, tail: f64) -> Result<f64, BoundError> {
    let events = (rate * trials as f64).min(trials as f64);
    let below = events.floor();
    let lower = clopper_pearson_upper(below as u64, trials, tail)?;
    let upper = clopper_pearson_upper((below as u64 + 1).min(trials), trials, tail)?;
    Ok(lower + (events - below) * (upper - lower))
}
