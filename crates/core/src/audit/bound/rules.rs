//! The threshold rules.

use super::joint::JointRegion;
use super::maximum::max_uncorrected;
use super::pilot::{cautious_threshold, fitted_threshold, midpoint_threshold};
use super::rates::ExpectedRates;
use super::setting::Setting;
use super::{
    Assumes, BoundError, EpsilonLowerBound, Evidence, ThresholdRule, check, epsilon_from_rates,
};
use crate::audit::trade_off::{Cut, TradeOff, Trials};
use crate::interval::clopper_pearson_upper;

/// The bound at one threshold that was fixed before the counts were known.
///
/// Both rates have Clopper–Pearson upper limits at tail significance/2 (union bound).
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `cut` | τ and its errors; τ may be NaN if only counts are known | errors ≤ trials |
/// | `trials` | observations of each world | ≥ 1 each |
/// | `delta` | δ | [0, 1) |
/// | `significance` | chance that the bound is wrong | (0, 1) |
///
/// # Guarantee
/// The value exceeds ε with probability at most `significance`, for every (ε, δ)-indistinguishable
/// pair. Test: `tests/coverage/bounds.rs::fixed_cut_covers_by_enumeration_and_its_twin_does_not`.
///
/// # Errors
/// An argument outside its domain.
///
/// # Reference
/// Annamalai, Balle, Hayes, De Cristofaro, "To Shuffle or not to Shuffle", Algorithm 1, whose loop
/// overwrites its counters with the limits; here they are separate.
pub fn at_fixed_cut(
    cut: Cut,
    trials: Trials,
    delta: f64,
    significance: f64,
) -> Result<EpsilonLowerBound, BoundError> {
    check(delta, significance)?;
    let tail = significance / 2.0;
    let setting = Setting { delta, tail, rule: ThresholdRule::Fixed, cuts: 1, trials };
    let (value, evidence) = setting.evaluate(cut)?;
    Ok(EpsilonLowerBound { value, significance, assumes: Assumes::Nothing, evidence })
}

/// The bound at one threshold that a pilot has chosen, by a confidence region of both rates at once.
///
/// Two limits at tail significance/2 each, as in [`at_fixed_cut`], reject a pair of rates if one of
/// them is far too small; the region also rejects pairs in which both are rather small. Its shape
/// follows the expected rates: the more a rate matters for ε, the larger its share.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `cut` | τ and its errors | errors ≤ trials |
/// | `trials` | observations of each world | ≥ 1 each |
/// | `expected` | rates at τ, from a pilot; wrong ones cost tightness, never validity | [0, 1] each |
/// | `delta` | δ | [0, 1) |
/// | `significance` | chance that the bound is wrong | (0, 1) |
///
/// # Guarantee
/// The value exceeds ε with probability at most `significance` if `cut` and `expected` do not depend
/// on the evaluated scores. Test:
/// `tests/coverage/bounds.rs::joint_region_covers_by_enumeration_and_its_twin_does_not`.
///
/// # Errors
/// An argument outside its domain.
///
/// # Reference
/// Regions of two independent p-values: W. R. van Zwet and J. Oosterhoff, "On the combination of
/// independent test statistics" (1967).
pub fn at_expected_rates(
    cut: Cut,
    trials: Trials,
    expected: ExpectedRates,
    delta: f64,
    significance: f64,
) -> Result<EpsilonLowerBound, BoundError> {
    check(delta, significance)?;
    let region = JointRegion::new(expected, trials, delta, significance);
    let setting =
        Setting { delta, tail: significance / 2.0, rule: ThresholdRule::Split, cuts: 1, trials };
    let by_region = |errors, trials| Ok((region.epsilon(errors, trials)?, region.direction()));
    let (value, evidence) = setting.evaluate_by(cut, by_region)?;
    let evidence = Evidence { expected_rates: Some(expected), ..evidence };
    Ok(EpsilonLowerBound { value, significance, assumes: Assumes::Nothing, evidence })
}

