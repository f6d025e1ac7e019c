//! True positive rate at a fixed false positive rate, with limits.

use crate::audit::bound::BoundError;
use crate::audit::trade_off::{Cut, TradeOff};
use crate::interval::{clopper_pearson_lower, clopper_pearson_upper};

/// The true positive rate of the score's receiver operating characteristic at one false positive
/// rate.
///
/// The characteristic at α is the highest P(S > τ) + c P(S = τ) over all τ and c in [0, 1] with
/// P(S′ > τ) + c P(S′ = τ) ≤ α, for scores S of D and S′ of D′.
///
/// # Guarantee
/// For independent observations, `lower` exceeds the characteristic with probability at most
/// significance/2, and so does the characteristic `upper`, for any distribution of the scores and
/// any number of observations
/// (`unit::limits_cover_and_those_at_the_observed_threshold_do_not`). The scores of D′ alone choose
/// two thresholds, whose false positive rates are below and above α up to a tail of significance/4
/// each; the scores of D are counted there. Limits rise with α. A failed run counts against the
/// attack.
///
/// # Numerics
/// `value` is a ratio of integers; limits are rounded outward ([`clopper_pearson_lower`]).
///
/// # Reference
/// N. Carlini et al., "Membership inference attacks from first principles" (2022), for the metric;
/// order statistics of uniform variables are beta distributed, for the limits.
///
/// # Example
/// ```
/// use dpscope_core::audit::metrics::TprAtFpr;
/// use dpscope_core::audit::trade_off::TradeOff;
/// let scores = |shift: f64| (0..5000).map(|i| shift + f64::from(i)).collect::<Vec<_>>();
/// let curve = TradeOff::from_scores(scores(1000.0), scores(0.0))?;
/// let found = TprAtFpr::of(&curve, 0.01, 0.05)?;
/// let shown = format!("{:.3} ({:.3} to {:.3})", found.value, found.lower, found.upper);
/// assert_eq!(shown, "0.210 (0.194 to 0.227)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TprAtFpr {
    /// α, the false positive rate.
    pub fpr: f64,
    /// Observed share of D above the lowest threshold whose observed false positive rate is at most
    /// α.
    pub value: f64,
    /// Lower confidence limit.
    pub lower: f64,
    /// Upper confidence limit.
    pub upper: f64,
}

impl TprAtFpr {
    /// The rate and its limits.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `fpr` | α | (0, 1) |
    /// | `significance` | chance that the limits miss the characteristic | (0, 1) |
    ///
    /// # Errors
    /// [`BoundError::Significance`] outside its domain.
    pub fn of(trade_off: &TradeOff, fpr: f64, significance: f64) -> Result<Self, BoundError> {
        if !(significance > 0.0 && significance < 1.0) {
            return Err(BoundError::Significance { significance });
        }
        let (tail, trials) = (significance / 4.0, trade_off.trials());
        let true_positives = |cut: Cut| trials.target - cut.errors.false_negatives;
        let fpr_upper = |fp| clopper_pearson_upper(fp, trials.zero_out, tail);
        let fpr_lower = |fp| clopper_pearson_lower(fp, trials.zero_out, tail);
        // largest count whose upper limit is at most α, smallest whose lower limit is at least α
        let below = most(trials.zero_out, |fp| Ok(fpr_upper(fp)? <= fpr))?;
        let above = most(trials.zero_out, |fp| Ok(fpr_lower(fp)? < fpr))?;
        let first_with = |most| trade_off.first_cut_where(|errors| errors.false_positives <= most);
        let lower = match below.map(first_with) {
            Some(index) if index < trade_off.cut_count() => {
                let events = true_positives(trade_off.cut(index));
                clopper_pearson_lower(events, trials.target, tail)?
            }
            _ => 0.0,
        };
        // the last cut with more
        let upper = match above.and_then(|most| first_with(most).checked_sub(1)) {
            Some(index) => {
                let events = true_positives(trade_off.cut(index));
                clopper_pearson_upper(events, trials.target, tail)?
            }
            None => 1.0,
        };
        Ok(TprAtFpr { fpr, value: 1.0 - trade_off.fnr_at(fpr), lower, upper })
    }
}

