//! The band around an audit's trade-off curve.

use dpscope_core::adjacency::World;
use dpscope_core::curve::{AuditCurve, RateBand, TradeOffPoint};
use dpscope_core::trade_off::{TradeOff, Trials};
use dpscope_tests::Draws;

use crate::SIGNIFICANCE;
use crate::budget::Misses;
use crate::laws::LaplacePair;

const PAIR: LaplacePair = LaplacePair { epsilon: 1.0 };
const TRIALS: Trials = Trials { target: 150, zero_out: 250 };
const RUNS: u64 = 2000;

fn drawn(run: u64) -> TradeOff {
    let mut draws = Draws::of_run(41, run);
    let target = PAIR.scores(World::Target, TRIALS.target as usize, &mut draws);
    let zero_out = PAIR.scores(World::ZeroOut, TRIALS.zero_out as usize, &mut draws);
    TradeOff::from_scores(target, zero_out).expect("two worlds")
}

fn cuts() -> Vec<f64> {
    (0..24).map(|i| f64::from(i) * 0.4 - 4.3).collect()
}

/// Whether the true curve leaves the band anywhere, between the cuts too.
fn leaves(band: &RateBand) -> bool {
    (-900..1000).any(|i| {
        let threshold = f64::from(i) * 0.01;
        let fpr = PAIR.above(World::ZeroOut, threshold);
        let fnr = 1.0 - PAIR.above(World::Target, threshold);
        !band.holds(TradeOffPoint { fpr, fnr })
    })
}

fn misses(band: impl Fn(&TradeOff) -> RateBand) -> Misses {
    let mut misses = Misses::default();
    for run in 0..RUNS {
        misses.count(leaves(&band(&drawn(run))));
    }
    misses
}

#[test]
fn the_band_holds_the_whole_curve_and_a_pointwise_one_does_not() {
    let band = |counted: &TradeOff, significance: f64| {
        let curve = AuditCurve::with_band(counted, &cuts(), significance);
        curve.expect("a significance").band().expect("limits")
    };
    let shared = misses(|counted| band(counted, SIGNIFICANCE));
    assert!(!shared.refute(SIGNIFICANCE), "{shared:?}");
    let pointwise = misses(|counted| band(counted, SIGNIFICANCE * cuts().len() as f64));
    assert!(pointwise.refute(SIGNIFICANCE), "a pointwise band passed: {pointwise:?}");
}
