//! Thresholds at which a curve is drawn, chosen without the scores that are drawn.

use crate::audit::histogram::ScoreBins;
use crate::audit::trade_off::{TradeOff, Trials};

/// Bin edges, three quarters of them in the middle half, where the pilot's scores lie, and the
/// thresholds of the rule: the pilot fixed both.
///
/// The score is a log-likelihood ratio, the logarithm of the curve's slope: equal steps resolve
/// both tails.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `bins` | of the audit's histograms | – |
/// | `thresholds` | of the simultaneous rule | may be empty |
/// | `most` | maximum number of edges | ≥ 2 |
#[must_use]
pub fn edges_to_show(bins: &ScoreBins, thresholds: &[f64], most: usize) -> Vec<f64> {
    let last = bins.edges().saturating_sub(1);
    let pieces = last.min(most.max(2) - 1).max(1);
    let place = |i: usize| {
        let share = i as f64 / pieces as f64;
        match share {
            low if low < 0.125 => 2.0 * low,
            high if high > 0.875 => 2.0 * high - 1.0,
            middle => 0.25 + (middle - 0.125) / 1.5,
        }
    };
    let edges = (0..=pieces).map(|i| bins.threshold((place(i) * last as f64).round() as usize));
    merged(edges.collect(), thresholds)
}

/// Scores of a pilot at geometrically spaced ranks from both ends of both worlds, and the
/// thresholds of the rule.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `pilot` | scores that are not counted in the audit | – |
/// | `thresholds` | of the rule, chosen by the same pilot | may be empty |
#[must_use]
pub fn scores_to_show(pilot: &TradeOff, thresholds: &[f64]) -> Vec<f64> {
    let pooled = pilot.pooled_scores();
    let Trials { target, zero_out } = pilot.trials();
    let mut found = Vec::new();
    let mut rank = 1.0;
    while rank <= target.max(zero_out) as f64 {
        let wanted = rank as u64;
        let below = |count: &dyn Fn(f64) -> u64| pooled.partition_point(|&s| count(s) < wanted);
        let fnr = |s: f64| pilot.at_threshold(s).errors.false_negatives;
        let fpr = |s: f64| pilot.at_threshold(s).errors.false_positives;
        let tnr = |s: f64| zero_out - fpr(s);
        found.extend([below(&fnr), below(&tnr)]);
        found.push(pooled.partition_point(|&s| target - fnr(s) >= wanted));
        found.push(pooled.partition_point(|&s| fpr(s) >= wanted));
        rank *= std::f64::consts::SQRT_2;
    }
    let shown = found.into_iter().filter_map(|index| pooled.get(index).copied());
    merged(shown.collect(), thresholds)
}

/// The sorted union of both lists.
fn merged(mut cuts: Vec<f64>, more: &[f64]) -> Vec<f64> {
    cuts.extend(more.iter().filter(|threshold| threshold.is_finite()));
    cuts.sort_unstable_by(f64::total_cmp);
    cuts.dedup();
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_few_and_ascending_and_contain_the_thresholds() {
        let bins = ScoreBins::new(0.01, -5000, 2, 2503).unwrap();
        let shown = edges_to_show(&bins, &[0.123, -7.0], 100);
        assert_eq!(shown.len(), 102);
        assert!(shown.is_sorted_by(|a, b| a < b) && shown.contains(&0.123));
        assert_eq!([shown[0], shown[101]], [bins.threshold(0), bins.threshold(bins.edges() - 1)]);
        let few = ScoreBins::new(1.0, 0, 0, 2).unwrap();
        assert_eq!(edges_to_show(&few, &[], 100), [-0.5]);
    }

    #[test]
    fn ranks_of_both_tails_are_shown() {
        let scores = |shift: f64| (0..5000).map(|i| f64::from(i) + shift).collect::<Vec<_>>();
        let pilot = TradeOff::from_scores(scores(0.5), scores(0.0)).unwrap();
        let shown = scores_to_show(&pilot, &[17.25]);
        assert!(shown.len() < 120 && shown.is_sorted_by(|a, b| a < b), "{}", shown.len());
        for score in [0.5, 17.25, 4998.0, 4999.0, 4999.5] {
            assert!(shown.contains(&score), "{score}");
        }
        let ties = TradeOff::from_scores([1.0; 9], [1.0; 9]).unwrap();
        assert_eq!(scores_to_show(&ties, &[]), [1.0]);
        let failed = TradeOff::from_scores([f64::NAN], [f64::NAN]).unwrap();
        assert_eq!(scores_to_show(&failed, &[]), [0.0; 0]);
    }
}
