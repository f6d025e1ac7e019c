//! Accountants against peers' intervals, quadrature and simulation.

use dpscope_core::accounting::{
    Accountant, Accounted, AccountingError, BallsInBins, Calibrated, Deterministic, Directions,
    Given, Kind, Parameter, Poisson, PrivacyTarget, Query, Training, calibrate,
};
use dpscope_core::math;
use dpscope_core::special::normal_cdf;
use dpscope_tests::{Draws, z_of_mean};
use serde_json::Value;

const GOLDEN: &str = include_str!("data/accounting.json");

/// Settings and interval of each case of a group.
fn golden(group: &str) -> Vec<Golden> {
    let all: Value = serde_json::from_str(GOLDEN).expect("golden file is json");
    let all = all["cases"].as_array().expect("golden file has cases").clone();
    let of_group: Vec<Golden> =
        all.into_iter().filter(|case| case["group"] == group).map(Golden).collect();
    assert!(!of_group.is_empty(), "golden file has the group {group}");
    of_group
}

struct Golden(Value);

impl Golden {
    fn setting(&self, name: &str) -> f64 {
        self.0["settings"][name].as_f64().expect("case has the setting")
    }

    fn count(&self, name: &str) -> u64 {
        self.0["settings"][name].as_u64().expect("case has the count")
    }
}

fn run(noise_multiplier: f64, steps_per_epoch: u64, epochs: u64) -> Training {
    Training { noise_multiplier, steps_per_epoch, epochs, sampling_rate: None }
}

/// Steps at a rate of their own.
fn sampled(noise_multiplier: f64, sampling_rate: f64, steps: u64) -> Training {
    Training { sampling_rate: Some(sampling_rate), ..run(noise_multiplier, steps, 1) }
}

/// What an accountant answers, with this error.
fn account(
    accountant: &dyn Accountant,
    training: Training,
    given: Given,
    (kind, directions, error): (Kind, Directions, f64),
) -> Accounted {
    let query = Query { kind, directions, error: Some(error), ..Query::upper(training, given) };
    accountant.account(&query).expect("in the domain")
}

/// The most exact answer, for both directions.
fn exact(training: Training, given: Given, kind: Kind) -> Accounted {
    account(&Deterministic, training, given, (kind, Directions::Both, 1.0))
}

fn calibrated(
    accountant: &dyn Accountant,
    parameter: Parameter,
    target: PrivacyTarget,
    training: Training,
) -> Calibrated {
    calibrate(accountant, parameter, &target, &training).expect("in reach")
}

#[test]
fn places_365_needs_no_cap() {
    // σ = 1, T = 440, E = 509: peers' interval is not in the golden file
    let upper = |training, error| {
        let bound = (Kind::Upper, Directions::Both, error);
        account(&Poisson, training, Given::Delta(1e-5), bound)
    };
    let bound = upper(run(1.0, 440, 509), 1e-3);
    assert!((bound.epsilon - 6.5913).abs() < 1e-3, "{}", bound.epsilon);
    assert!(bound.numeric_error <= 1e-3);
    assert!(upper(sampled(0.3, 0.5, 20), 1e-2).epsilon > 60.0);
}

#[test]
fn deterministic_deltas_invert_epsilons() {
    for epochs in [1, 10, 509] {
        let training = run(0.7, 1, epochs);
        let epsilon_at = |delta: f64, kind| exact(training, Given::Delta(delta), kind).epsilon;
        let delta_at = |epsilon: f64, kind| exact(training, Given::Epsilon(epsilon), kind).delta;
        for delta in [1e-12, 1e-5, 0.3] {
            let epsilon = epsilon_at(delta, Kind::Lower);
            let back = delta_at(epsilon, Kind::Upper);
            assert!(back >= delta && back < delta * (1.0 + 1e-8), "{epochs} {delta:e}: {back:e}");
            let epsilon = epsilon_at(delta, Kind::Upper);
            let back = delta_at(epsilon, Kind::Lower);
            assert!(back <= delta && back > delta * (1.0 - 1e-8), "{epochs} {delta:e}: {back:e}");
            // too much noise is seen
            let noisy = run(0.7 * (1.0 + 1e-6), 1, epochs);
            let of_noisy = exact(noisy, Given::Epsilon(epsilon), Kind::Upper).delta;
            assert!(of_noisy < back, "{epochs} {delta:e}");
        }
    }
}

