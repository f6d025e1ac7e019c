//! Trade-off curves against privacy profiles, and against counts.

use dpscope_core::accounting::{
    Accountant, Deterministic, Directions, Given, Poisson, Query, Shuffle, ShuffleMethod, Training,
};
use dpscope_core::curve::{
    TradeOffCurve, claim_curve, deterministic_curve, max_slice_curve, poisson_curve,
};
use dpscope_tests::Draws;

/// Largest relative distance within pairs.
fn apart(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    pairs.map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max)
}

fn profile<'a>(
    curve: &'a TradeOffCurve,
    delta: impl Fn(f64) -> f64 + 'a,
    epsilons: &'a [f64],
) -> impl Iterator<Item = (f64, f64)> + 'a {
    epsilons.iter().map(move |&epsilon| (curve.delta_at(epsilon), delta(epsilon)))
}

#[test]
fn curves_and_profiles_agree() {
    for (noise_multiplier, steps) in [(1.0, 100), (0.6, 1000), (3.0, 30)] {
        let sampling_rate = Some(0.01);
        let training =
            Training { noise_multiplier, steps_per_epoch: steps, epochs: 1, sampling_rate };
        let curve = poisson_curve(&training).unwrap();
        let exchanged = curve.exchanged();
        for (curve, directions) in [(&curve, Directions::Remove), (&exchanged, Directions::Add)] {
            let bound = move |training, given, error| {
                let query = Query { directions, error, ..Query::upper(training, given) };
                Poisson.account(&query).unwrap()
            };
            let of = |training: Training| {
                move |epsilon| bound(training, Given::Epsilon(epsilon), Some(1e-4)).delta
            };
            let reach = bound(training, Given::Delta(1e-6), Some(1e-3)).epsilon;
            let epsilons = [0.1, 0.4, 0.9].map(|share| share * reach);
            let distance = apart(profile(curve, of(training), &epsilons));
            assert!(distance < 0.02, "{training:?} {directions:?}: {distance}");
            let quieter = Training { noise_multiplier: 0.97 * noise_multiplier, ..training };
            let distance = apart(profile(curve, of(quieter), &epsilons));
            assert!(distance > 0.02, "another distribution passes: {distance}");
        }
    }
    let training =
        Training { noise_multiplier: 1.0, steps_per_epoch: 1, epochs: 4, sampling_rate: None };
    let curve = deterministic_curve(&training).unwrap();
    let delta = |epsilon| {
        let query = Query::upper(training, Given::Epsilon(epsilon));
        Deterministic.account(&query).unwrap().delta
    };
    assert!(apart(profile(&curve, delta, &[0.5, 3.0, 8.0])) < 0.01);
}

#[test]
fn the_closed_form_bound_is_a_tangent_of_the_closed_form_attack() {
    let delta = 1e-5;
    for (noise_multiplier, steps_per_epoch) in [(0.5, 100), (1.0, 100), (1.0, 1), (2.0, 1000)] {
        let run = Training { noise_multiplier, steps_per_epoch, epochs: 1, sampling_rate: None };
        let query = Query::lower(run, Given::Delta(delta));
        let epsilon = Shuffle(ShuffleMethod::MaxSlice).account(&query).unwrap().epsilon;
        let attack = max_slice_curve(&run).unwrap();
        let found = attack.delta_at(epsilon);
        assert!(found <= delta * 1.000_001 && found > 0.97 * delta, "{run:?}: {found:e}");
        // The claim of the bound touches the attack; one of less is passed by it.
        let passes = |epsilon: f64| {
            let claim = claim_curve(epsilon, delta).unwrap();
            attack.points().iter().any(|at| at.fnr < claim.fnr_at(at.fpr) - 1e-13)
        };
        assert!(!passes(epsilon + 1e-6) && passes(0.97 * epsilon), "{run:?}");
    }
}

/// Shares of epochs whose largest output exceeds a cut, by world.
fn counted(run: &Training, cuts: &[f64], epochs: u32) -> Vec<(f64, f64)> {
    let mut draws = Draws::new(77);
    let mut errors = vec![(0.0, 0.0); cuts.len()];
    for _ in 0..epochs {
        for (mean, is_target) in [(2.0, true), (1.0, false)] {
            let largest = (0..run.steps_per_epoch)
                .map(|step| {
                    run.noise_multiplier * draws.normal() + if step == 0 { mean } else { 0.0 }
                })
                .fold(f64::NEG_INFINITY, f64::max);
            for (error, &cut) in errors.iter_mut().zip(cuts) {
                match is_target {
                    true => error.1 += f64::from(u8::from(largest <= cut)),
                    false => error.0 += f64::from(u8::from(largest > cut)),
                }
            }
        }
    }
    errors.iter().map(|e| (e.0 / f64::from(epochs), e.1 / f64::from(epochs))).collect()
}

#[test]
fn the_closed_form_attack_has_the_rates_that_are_counted() {
    let run =
        Training { noise_multiplier: 1.0, steps_per_epoch: 20, epochs: 1, sampling_rate: None };
    let attack = max_slice_curve(&run).unwrap();
    let other = max_slice_curve(&Training { steps_per_epoch: 30, ..run }).unwrap();
    let epochs = 40_000;
    let farthest = |curve: &TradeOffCurve| {
        let distance = |(fpr, fnr): (f64, f64)| (fnr - curve.fnr_at(fpr)).abs();
        counted(&run, &[1.5, 2.0, 2.5, 3.0, 3.5], epochs)
            .into_iter()
            .map(distance)
            .fold(0.0, f64::max)
    };
    // Five standard errors of a rate of one half, for both rates: slopes here are below 2.
    let most = 3.0 * 5.0 * 0.5 / f64::from(epochs).sqrt();
    assert!(farthest(&attack) < most);
    assert!(farthest(&other) > 0.5 * most, "20 and 30 steps are not distinguished");
}