/// The largest value over a few thresholds that were fixed before the scores were known.
///
/// With m thresholds each limit has tail significance/(2m).
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `trade_off` | error counts of all planned observations | – |
/// | `thresholds` | the m thresholds, from a pilot | 1 ≤ m, no NaN |
/// | `delta` | δ | [0, 1) |
/// | `significance` | chance that the bound is wrong | (0, 1) |
///
/// # Guarantee
/// The value exceeds ε with probability at most `significance`. Test:
/// `tests/coverage/bounds.rs::simultaneous_covers_on_a_laplace_pair`.
///
/// # Errors
/// An argument outside its domain.
pub fn simultaneous(
    trade_off: &TradeOff,
    thresholds: &[f64],
    delta: f64,
    significance: f64,
) -> Result<EpsilonLowerBound, BoundError> {
    check(delta, significance)?;
    if thresholds.iter().any(|t| t.is_nan()) {
        return Err(BoundError::Threshold);
    }
    let m = thresholds.len();
    let setting = Setting {
        delta,
        tail: significance / (2.0 * m.max(1) as f64),
        rule: ThresholdRule::Simultaneous,
        cuts: m as u32,
        trials: trade_off.trials(),
    };
    let (value, evidence) = setting.best(thresholds.iter().map(|&t| trade_off.at_threshold(t)))?;
    Ok(EpsilonLowerBound { value, significance, assumes: Assumes::Nothing, evidence })
}

/// The half that chooses is corrected for this many thresholds, so that a few lucky events do not
/// win: on Gaussian pairs this raises the mean bound from 0.70 to 0.90 of that of the best fixed
/// threshold (μ = ½, 500 observations), and nowhere is it below 0.89.
const CUTS_CHOSEN_FROM: f64 = 32.0;

/// The value at the threshold that is best on `choose`, evaluated on `evaluate`.
///
/// Each limit on `evaluate` has tail significance/2.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `choose` | error counts of one half of the observations | – |
/// | `evaluate` | error counts of the other half | – |
/// | `delta` | δ | [0, 1) |
/// | `significance` | chance that the bound is wrong | (0, 1) |
///
/// # Guarantee
/// The value exceeds ε with probability at most `significance` if the halves are independent. Test:
/// `tests/coverage/bounds.rs::split_covers_on_a_laplace_pair`.
///
/// # Errors
/// An argument outside its domain.
pub fn split(
    choose: &TradeOff,
    evaluate: &TradeOff,
    delta: f64,
    significance: f64,
) -> Result<EpsilonLowerBound, BoundError> {
    check(delta, significance)?;
    let careful = significance / CUTS_CHOSEN_FROM;
    let threshold = max_uncorrected(choose, delta, careful)?.evidence().threshold;
    at_chosen_threshold(evaluate, threshold, delta, significance)
}

/// The value at a threshold that other scores chose.
fn at_chosen_threshold(
    evaluate: &TradeOff,
    threshold: f64,
    delta: f64,
    significance: f64,
) -> Result<EpsilonLowerBound, BoundError> {
    let setting = Setting {
        delta,
        tail: significance / 2.0,
        rule: ThresholdRule::Split,
        cuts: 1,
        trials: evaluate.trials(),
    };
    let (value, evidence) = setting.evaluate(evaluate.at_threshold(threshold))?;
    Ok(EpsilonLowerBound { value, significance, assumes: Assumes::Nothing, evidence })
}

