//! The band around an audit's trade-off curve.

use dpscope_core::adjacency::World;
use dpscope_core::audit::curve::AuditCurve;

use dpscope_core::audit::trade_off::{TradeOff, Trials};
use dpscope_core::curve::TradeOffPoint;
use dpscope_tests::Draws;

use crate::SIGNIFICANCE;
use crate::budget::Misses;
use crate::pairs::LaplacePair;

const PAIR: LaplacePair = LaplacePair { epsilon: 1.0 };
const TRIALS: Trials = Trials { target: 150, zero_out: 250 };
const RUNS: u64 = 1000;

fn drawn(run: u64) -> TradeOff {
    let mut draws = Draws::of_run(41, run);
    let target = PAIR.scores(World::Target, TRIALS.target as usize, &mut draws);
    let zero_out = PAIR.scores(World::ZeroOut, TRIALS.zero_out as usize, &mut draws);
    TradeOff::from_scores(target, zero_out).expect("two worlds")
}

fn cuts() -> Vec<f64> {
    (0..160).map(|i| f64::from(i) * 0.05 - 3.5).collect()
}

fn truth(threshold: f64) -> TradeOffPoint {
    let fnr = 1.0 - PAIR.above(World::Target, threshold);
    TradeOffPoint { fpr: PAIR.above(World::ZeroOut, threshold), fnr }
}

/// Whether the true rates at any cut are outside their limits.
fn rates_leave(curve: &AuditCurve) -> bool {
    curve.cuts().iter().any(|cut| {
        let (at, limits) = (truth(cut.threshold), cut.limits.expect("limits"));
        !((limits.fpr_lower..=limits.fpr_upper).contains(&at.fpr)
            && (limits.fnr_lower..=limits.fnr_upper).contains(&at.fnr))
    })
}

/// Whether the true curve leaves the band anywhere, between the cuts too.
fn curve_leaves(curve: &AuditCurve) -> bool {
    let band = curve.band().expect("limits");
    (-900..1000).any(|i| !band.contains(truth(f64::from(i) * 0.01)))
}

/// How often something leaves, where each limit has this tail.
fn misses(tail: f64, leaves: fn(&AuditCurve) -> bool) -> Misses {
    let mut misses = Misses::default();
    for run in 0..RUNS {
        let significance = 4.0 * cuts().len() as f64 * tail;
        let curve = AuditCurve::with_band(&drawn(run), &cuts(), significance);
        misses.count(leaves(&curve.expect("a tail")));
    }
    misses
}

#[test]
fn the_band_contains_the_whole_curve_and_a_pointwise_one_does_not() {
    let shared = SIGNIFICANCE / (4.0 * cuts().len() as f64);
    for leaves in [rates_leave, curve_leaves] {
        let misses = misses(shared, leaves);
        assert!(!misses.refute(SIGNIFICANCE), "{misses:?}");
    }
    let pointwise = misses(SIGNIFICANCE / 4.0, rates_leave);
    assert!(pointwise.refute(SIGNIFICANCE), "a pointwise band passed: {pointwise:?}");
    // Between cuts there is room, and a curve leaves only past a corner: it takes a worse band.
    let narrow = misses(0.15, curve_leaves);
    assert!(narrow.refute(SIGNIFICANCE), "a narrow band passed: {narrow:?}");
}