#[test]
fn calibrated_noise_reaches_the_target() {
    for case in golden("e_calibrated_sigma") {
        let epsilon = case.setting("target_epsilon");
        let error = 2e-6 * epsilon;
        let target = PrivacyTarget { epsilon, delta: case.setting("delta"), error: Some(error) };
        let (steps, epochs) = (case.count("steps_per_epoch"), case.count("epochs"));
        let noise = calibrated(&Poisson, Parameter::Noise, target, run(1.0, steps, epochs));
        assert!(noise.epsilon <= epsilon && noise.epsilon > epsilon - error, "{noise:?}");
    }
    for (epochs, epsilon) in [(1, 1.0), (10, 8.0), (509, 349.805)] {
        let target = PrivacyTarget { epsilon, delta: 1e-5, error: Some(1e-6) };
        let noise = calibrated(&Deterministic, Parameter::Noise, target, run(1.0, 1, epochs));
        assert!(noise.epsilon <= epsilon && noise.epsilon > epsilon - 1e-6, "{noise:?}");
    }
}

#[test]
fn calibrated_steps_reach_the_target() {
    let target = PrivacyTarget { epsilon: 2.0, delta: 1e-5, error: Some(1e-3) };
    let lower = |training| {
        let bound = (Kind::Lower, Directions::Both, 1e-4);
        account(&Poisson, training, Given::Delta(1e-5), bound).epsilon
    };
    let found = calibrated(&Poisson, Parameter::Steps, target, sampled(1.0, 0.01, 1));
    let epsilon_of = |steps: f64| lower(sampled(1.0, 0.01, steps as u64));
    assert!(epsilon_of(found.value) <= 2.0 && epsilon_of(found.value + 2.0) > 2.0 - 1e-3);
    let found = calibrated(&Deterministic, Parameter::Epochs, target, run(10.0, 1, 1));
    let epsilon_of =
        |epochs: f64| exact(run(10.0, 1, epochs as u64), Given::Delta(1e-5), Kind::Upper).epsilon;
    assert!(epsilon_of(found.value) <= 2.0 && epsilon_of(found.value + 1.0) > 2.0, "{found:?}");
    let refused = |parameter, noise_multiplier| {
        calibrate(&Deterministic, parameter, &target, &run(noise_multiplier, 1, 1)).unwrap_err()
    };
    assert!(matches!(refused(Parameter::Epochs, 0.1), AccountingError::Unreachable { .. }));
    assert!(matches!(refused(Parameter::Steps, 10.0), AccountingError::NotCalibrated { .. }));
}

#[test]
fn calibrated_epochs_reach_the_target() {
    let target = PrivacyTarget { epsilon: 2.0, delta: 1e-5, error: Some(1e-3) };
    let found = calibrated(&Poisson, Parameter::Epochs, target, run(1.0, 100, 1));
    let epsilon_of = |epochs: f64| {
        let bound = (Kind::Lower, Directions::Both, 1e-4);
        account(&Poisson, run(1.0, 100, epochs as u64), Given::Delta(1e-5), bound).epsilon
    };
    assert!(epsilon_of(found.value) <= found.epsilon && found.epsilon <= 2.0, "{found:?}");
    assert!(epsilon_of(found.value + 1.0) > 2.0, "{found:?}");
    for epsilon in [0.5, 1e-3] {
        let target = PrivacyTarget { epsilon, ..target };
        let training = run(1.0, 100, 1);
        let refused = calibrate(&Poisson, Parameter::Epochs, &target, &training).unwrap_err();
        assert!(
            matches!(refused, AccountingError::Unreachable { name: "epochs", .. }),
            "{refused}"
        );
    }
}

#[test]
fn tiny_and_huge_targets_are_calibrated() {
    for (epsilon, steps) in [(1e-3, 1_000), (0.05, 20), (60.0, 500), (500.0, 2_000)] {
        let error = 1e-3 * f64::min(epsilon, 100.0);
        let target = PrivacyTarget { epsilon, delta: 1e-5, error: Some(error) };
        let noise = calibrated(&Poisson, Parameter::Noise, target, sampled(1.0, 0.01, steps));
        assert!(noise.epsilon <= epsilon && noise.epsilon > epsilon - error, "{noise:?}");
        let less = sampled(0.99 * noise.value, 0.01, steps);
        let bound = (Kind::Lower, Directions::Both, 0.2 * error);
        let lower = account(&Poisson, less, Given::Delta(1e-5), bound);
        assert!(lower.epsilon > epsilon, "{epsilon}: {lower:?}");
    }
}

