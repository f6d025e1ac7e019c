//! The largest value over all thresholds.

use super::setting::Setting;
use super::{BoundError, EpsilonEstimate, ThresholdRule, check, epsilon_from_rates};
use crate::audit::trade_off::{Cut, ErrorCounts, TradeOff};
use crate::interval::clopper_pearson_upper;

/// The largest value over all thresholds, chosen and evaluated on the same data: an estimate.
///
/// Each limit has tail significance/2, as in the paper; there is no correction for the choice, and
/// the value exceeds the true ε more often than `significance`.
///
/// # Errors
/// An argument outside its domain.
///
/// # Numerics
/// Equal to trying every threshold. A block of thresholds is skipped if even its smallest FP with
/// its smallest FN would not win, so that 10⁷ thresholds need a few thousand limits
/// (`unit::skipped_thresholds_do_not_change_the_maximum`). Scores that are not in order are counted
/// over 2¹⁴ steps of their range; only those in steps that can hold the best threshold are sorted
/// (`unit::scores_out_of_order_have_the_same_maximum`).
pub fn max_uncorrected(
    trade_off: &TradeOff,
    delta: f64,
    significance: f64,
) -> Result<EpsilonEstimate, BoundError> {
    check(delta, significance)?;
    let setting = Setting {
        delta,
        tail: significance / 2.0,
        rule: ThresholdRule::MaxUncorrected,
        cuts: u32::try_from(trade_off.cut_count()).unwrap_or(u32::MAX),
        trials: trade_off.trials(),
    };
    let found = match trade_off.coarse() {
        Some(coarse) => near_the_best(&setting, trade_off, &coarse)?,
        None => None,
    };
    let (_, cut) = Search::best(&setting, found.as_ref().unwrap_or(trade_off))?;
    let (value, evidence) = setting.evaluate(cut)?;
    Ok(EpsilonEstimate { value, evidence })
}

/// Rounding errors of two values of ε are smaller, nats.
const ROUNDING: f64 = 1e-9;

/// The cuts of the steps that can hold the best one; `None` where these are many.
///
/// A cut within a step has at least the false positives above it and the false negatives below it.
/// The last one has exactly the false positives above it, and no more false negatives than the edge.
fn near_the_best(
    setting: &Setting,
    trade_off: &TradeOff,
    coarse: &TradeOff,
) -> Result<Option<TradeOff>, BoundError> {
    let (reached, _) = Search::best(setting, coarse)?;
    let mut keep = vec![false; coarse.cut_count() - 1];
    let mut open = vec![(0, keep.len())];
    while let Some((first, last)) = open.pop() {
        let (below, above) = (coarse.cut(first).errors, coarse.cut(last).errors);
        let least = ErrorCounts { false_negatives: below.false_negatives, ..above };
        let most = setting.epsilon(least, setting.trials)?;
        let is_empty = below.false_positives == above.false_positives;
        if is_empty || most <= 0.0 || most < reached - ROUNDING {
            continue;
        }
        match last - first {
            1 => keep[first] = true,
            length => open.extend([(first, first + length / 2), (first + length / 2, last)]),
        }
    }
    Ok(trade_off.cuts_within(coarse, &keep))
}

/// Branch and bound over the thresholds of a trade-off.
struct Search<'a> {
    trade_off: &'a TradeOff,
    setting: &'a Setting,
    best: (f64, Cut),
}

/// A threshold with the limits of both rates.
#[derive(Clone, Copy)]
struct End {
    cut: Cut,
    fpr_limit: f64,
    fnr_limit: f64,
}

impl End {
    /// Reuses the limits of a neighbour with the same number of errors.
    fn new(setting: &Setting, cut: Cut, neighbours: &[End]) -> Result<Self, BoundError> {
        let ErrorCounts { false_positives, false_negatives } = cut.errors;
        let limit = |events, trials| clopper_pearson_upper(events, trials, setting.tail);
        let same = |is_same: &dyn Fn(&ErrorCounts) -> bool| {
            neighbours.iter().find(|end| is_same(&end.cut.errors))
        };
        let fpr_limit = match same(&|errors| errors.false_positives == false_positives) {
            Some(end) => end.fpr_limit,
            None => limit(false_positives, setting.trials.zero_out)?,
        };
        let fnr_limit = match same(&|errors| errors.false_negatives == false_negatives) {
            Some(end) => end.fnr_limit,
            None => limit(false_negatives, setting.trials.target)?,
        };
        Ok(End { cut, fpr_limit, fnr_limit })
    }
}

