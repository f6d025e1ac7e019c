//! The trade-off curve of an audit and its result agree at the deciding threshold.

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::curve::AuditCurve;
use dpscope_core::audit::{AuditOptions, Outcome, Scores};
use dpscope_engine::Shard;
use dpscope_simulation::Evaluate;
use dpscope_tests::simulate::{backend, counted, counted_on, planned, shuffled};

/// Whether the curve has the deciding threshold, with the same rates and limits at least as wide.
fn agrees(curve: &AuditCurve, outcome: &Outcome) -> bool {
    let evidence = outcome.evidence();
    curve.cuts().iter().any(|cut| {
        let limits = cut.limits.expect("a band");
        cut.threshold == evidence.threshold
            && cut.fpr * evidence.trials.zero_out as f64 == evidence.errors.false_positives as f64
            && limits.fpr_upper >= evidence.fpr_upper
            && limits.fnr_upper >= evidence.fnr_upper
    })
}

#[test]
fn only_a_complete_run_has_a_band_which_contains_the_deciding_threshold() {
    let plan = planned(shuffled(1.0, 10, 1), 20_000, 7);
    let whole = counted(&plan);
    let curve = whole.curve().unwrap();
    assert!(curve.band().is_some() && agrees(&curve, &whole.outcome().unwrap()));
    assert!(curve.cuts().len() <= 192 + 16);
    let part = counted_on(&backend(1), &plan, Shard { index: 1, count: 3 }).curve().unwrap();
    assert!(part.band().is_none() && part.trials().target < 10_000);
}

#[test]
fn recorded_scores_have_a_band_from_the_runs_that_fixed_no_threshold() {
    let uniform = |i: usize| (i as f64 * 0.618_033_988_749_894_9).fract();
    let world = |shift: f64| (0..300).map(|i| shift + 4.0 * uniform(i)).collect::<Vec<_>>();
    let (target, zero_out) = (world(1.5), world(0.0));
    let scores = Scores { target: &target, zero_out: &zero_out, likelihood_ratios: true };
    let audit = AuditOptions {
        threshold_rule: ThresholdRule::Simultaneous,
        delta: 1e-5,
        significance: 0.05,
        cuts: 16,
        seed: 3,
    };
    let curve = scores.curve(&audit, true).unwrap();
    assert_eq!(curve.trials().target, 270);
    assert!(agrees(&curve, scores.audit(&audit).unwrap().outcome()));
    let dependent = scores.curve(&audit, false).unwrap();
    assert!(dependent.band().is_none() && dependent.trials().target == 300);
    let few = Scores { target: &target[..19], ..scores };
    assert!(few.curve(&audit, true).unwrap().band().is_none());
}