/// ∫ f over [low, high] by Simpson's rule.
pub(crate) fn simpson(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let count = 40_000;
    let width = (high - low) / f64::from(count);
    let weight = |place: i32| {
        if place == 0 || place == count { 1.0 } else { f64::from(2 + 2 * (place % 2)) }
    };
    (0..=count).map(|place| weight(place) * f(low + f64::from(place) * width)).sum::<f64>() * width
        / 3.0
}

/// The pair of one step, by its densities.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) sigma: f64,
    pub(crate) q: f64,
    pub(crate) add: bool,
}

impl Step {
    /// Density of P, and the loss.
    pub(crate) fn at(self, x: f64) -> (f64, f64) {
        let density = |mean: f64| {
            let z = (x - mean) / self.sigma;
            math::exp(-0.5 * z * z) / (self.sigma * (2.0 * std::f64::consts::PI).sqrt())
        };
        let mixed = (1.0 - self.q) * density(0.0) + self.q * density(1.0);
        let loss =
            math::ln_1p(self.q * math::exp_m1((2.0 * x - 1.0) / (2.0 * self.sigma * self.sigma)));
        if self.add { (density(0.0), -loss) } else { (mixed, loss) }
    }

    /// δ of one step: the losses above ε are the outputs on one side of a cut.
    pub(crate) fn delta(self, epsilon: f64) -> f64 {
        let (s, q) = (self.sigma, self.q);
        let edge = if self.add { -epsilon } else { epsilon };
        let ratio = (math::exp_m1(edge) + q) / q;
        if ratio <= 0.0 {
            return if self.add { 0.0 } else { 1.0 - math::exp(epsilon) };
        }
        let x = s * s * math::ln(ratio) + 0.5;
        let side = if self.add { 1.0 } else { -1.0 };
        let (without, with) = (normal_cdf(side * x / s), normal_cdf(side * (x - 1.0) / s));
        let mixed = (1.0 - q) * without + q * with;
        if self.add {
            without - math::exp(epsilon) * mixed
        } else {
            mixed - math::exp(epsilon) * without
        }
    }

    fn delta_of_two(self, epsilon: f64) -> f64 {
        simpson(-9.0 * self.sigma, 1.0 + 9.0 * self.sigma, |x| {
            let (density, loss) = self.at(x);
            density * self.delta(epsilon - loss)
        })
    }
}

fn brackets(step: Step, steps: u64, epsilon: f64, exact: f64) -> bool {
    let training = sampled(step.sigma, step.q, steps);
    let directions = if step.add { Directions::Add } else { Directions::Remove };
    let given = Given::Epsilon(epsilon);
    let delta = |kind| account(&Poisson, training, given, (kind, directions, 1e-4)).delta;
    let (upper, lower) = (delta(Kind::Upper), delta(Kind::Lower));
    lower <= exact && exact <= upper && upper - lower <= 2e-3 * exact
}

#[test]
fn deltas_bracket_quadrature() {
    for (sigma, q, epsilon) in
        [(1.0, 0.1, 0.1), (0.5, 0.01, 1.0), (2.0, 0.3, 0.05), (0.7, 0.9, 2.0), (0.4, 0.001, 0.0005)]
    {
        for add in [false, true] {
            let step = Step { sigma, q, add };
            let epsilon = if add { f64::min(epsilon, 0.5 * q) } else { epsilon };
            let (one, two) = (step.delta(epsilon), step.delta_of_two(epsilon));
            assert!(brackets(step, 1, epsilon, one), "{sigma} {q} {add}: {one:e}");
            assert!(brackets(step, 2, epsilon, two), "{sigma} {q} {add}: {two:e}");
            let broken = Step { sigma: 1.003 * sigma, ..step };
            assert!(!brackets(broken, 2, epsilon, two), "{sigma} {q} {add} is not seen");
        }
    }
}

/// z of the mean of (1 − e^{ε − L})₊ over simulated runs against a value of δ.
fn z_of_simulation(training: Training, epsilon: f64, delta: f64) -> f64 {
    let mut draws = Draws::new(4);
    let (sigma, q) = (training.noise_multiplier, training.sampling_rate());
    let step = Step { sigma, q, add: false };
    let excess: Vec<f64> = (0..100_000)
        .map(|_| {
            let loss = (0..training.steps())
                .map(|_| {
                    let mean = if draws.uniform() < q { 1.0 } else { 0.0 };
                    step.at(mean + sigma * draws.normal()).1
                })
                .sum::<f64>();
            (-math::exp_m1(epsilon - loss)).max(0.0)
        })
        .collect();
    z_of_mean(&excess, delta)
}