impl<'a> Search<'a> {
    /// The largest value, and the first visited cut that has it.
    fn best(setting: &'a Setting, trade_off: &'a TradeOff) -> Result<(f64, Cut), BoundError> {
        let last = trade_off.cut_count() - 1;
        let first_end = End::new(setting, trade_off.cut(0), &[])?;
        let ends = [first_end, End::new(setting, trade_off.cut(last), &[first_end])?];
        let mut search = Search { trade_off, setting, best: (0.0, first_end.cut) };
        ends.iter().for_each(|end| search.visit(end));
        search.between(0, last, ends)?;
        Ok(search.best)
    }

    fn visit(&mut self, end: &End) {
        let value = epsilon_from_rates(end.fpr_limit, end.fnr_limit, self.setting.delta).epsilon;
        if value > self.best.0 {
            self.best = (value, end.cut);
        }
    }

    /// Searches the thresholds between two evaluated ones.
    fn between(&mut self, first: usize, last: usize, ends: [End; 2]) -> Result<(), BoundError> {
        if last - first < 2 {
            return Ok(());
        }
        let reachable = ErrorCounts {
            false_positives: ends[1].cut.errors.false_positives,
            false_negatives: ends[0].cut.errors.false_negatives,
        };
        let (fpr, fnr) = (ends[1].fpr_limit, ends[0].fnr_limit);
        let most = epsilon_from_rates(fpr, fnr, self.setting.delta).epsilon;
        if ends.iter().any(|end| end.cut.errors == reachable) || most <= self.best.0 {
            return Ok(());
        }
        let middle = first + (last - first) / 2;
        let end = End::new(self.setting, self.trade_off.cut(middle), &ends)?;
        self.visit(&end);
        self.between(first, middle, [ends[0], end])?;
        self.between(middle, last, [end, ends[1]])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::bound::at_fixed_cut;

    /// Deterministic scores: a Weyl sequence.
    fn scores(n: u64, shift: f64, skew: f64) -> Vec<f64> {
        let uniform = |i: u64| (i as f64 * 0.618_033_988_749_894_9).fract();
        (0..n).map(|i| shift + skew * uniform(i) * uniform(3 * i + 1)).collect()
    }

    #[test]
    fn skipped_thresholds_do_not_change_the_maximum() {
        for (n, shift, skew) in
            [(3, 0.0, 1.0), (500, 0.3, 1.4), (4000, 0.02, 1.0), (4000, 0.0, 1.0)]
        {
            let t = TradeOff::from_scores(scores(n, shift, skew), scores(n, 0.0, 1.0));
            let t = t.unwrap();
            let found = max_uncorrected(&t, 1e-5, 0.05).unwrap();
            let every = t.cuts().map(|cut| at_fixed_cut(cut, t.trials(), 1e-5, 0.05).unwrap());
            let largest = every.map(|b| b.value()).fold(0.0, f64::max);
            assert_eq!(found.value(), largest, "n {n} shift {shift}");
        }
    }

    #[test]
    fn scores_out_of_order_have_the_same_maximum() {
        let n = 60_000;
        let bent: [fn(f64) -> f64; 6] = [
            |s| s,
            |s| s * s * s,
            |s| (s * 50.0).round(),
            |s| if s > 1.25 { s * 1e6 } else { s },
            |s| if s > 1.0 { f64::INFINITY } else { s - 0.5 },
            |s| -1e-300 * s,
        ];
        for (index, bend) in bent.into_iter().enumerate() {
            for (shift, delta) in [(0.3, 1e-5), (0.02, 0.0), (0.05, 0.02), (-0.2, 1e-5)] {
                let [d, d_prime] = [shift, 0.0]
                    .map(|by| -> Vec<f64> { scores(n, by, 1.0).into_iter().map(bend).collect() });
                let given = TradeOff::from_scores(d, d_prime).unwrap();
                assert!(given.coarse().is_some(), "{index}");
                let ordered = given.clone().in_order();
                assert!(ordered.coarse().is_none());
                let found = max_uncorrected(&given, delta, 0.05).unwrap();
                assert_eq!(
                    found,
                    max_uncorrected(&ordered, delta, 0.05).unwrap(),
                    "{index} {shift}"
                );
                assert_eq!(given.is_above_in_half(), ordered.is_above_in_half());
                assert_eq!(given, ordered);
            }
        }
    }
}
