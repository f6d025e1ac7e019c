//! A bound belongs to a planned number of observations; looking often and stopping at the best
//! moment loses its coverage.

use dpscope_core::adjacency::World;
use dpscope_core::audit::bound::{Statement, ThresholdRule};
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_core::audit::trade_off::Trials;
use dpscope_core::audit::{AuditHistograms, Outcome};
use dpscope_tests::Draws;

use crate::SIGNIFICANCE;
use crate::bounds::TightCut;
use crate::budget::Misses;

const PEEKS: u64 = 20;
const PLANNED: u64 = 4000;

/// Two bins with the only cut between the scores −1 and 0.
fn one_cut() -> (ScoreBins, f64) {
    let bins = ScoreBins::new(1.0, 0, 0, 2).expect("valid");
    (bins, bins.threshold(0))
}

/// The outcomes of one audit at its peeks; the last one is at the planned size.
fn outcomes(tight: &TightCut, run: u64) -> Vec<Outcome> {
    let (bins, threshold) = one_cut();
    let mut draws = Draws::of_run(301, run);
    let mut counted = AuditHistograms::empty(&bins);
    let mut found = Vec::new();
    for observation in 0..PLANNED {
        for (world, above) in [
            (World::Target, 1.0 - tight.distribution.fnr),
            (World::ZeroOut, tight.distribution.fpr),
        ] {
            let score = if draws.uniform() < above { 0 } else { -1 };
            counted.add(&bins, world, observation, score);
        }
        let done = observation + 1;
        if done % (PLANNED / PEEKS) == 0 {
            let level = Statement { delta: tight.delta, significance: SIGNIFICANCE };
            let rule = ThresholdRule::Fixed;
            found.push(
                counted.evaluate(&bins, rule, &[threshold], level, done == PLANNED).expect("valid"),
            );
        }
    }
    found
}

#[test]
fn the_largest_of_twenty_peeks_does_not_cover_and_the_planned_end_does() {
    let trials = Trials { target: PLANNED, zero_out: PLANNED };
    let tight = TightCut::new(4.0, 1e-5, 0.0, trials);
    let (mut planned, mut largest) = (Misses::default(), Misses::default());
    for run in 0..1000 {
        let found = outcomes(&tight, run);
        let (end, peeks) = found.split_last().unwrap();
        assert!(matches!(end, Outcome::Bound(_)));
        assert!(peeks.iter().all(|peek| matches!(peek, Outcome::Estimate(_))));
        planned.count(end.value() > tight.epsilon);
        largest.count(found.iter().any(|peek| peek.value() > tight.epsilon));
    }
    assert!(!planned.refute(SIGNIFICANCE), "{planned:?}");
    assert!(largest.refute(SIGNIFICANCE), "stopping at the best peek passed: {largest:?}");
    let exact =
        tight.distribution.chance_above(tight.epsilon, |e| tight.fixed_bound(e, SIGNIFICANCE));
    assert!(exact <= SIGNIFICANCE);
}

#[test]
fn a_run_that_is_not_complete_has_no_bound_under_any_rule() {
    let (bins, threshold) = one_cut();
    let mut counted = AuditHistograms::empty(&bins);
    for observation in 0..1000 {
        counted.add(&bins, World::Target, observation, -i64::from(observation % 5 == 0));
        counted.add(&bins, World::ZeroOut, observation, -i64::from(observation % 7 != 0));
    }
    let bound_of = |rule, complete| {
        let level = Statement { delta: 1e-5, significance: SIGNIFICANCE };
        counted.evaluate(&bins, rule, &[threshold], level, complete).unwrap()
    };
    use ThresholdRule::{Fixed, MaxUncorrected, Simultaneous, Split};
    for rule in [Fixed, Simultaneous, Split] {
        let [part, whole] = [false, true].map(|complete| bound_of(rule, complete));
        assert!(matches!(part, Outcome::Estimate(_)), "{rule:?}");
        assert!(matches!(whole, Outcome::Bound(_)), "{rule:?}");
        assert!(part.value() == whole.value() && part.value() > 0.5, "{rule:?}");
        let mixed = Outcome::best_of(&[whole, part]).unwrap();
        assert!(matches!(mixed, Outcome::Estimate(_)), "one estimate makes the best of all one");
    }
    for complete in [false, true] {
        assert!(matches!(bound_of(MaxUncorrected, complete), Outcome::Estimate(_)));
    }
}
