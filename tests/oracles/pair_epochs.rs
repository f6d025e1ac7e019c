//! δ of many epochs of the exact pair.

use dpscope_core::accounting::pair::PairMethod;
use dpscope_core::accounting::{Accounted, Given, ShuffleMethod, Training};

use crate::shuffle_theory::{Golden, golden, normals, pair, shuffled};

/// δ of a few epochs: the limits of whole runs, and what composes the law of one, against the value of
/// ε there, which other codes gave.
#[test]
fn delta_of_many_epochs() {
    let few = |golden: &Golden| {
        golden.run.epochs * golden.run.steps_per_epoch <= 2_000
            && golden.run.noise_multiplier >= 1.0
    };
    let cases: Vec<Golden> = golden("f_exact_pair_plugin_pld").into_iter().filter(few).collect();
    assert!(cases.len() >= 2);
    let mut tighter = 0;
    for golden in cases {
        let (low, high) = golden.interval;
        // δ falls: at the interval's ends it is around the one that ε was asked for
        let draws = if golden.run.epochs > 100 { 2_000 } else { 20_000 };
        let runs_at = |run: &Training, epsilon: f64| {
            let pair = pair(PairMethod::WholeRuns, draws);
            pair.sample(run, Given::Epsilon(epsilon), &mut normals(51)).expect("valid")
        };
        let above = |value: f64, error: f64| (value - golden.delta) / error;
        let (at_low, at_high) = (runs_at(&golden.run, low), runs_at(&golden.run, high));
        let z = |seen: &Accounted| above(seen.delta, seen.standard_error.expect("an estimate"));
        assert!(z(&at_low.estimate) > -4.0 && z(&at_high.estimate) < 4.0, "{}", golden.id);
        assert!(at_high.lower.delta <= golden.delta, "{}: {at_high:?}", golden.id);
        assert!(at_low.lower.delta > 0.5 * golden.delta, "{}: {at_low:?}", golden.id);
        assert!(at_low.lower.delta >= best_delta(&golden.run, low), "{}", golden.id);
        tighter += usize::from(at_low.lower.delta > 2.0 * best_delta(&golden.run, low));
        let drawn = |run: &Training| {
            let pair = pair(PairMethod::PlugIn, 48_000);
            pair.sample(run, Given::Epsilon(high), &mut normals(52)).expect("valid").estimate
        };
        assert!(z(&drawn(&golden.run)) < 4.0, "{}: {:?}", golden.id, drawn(&golden.run));
        // a little less noise: neither limit nor estimates are right then
        let broken = Training { noise_multiplier: 0.8 * golden.run.noise_multiplier, ..golden.run };
        assert!(runs_at(&broken, high).lower.delta > golden.delta, "{}", golden.id);
        assert!(z(&drawn(&broken)) > 4.0, "{}", golden.id);
    }
    assert!(tighter >= 1, "no limit beats the closed form");
}

fn best_delta(run: &Training, epsilon: f64) -> f64 {
    shuffled(run, Given::Epsilon(epsilon), ShuffleMethod::Best).delta
}