/// The value at one threshold that few scores chose, for the number of evaluated ones.
///
/// The threshold has the largest bound that its error rates on `choose`, one standard error higher, let
/// the evaluated scores expect. It lies midway between two adjacent scores: in the middle of the gap
/// where the worlds are separated. Each limit on `evaluate` has tail significance/2.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `choose` | error counts of the scores that choose | – |
/// | `evaluate` | error counts of the other scores | – |
/// | `delta` | δ | [0, 1) |
/// | `significance` | chance that the bound is wrong | (0, 1) |
///
/// # Guarantee
/// The value exceeds ε with probability at most `significance` if both parts are independent. Test:
/// `tests/coverage/small_audits.rs::a_threshold_of_few_scores_covers_and_that_of_evaluated_ones_does_not`.
///
/// # Numerics
/// Mean bounds at δ = 10⁻⁵ and 95 % confidence with n scores per world that choose and 2n that are
/// evaluated, in brackets those of [`split`], which sees nothing in fewer than 11 scores that choose:
/// corrected for 32 thresholds, no bound on them is positive.
///
/// | scores | n = 4 | n = 10 | n = 20 | n = 40 | n = 200 |
/// |---|---|---|---|---|---|
/// | Gaussian, μ = 2 | 0.03 (0.00) | 0.52 (0.00) | 0.99 (0.68) | 1.44 (1.39) | 2.53 (2.46) |
/// | Gaussian, μ = 4 | 0.38 (0.00) | 1.45 (0.00) | 2.12 (2.11) | 2.71 (2.70) | 3.90 (3.89) |
/// | separated | 0.53 (0.00) | 1.60 (0.00) | 2.34 (2.34) | 3.05 (3.05) | 4.68 (4.68) |
/// | 0.2 of D shifted by 6 | 0.00 (0.00) | 0.00 (0.00) | 0.07 (0.00) | 0.66 (0.00) | 2.59 (2.42) |
///
/// # Errors
/// An argument outside its domain.
pub fn split_at_midpoint(
    choose: &TradeOff,
    evaluate: &TradeOff,
    delta: f64,
    significance: f64,
) -> Result<EpsilonLowerBound, BoundError> {
    check(delta, significance)?;
    let threshold = midpoint_threshold(choose, evaluate.trials(), delta, significance)?;
    at_chosen_threshold(evaluate, threshold, delta, significance)
}

/// Share of the significance of the threshold of the Gaussian fit, if there are two.
const FITTED_SHARE: f64 = 0.75;

/// The larger value of two thresholds that a small pilot chose: one by Gaussian curves fitted to its
/// scores, one by its own error counts.
///
/// The fitted curves need few runs and know the tails, but mislead where scores are not Gaussian;
/// counts never mislead, but miss rare events. Of the significance, 3/4 belong to the fit and 1/4 to
/// the counts; all of it to one of them if the other finds no threshold.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `pilot` | scores that choose, a tenth of all | – |
/// | `evaluate` | error counts of the other scores | – |
/// | `delta` | δ | [0, 1) |
/// | `significance` | chance that the bound is wrong | (0, 1) |
///
/// # Guarantee
/// The value exceeds ε with probability at most `significance` if pilot and evaluated scores are
/// independent: given the pilot, both thresholds are fixed, each bound exceeds ε with probability at
/// most its share, and the shares have the sum `significance`. Test:
/// `tests/coverage/bounds.rs::split_by_pilot_covers_on_a_laplace_pair`.
///
/// # Numerics
/// Mean bound ÷ that of the best fixed threshold by [`at_fixed_cut`], known in advance, on all scores,
/// at δ = 10⁻⁵ and 95 % confidence, n scores per world; in brackets that of [`split`] with two halves
/// (`cargo run --release -p dpscope-core --example threshold_rules 1000000`). Above 1 the region is
/// tighter than two separate limits.
///
/// | scores | n = 50 | n = 200 | n = 1000 | n = 10000 | n = 100000 | n = 1000000 |
/// |---|---|---|---|---|---|---|
/// | Gaussian, μ = 0.5 | 1.00 (1.00) | 0.97 (0.05) | 1.17 (0.63) | 1.10 (0.84) | 1.06 (0.91) | 1.04 (0.97) |
/// | Gaussian, μ = 1 | 0.66 (0.01) | 1.10 (0.59) | 1.06 (0.78) | 1.04 (0.88) | 1.10 (0.99) | 1.02 (0.95) |
/// | Gaussian, μ = 2 | 0.92 (0.52) | 0.98 (0.74) | 1.00 (0.84) | 1.01 (0.90) | 1.04 (0.95) | 1.00 (0.93) |
/// | Gaussian, μ = 3 | 0.94 (0.67) | 0.98 (0.78) | 0.99 (0.85) | 1.00 (0.90) | 1.02 (0.93) | 0.99 (0.91) |
/// | Gaussian, μ = 4 | 0.96 (0.71) | 0.99 (0.79) | 0.99 (0.84) | 1.00 (0.90) | 1.01 (0.92) | 0.97 (0.90) |
/// | Laplace, shift 1 | 0.34 (0.01) | 0.78 (0.67) | 0.93 (0.88) | 0.95 (0.96) | 0.97 (0.99) | 1.01 (1.01) |
/// | Laplace, shift 3 | 0.90 (0.66) | 0.96 (0.83) | 0.96 (0.92) | 0.98 (0.97) | 0.99 (0.99) | 1.00 (1.00) |
/// | 0.2 of D shifted by 3 | 0.15 (0.00) | 0.51 (0.16) | 0.98 (0.74) | 1.02 (0.87) | 1.01 (0.91) | 1.05 (0.97) |
///
/// Beside jax-privacy 2.0 (means of 10 files, 250 to 10⁴ scores per world; Gaussian with μ from 0.5 to
/// 4, Laplace and randomised response with ε = 1; δ = 0, 10⁻⁵ and 0.05): above `Split` and
/// `MultiSplit` with Clopper–Pearson limits in all 54 settings.
///
/// # Errors
/// An argument outside its domain.
pub fn split_by_pilot(
    pilot: &TradeOff,
    evaluate: &TradeOff,
    delta: f64,
    significance: f64,
) -> Result<EpsilonLowerBound, BoundError> {
    check(delta, significance)?;
    let trials = evaluate.trials();
    let fitted = fitted_threshold(pilot, trials, delta, significance)?;
    let cautious = cautious_threshold(pilot, trials, delta, significance)?;
    let chosen = match (fitted, cautious) {
        (Some(fitted), Some(cautious)) => {
            vec![(fitted, FITTED_SHARE), (cautious, 1.0 - FITTED_SHARE)]
        }
        (one, other) => one.or(other).map(|found| (found, 1.0)).into_iter().collect(),
    };
    if chosen.is_empty() {
        return at_fixed_cut(evaluate.at_threshold(f64::NEG_INFINITY), trials, delta, significance);
    }
    let mut bounds = Vec::with_capacity(chosen.len());
    for ((threshold, expected), share) in chosen {
        let cut = evaluate.at_threshold(threshold);
        bounds.push(at_expected_rates(cut, trials, expected, delta, significance * share)?);
    }
    let mut best = EpsilonLowerBound::best_of(&bounds).ok_or(BoundError::NoCuts)?;
    best.evidence.ceiling = ceiling_of_regions(trials, delta, significance)?;
    Ok(best)
}