/// The largest count up to `trials` for which a condition holds that fails beyond some count; none
/// if it fails at 0.
fn most(
    trials: u64,
    holds: impl Fn(u64) -> Result<bool, BoundError>,
) -> Result<Option<u64>, BoundError> {
    if !holds(0)? {
        return Ok(None);
    }
    let (mut low, mut beyond) = (0, trials + 1);
    while beyond - low > 1 {
        let middle = low + (beyond - low) / 2;
        if holds(middle)? {
            low = middle;
        } else {
            beyond = middle;
        }
    }
    Ok(Some(low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::histogram::{ScoreBins, ScoreHistogram};
    use crate::math::powf;
    use crate::random::{Purpose, Words};

    #[test]
    fn limits_cover_and_those_at_the_observed_threshold_do_not() {
        let (fpr, significance, repetitions) = (0.1, 0.2, 2000);
        for (power, grid) in [(1.0, 0.0), (3.0, 0.0), (1.0, 8.0)] {
            let [mut missed, mut missed_by_twin] = [0, 0];
            for repetition in 0..repetitions {
                let mut words = Words::new(5, Purpose::Test, repetition);
                // a grid of 8 values has ties in every threshold
                let mut draw = |power: f64| {
                    let score = powf(words.uniform(), 1.0 / power);
                    if grid > 0.0 { (score * grid).floor() } else { score }
                };
                let target: Vec<f64> = (0..120).map(|_| draw(power)).collect();
                let zero_out: Vec<f64> = (0..150).map(|_| draw(1.0)).collect();
                let seen = TradeOff::from_scores(target, zero_out).unwrap();
                let found = TprAtFpr::of(&seen, fpr, significance).unwrap();
                assert!(found.lower <= found.value && found.value <= found.upper, "{found:?}");
                // P(U^(1/power) > 1 − α), and α on equal grids
                let truth = 1.0 - powf(1.0 - fpr, power);
                missed += u32::from(truth < found.lower || truth > found.upper);
                // the twin takes the observed threshold for a fixed one
                let events = (found.value * 120.0).round() as u64;
                let twin = [
                    clopper_pearson_lower(events, 120, significance / 2.0).unwrap(),
                    clopper_pearson_upper(events, 120, significance / 2.0).unwrap(),
                ];
                missed_by_twin += u32::from(truth < twin[0] || truth > twin[1]);
            }
            // 0.2 ± 5 standard deviations
            assert!(missed <= 490, "{power} {grid}: {missed}");
            assert!(grid > 0.0 || missed_by_twin > 490, "{power}: {missed_by_twin}");
        }
    }

    #[test]
    fn limits_rise_with_the_false_positive_rate_and_end_at_the_corners() {
        let scores = |n: u32, shift: f64| -> Vec<f64> {
            (0..n).map(|i| f64::from(i * 7919 % n) / f64::from(n) + shift).collect()
        };
        let seen = TradeOff::from_scores(scores(3000, 0.3), scores(2000, 0.0)).unwrap();
        let found: Vec<TprAtFpr> = [1e-6, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.9999]
            .map(|fpr| TprAtFpr::of(&seen, fpr, 0.05).unwrap())
            .to_vec();
        assert!(found.is_sorted_by(|a, b| a.lower <= b.lower && a.upper <= b.upper), "{found:?}");
        assert_eq!((found[0].lower, found[7].upper), (0.0, 1.0), "{found:?}");
        // the characteristic is 0.3 + α
        for at in &found {
            assert!(at.lower <= 0.3 + at.fpr && at.upper >= (0.3 + at.fpr).min(1.0), "{at:?}");
        }
    }

    #[test]
    fn failed_runs_widen_the_limits_against_the_attack() {
        let (target, zero_out) = ([2.0; 400], [1.0; 400]);
        let of = |target: &[f64], zero_out: &[f64]| {
            let seen = TradeOff::from_scores(target, zero_out).unwrap();
            TprAtFpr::of(&seen, 0.1, 0.05).unwrap()
        };
        let clean = of(&target, &zero_out);
        assert_eq!((clean.value, clean.upper), (1.0, 1.0));
        let mut failing = zero_out;
        failing[..80].fill(f64::NAN);
        assert_eq!(of(&target, &failing).lower, 0.0);
        let mut failing = target;
        failing[..80].fill(f64::NAN);
        assert!(of(&failing, &zero_out).lower < clean.lower - 0.2);
    }

    #[test]
    fn limits_of_histograms_contain_those_of_their_scores() {
        let bins = ScoreBins::new(1.0, -40, 2, 30).unwrap();
        let draws = |n: i64, step: i64, shift: i64| (0..n).map(move |i| i * step % 67 - 30 + shift);
        let (mut d, mut d_prime) = (ScoreHistogram::empty(&bins), ScoreHistogram::empty(&bins));
        draws(1500, 29, 6).for_each(|score| d.add(&bins, score));
        draws(1700, 31, 0).for_each(|score| d_prime.add(&bins, score));
        let binned = TradeOff::from_histograms(&bins, &d, &d_prime).unwrap();
        let scores = |draws: &mut dyn Iterator<Item = i64>| -> Vec<f64> {
            draws.map(|score| score as f64).collect()
        };
        let sorted =
            TradeOff::from_scores(scores(&mut draws(1500, 29, 6)), scores(&mut draws(1700, 31, 0)));
        let sorted = sorted.unwrap();
        for fpr in [0.01, 0.1, 0.4] {
            let [inner, outer] = [&sorted, &binned].map(|t| TprAtFpr::of(t, fpr, 0.05).unwrap());
            assert!(
                outer.lower <= inner.lower && outer.upper >= inner.upper,
                "{inner:?} {outer:?}"
            );
        }
    }
}
