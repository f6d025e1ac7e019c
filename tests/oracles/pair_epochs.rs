//! Many epochs of the exact pair: whole runs and plug-in estimates.

use dpscope_core::accounting::pair::PairMethod;
use dpscope_core::accounting::{Accounted, Given, Kind, Method, ShuffleMethod, Training};

use crate::shuffle_theory::{Golden, best, golden, normals, outside, pair, shuffled, with_error};

/// δ of a few epochs: the limits of whole runs, and what composes the distribution of one, against the value of
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
        // δ falls: at the interval's ends it is around the requested one
        let draws = if golden.run.epochs > 100 { 2_000 } else { 20_000 };
        let runs_at = |run: &Training, epsilon: f64| {
            let pair = pair(PairMethod::WholeRuns, draws);
            pair.evaluate(run, Given::Epsilon(epsilon), &mut normals(51)).expect("valid")
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
            pair.evaluate(run, Given::Epsilon(high), &mut normals(52)).expect("valid").estimate
        };
        assert!(z(&drawn(&golden.run)) < 4.0, "{}: {:?}", golden.id, drawn(&golden.run));
        // a little less noise: neither limit nor estimates are right then
        let broken = Training { noise_multiplier: 0.8 * golden.run.noise_multiplier, ..golden.run };
        assert!(runs_at(&broken, high).lower.delta > golden.delta, "{}", golden.id);
        assert!(z(&drawn(&broken)) > 4.0, "{}", golden.id);
    }
    assert!(tighter >= 1, "no limit beats the closed form");
}

#[test]
fn many_epochs_of_the_exact_pair() {
    let cheap = |golden: &Golden| {
        golden.run.epochs * golden.run.steps_per_epoch <= 2_000
            && golden.run.noise_multiplier >= 1.0
    };
    let cases: Vec<Golden> = golden("f_exact_pair_plugin_pld").into_iter().filter(cheap).collect();
    assert!(cases.len() >= 4);
    for golden in cases {
        let draws = if golden.run.epochs > 100 { 2_000 } else { 10_000 };
        let given = Given::Delta(golden.delta);
        let whole_runs = |run: &Training| {
            let pair = pair(PairMethod::WholeRuns, draws);
            pair.evaluate(run, given, &mut normals(31)).expect("valid")
        };
        let seen = whole_runs(&golden.run);
        let (value, error) = with_error(&seen.estimate, given);
        assert!(outside(value, error, golden.interval) < 4.0, "{}: {value} {error}", golden.id);
        assert!(error < 0.05, "{}: {error}", golden.id);
        assert!(seen.lower.epsilon <= golden.interval.1, "{}: {:?}", golden.id, seen.lower);
        assert!(seen.lower.epsilon >= best(&golden.run, golden.delta), "{}", golden.id);
        if golden.run.epochs > 100 {
            // as tight as limits of audits must be, which the closed form is not
            let least = 0.9 * golden.interval.0;
            assert!(seen.lower.epsilon > least, "{}: {:?} {error}", golden.id, seen.lower);
            assert!(best(&golden.run, golden.delta) < least, "{}: {least}", golden.id);
            let more =
                Training { noise_multiplier: 0.97 * golden.run.noise_multiplier, ..golden.run };
            let broken = whole_runs(&more).estimate;
            let (value, error) = with_error(&broken, given);
            let away = outside(value, error, golden.interval);
            assert!(away > 4.0, "{broken:?}");
        }
    }
}

#[test]
fn plug_in_estimates_agree_with_the_exact_pair() {
    for golden in golden("f_exact_pair_plugin_pld") {
        let draws = (9_600_000 / golden.run.steps_per_epoch).clamp(12_000, 48_000) as usize;
        let given = Given::Delta(golden.delta);
        let plug_in = |run: &Training| {
            let pair = pair(PairMethod::PlugIn, draws);
            pair.evaluate(run, given, &mut normals(41)).expect("valid").estimate
        };
        let seen = plug_in(&golden.run);
        let (value, error) = with_error(&seen, given);
        let away = outside(value, error, golden.interval);
        assert!(away < 4.0, "{}: {seen:?}", golden.id);
        assert_eq!((seen.method, seen.kind), (Method::PlugIn, Kind::Estimate));
        let less = Training { noise_multiplier: 0.8 * golden.run.noise_multiplier, ..golden.run };
        let broken = plug_in(&less);
        let (value, error) = with_error(&broken, given);
        let away = outside(value, error, golden.interval);
        assert!(away > 4.0, "{}: {broken:?}", golden.id);
    }
}

/// With much noise L is linear in the sum of an epoch, so the pair leaks as the closed form of the sum. A
/// grid wider than the spread of L once gave several times as much.
#[test]
fn estimates_of_much_noise_are_those_of_the_sum() {
    for (noise_multiplier, steps_per_epoch, epochs, given) in [
        (20.0, 300, 2, Given::Delta(1e-4)),
        (100.0, 1_000, 3, Given::Delta(1e-6)),
        (50.0, 100, 40, Given::Delta(1e-5)),
        (100.0, 1_000, 30, Given::Epsilon(0.0)),
        (100.0, 1_000, 30, Given::Epsilon(1e-4)),
        (20.0, 300, 2, Given::Epsilon(1e-3)),
    ] {
        let run = Training { noise_multiplier, steps_per_epoch, epochs, sampling_rate: None };
        let sum = shuffled(&run, given, ShuffleMethod::Sum);
        let sum = match given {
            Given::Delta(_) => sum.epsilon,
            Given::Epsilon(_) => sum.delta,
        };
        for (method, draws) in [(PairMethod::PlugIn, 16_000), (PairMethod::WholeRuns, 2_000)] {
            let seen = pair(method, draws).evaluate(&run, given, &mut normals(61)).expect("valid");
            let (value, error) = with_error(&seen.estimate, given);
            assert!(error < 0.2 * sum, "{method:?} {run:?}: {error} {sum}");
            assert!((value - sum).abs() < 4.0 * error, "{method:?} {run:?}: {value} {error} {sum}");
        }
    }
}

fn best_delta(run: &Training, epsilon: f64) -> f64 {
    shuffled(run, Given::Epsilon(epsilon), ShuffleMethod::Best).delta
}