#[test]
fn deltas_match_simulated_runs() {
    let training = sampled(0.8, 0.1, 12);
    let bound = (Kind::Upper, Directions::Remove, 1e-3);
    let delta = account(&Poisson, training, Given::Epsilon(1.0), bound).delta;
    let z = z_of_simulation(training, 1.0, delta);
    assert!(z.abs() < 4.0, "{z}");
    let broken = Training { noise_multiplier: 0.83, ..training };
    let z = z_of_simulation(broken, 1.0, delta);
    assert!(z.abs() > 4.0, "{z}");
}

/// z of simulated epochs' (1 − e^{ε − L})₊ against δ, at the ε that is accounted for δ.
fn z_of_bins(training: Training, sigma: f64, delta: f64) -> f64 {
    let bound = (Kind::Upper, Directions::Remove, 1e-3);
    let epsilon = account(&BallsInBins, training, Given::Delta(delta), bound).epsilon;
    let mut draws = Draws::new(9);
    let excess: Vec<f64> = (0..60_000)
        .map(|_| {
            let loss = (0..training.epochs)
                .map(|_| {
                    let sum = (0..training.steps_per_epoch)
                        .map(|t| {
                            let mean = if t == 0 { 1.0 } else { 0.0 };
                            let x = mean + sigma * draws.normal();
                            math::exp((x - 0.5) / (sigma * sigma))
                        })
                        .sum::<f64>();
                    math::ln(sum / training.steps_per_epoch as f64)
                })
                .sum::<f64>();
            (-math::exp_m1(epsilon - loss)).max(0.0)
        })
        .collect();
    z_of_mean(&excess, delta)
}

#[test]
fn balls_in_bins_match_simulated_epochs() {
    let training = run(0.9, 6, 3);
    let z = z_of_bins(training, 0.9, 0.05);
    assert!(z.abs() < 4.0, "{z}");
    let z = z_of_bins(training, 0.93, 0.05);
    assert!(z.abs() > 4.0, "{z}");
}

#[test]
fn balls_in_bins_deltas_invert_epsilons() {
    for (noise_multiplier, steps_per_epoch, epochs, delta) in
        [(0.6, 20, 1, 1e-5), (1.0, 50, 1, 1e-3), (1.5, 5, 4, 1e-6)]
    {
        let training = run(noise_multiplier, steps_per_epoch, epochs);
        let less = Training { noise_multiplier: 0.98 * noise_multiplier, ..training };
        for directions in [Directions::Remove, Directions::Add, Directions::Both] {
            let epsilon_at = |kind| {
                let given = Given::Delta(delta);
                account(&BallsInBins, training, given, (kind, directions, 1e-2)).epsilon
            };
            let delta_at = |training, epsilon, kind| {
                let given = Given::Epsilon(epsilon);
                account(&BallsInBins, training, given, (kind, directions, 0.05)).delta
            };
            let upper = delta_at(training, epsilon_at(Kind::Lower), Kind::Upper);
            assert!(upper >= delta, "{training:?} {directions:?}: {upper:e}");
            let epsilon = epsilon_at(Kind::Upper);
            let lower = delta_at(training, epsilon, Kind::Lower);
            assert!(
                lower <= delta && lower > 0.8 * delta,
                "{training:?} {directions:?}: {lower:e}"
            );
            let broken = delta_at(less, epsilon, Kind::Lower);
            assert!(broken > delta, "{training:?} {directions:?}: {broken:e}");
        }
    }
}

#[test]
fn calibrated_balls_in_bins_reach_the_target() {
    let target = PrivacyTarget { epsilon: 1.5, delta: 1e-5, error: Some(0.02) };
    let noise = calibrated(&BallsInBins, Parameter::Noise, target, run(1.0, 20, 2));
    let epsilon_of = |noise_multiplier: f64, epochs: u64| {
        let (training, bound) =
            (run(noise_multiplier, 20, epochs), (Kind::Lower, Directions::Both, 0.005));
        account(&BallsInBins, training, Given::Delta(1e-5), bound).epsilon
    };
    assert!(noise.epsilon <= 1.5 && noise.epsilon > 1.48, "{noise:?}");
    let (here, less) = (epsilon_of(noise.value, 2), epsilon_of(0.98 * noise.value, 2));
    assert!(here <= 1.5 && less > 1.5, "{noise:?}: {here} {less}");
    let epochs = calibrated(&BallsInBins, Parameter::Epochs, target, run(noise.value, 20, 1));
    assert!(epochs.value == 2.0 && epsilon_of(noise.value, 3) > 1.5, "{epochs:?}");
    assert!(calibrate(&BallsInBins, Parameter::Epochs, &target, &run(0.3, 20, 1)).is_err());
}
