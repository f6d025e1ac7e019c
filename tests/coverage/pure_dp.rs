//! δ = 0 by randomised response: one useful threshold, whose two limits are both tight.

use dpscope_core::audit::bound::{ThresholdRule, at_fixed_cut};
use dpscope_core::audit::{AuditOptions, Scores};
use dpscope_core::math::{exp, ln};
use dpscope_tests::Draws;

use crate::SIGNIFICANCE;
use crate::bounds::counted;
use crate::budget::Misses;

const EPSILON: f64 = 1.0;
const RUNS: usize = 1000;

fn world(draws: &mut Draws, is_target: bool) -> Vec<f64> {
    let honest = exp(EPSILON) / (1.0 + exp(EPSILON));
    (0..RUNS).map(|_| f64::from((draws.uniform() < honest) == is_target)).collect()
}

/// The plug-in ratio exceeds ε in every second run, the rules in one of a hundred.
#[test]
fn rules_cover_and_are_tight_on_randomised_response() {
    let mut draws = Draws::new(105);
    let rules = [ThresholdRule::Split, ThresholdRule::Simultaneous];
    let (mut missed, mut plug_in) = ([Misses::default(); 2], Misses::default());
    let (mut sums, mut best) = ([0.0; 2], 0.0);
    for seed in 0..1500 {
        let (target, zero_out) = (world(&mut draws, true), world(&mut draws, false));
        for (at, threshold_rule) in rules.into_iter().enumerate() {
            let options = AuditOptions {
                threshold_rule,
                delta: 0.0,
                significance: SIGNIFICANCE,
                seed,
                ..AuditOptions::default()
            };
            let bound = Scores::new(&target, &zero_out).audit(&options).unwrap().epsilon();
            missed[at].count(bound > EPSILON);
            sums[at] += bound;
        }
        let all = counted(&target, &zero_out);
        let cut = all.at_threshold(0.0);
        best += at_fixed_cut(cut, all.trials(), 0.0, SIGNIFICANCE).unwrap().value();
        let [fp, fn_] = [cut.errors.false_positives, cut.errors.false_negatives];
        plug_in.count(ln((RUNS as u64 - fn_) as f64 / fp as f64) > EPSILON);
    }
    assert!(missed.iter().all(|missed| missed.stay_below(SIGNIFICANCE)), "{missed:?}");
    assert!(plug_in.refute(SIGNIFICANCE), "a ratio without limits passed: {plug_in:?}");
    assert!(sums.iter().all(|sum| *sum > 0.9 * best), "{sums:?} of {best}");
}