/// The ceiling of [`split_by_pilot`]: what scores without errors would show whose pilot chose another
/// region, rounded up, with no limit of the other rate.
///
/// # Errors
/// An argument outside its domain.
pub fn ceiling_of_regions(
    trials: Trials,
    delta: f64,
    significance: f64,
) -> Result<f64, BoundError> {
    check(delta, significance)?;
    let least = |trials: u64| clopper_pearson_upper(0, trials, significance);
    let (fpr, fnr) = (least(trials.zero_out)?, least(trials.target)?);
    let apart = [epsilon_from_rates(fpr, 0.0, delta), epsilon_from_rates(0.0, fnr, delta)];
    Ok(apart[0].epsilon.max(apart[1].epsilon))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deterministic scores: a Weyl sequence.
    fn scores(n: u64, shift: f64, skew: f64) -> Vec<f64> {
        let uniform = |i: u64| (i as f64 * 0.618_033_988_749_894_9).fract();
        (0..n).map(|i| shift + skew * uniform(i) * uniform(3 * i + 1)).collect()
    }

    #[test]
    fn equal_and_reversed_scores_have_bound_zero() {
        let equal = TradeOff::from_scores([1.0; 900], [1.0; 900]).unwrap();
        assert_eq!(max_uncorrected(&equal, 1e-5, 0.05).unwrap().value(), 0.0);
        let reversed = TradeOff::from_scores([0.0; 900], [1.0; 900]).unwrap();
        assert_eq!(max_uncorrected(&reversed, 1e-5, 0.05).unwrap().value(), 0.0);
    }

    #[test]
    fn perfect_separation_reaches_the_ceiling_of_each_rule() {
        let t = TradeOff::from_scores([1.0; 1000], [0.0; 1000]).unwrap();
        for bound in
            [simultaneous(&t, &[0.5; 16], 1e-5, 0.05).unwrap(), split(&t, &t, 1e-5, 0.05).unwrap()]
        {
            let evidence = bound.evidence();
            assert_eq!(bound.value(), evidence.ceiling);
            assert_eq!(evidence.events_at_threshold, 0);
            assert!(evidence.limited_by_observations);
        }
    }

    #[test]
    fn separated_worlds_reach_the_ceiling_with_any_number_of_scores() {
        for runs in [4, 10, 11, 300] {
            let world = |from: f64| -> Vec<f64> {
                (0..runs).map(|i| from + f64::from(i) / f64::from(runs)).collect()
            };
            let choose = TradeOff::from_scores(world(3.0), world(0.0)).unwrap();
            let evaluate = TradeOff::from_scores(world(2.5), world(0.4)).unwrap();
            let evaluate = evaluate.joined(&evaluate).unwrap();
            let bound = split_at_midpoint(&choose, &evaluate, 1e-5, 0.05).unwrap();
            assert_eq!(bound.value(), bound.evidence().ceiling, "{runs}");
            let highest = 1.0 - 1.0 / f64::from(runs);
            assert!((bound.evidence().threshold - (highest + 3.0) / 2.0).abs() < 1e-12, "{runs}");
        }
        let equal = TradeOff::from_scores([1.0; 9], [1.0; 9]).unwrap();
        assert_eq!(split_at_midpoint(&equal, &equal, 1e-5, 0.05).unwrap().value(), 0.0);
    }

    #[test]
    fn a_pilot_that_shows_nothing_yields_zero_and_one_threshold_has_the_whole_significance() {
        let equal = TradeOff::from_scores([1.0; 90], [1.0; 90]).unwrap();
        assert_eq!(split_by_pilot(&equal, &equal, 1e-5, 0.05).unwrap().value(), 0.0);
        let apart = TradeOff::from_scores([1.0; 90], [0.0; 90]).unwrap();
        let bound = split_by_pilot(&apart, &apart, 1e-5, 0.05).unwrap();
        assert_eq!(bound.evidence().tail_per_rate, 0.025);
        let ceiling = bound.evidence().ceiling;
        assert!((ceiling - 0.5..=ceiling).contains(&bound.value()), "{bound:?}");
        let (d, d_prime) = (scores(400, 1.0, 2.0), scores(400, 0.0, 2.0));
        let both = TradeOff::from_scores(d, d_prime).unwrap();
        let bound = split_by_pilot(&both, &both, 1e-5, 0.05).unwrap();
        assert_eq!((bound.evidence().cuts, bound.significance()), (2, 0.05));
        // at a threshold with few false negatives, no counts show as much as at another
        let apart = TradeOff::from_scores([1.0; 400], [0.0; 400]).unwrap();
        let largest = split_by_pilot(&apart, &apart, 1e-5, 0.05).unwrap().value();
        assert!(bound.evidence().ceiling >= largest);
    }

    #[test]
    fn the_tail_is_shared_between_rates_and_thresholds() {
        let t = TradeOff::from_scores([1.0; 9], [0.0; 9]).unwrap();
        let bound = simultaneous(&t, &[0.1, 0.2, 0.3, 0.4, 0.5], 1e-5, 0.05).unwrap();
        assert_eq!(bound.evidence().tail_per_rate, 0.005);
        assert_eq!(bound.evidence().cuts, 5);
        assert_eq!(split(&t, &t, 1e-5, 0.05).unwrap().evidence().tail_per_rate, 0.025);
    }

    #[test]
    fn bad_arguments_are_errors() {
        let t = TradeOff::from_scores([1.0], [0.0]).unwrap();
        for delta in [1.0, -1e-9, f64::NAN] {
            assert!(matches!(max_uncorrected(&t, delta, 0.05), Err(BoundError::Delta { .. })));
        }
        for significance in [0.0, 1.0, f64::NAN] {
            let refused = max_uncorrected(&t, 0.0, significance);
            assert!(matches!(refused, Err(BoundError::Significance { .. })));
        }
        assert_eq!(simultaneous(&t, &[], 0.0, 0.05), Err(BoundError::NoCuts));
        assert_eq!(simultaneous(&t, &[f64::NAN], 0.0, 0.05), Err(BoundError::Threshold));
    }
}
