//! Shuffled batches: closed forms, slices and the exact pair against other codes and methods.

use std::path::Path;

use dpscope_core::accounting::pair::{ExactPair, PairMethod, PairValues};
use dpscope_core::accounting::{
    Accountant, Accounted, Directions, Given, Method, Query, Shuffle, ShuffleMethod, Training,
};
use dpscope_core::adjacency::Scope;
use dpscope_core::{gdp, math};
use dpscope_engine::Unattended;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Backend, pair as engine};
use dpscope_tests::golden::{Answer, Finding, Library, Outcome, Run, evaluate, only_group};
use dpscope_tests::{Draws, z_of_mean};
use proptest::prelude::*;
use serde_json::Value;

const GOLDEN: &str = include_str!("data/accounting.json");

/// One case of a group, read into what a shuffled run needs.
pub(crate) struct Golden {
    pub(crate) id: String,
    pub(crate) run: Training,
    pub(crate) delta: f64,
    pub(crate) interval: (f64, f64),
    case: Value,
}

pub(crate) fn golden(group: &str) -> Vec<Golden> {
    let all: Value = serde_json::from_str(GOLDEN).expect("golden json");
    let cases = all["cases"].as_array().expect("cases").iter();
    let found: Vec<Golden> = cases
        .filter(|case| case["group"] == group)
        .map(|case| {
            let number = |name: &str| case["settings"][name].as_f64().expect("number");
            let interval = |at: usize| case["interval"][at].as_f64().expect("interval");
            Golden {
                id: case["id"].as_str().expect("id").to_string(),
                run: run(
                    number("sigma"),
                    number("steps_per_epoch") as u64,
                    number("epochs") as u64,
                ),
                delta: number("delta"),
                interval: (interval(0), interval(1)),
                case: case.clone(),
            }
        })
        .collect();
    assert!(!found.is_empty(), "{group}");
    found
}

fn run(noise_multiplier: f64, steps_per_epoch: u64, epochs: u64) -> Training {
    Training { noise_multiplier, steps_per_epoch, epochs, sampling_rate: None }
}

pub(crate) fn normals(seed: u64) -> impl FnMut(&mut [f64]) {
    let mut draws = Draws::new(seed);
    move |out: &mut [f64]| out.iter_mut().for_each(|z| *z = draws.normal())
}

pub(crate) fn pair(method: PairMethod, draws: usize) -> ExactPair {
    ExactPair { method, draws, significance: 0.025 }
}

/// The pair of one epoch.
fn one_epoch(run: &Training, given: Given, draws: usize, seed: u64) -> PairValues {
    pair(PairMethod::OneEpoch, draws).evaluate(run, given, &mut normals(seed)).expect("valid")
}

/// From below.
pub(crate) fn shuffled(run: &Training, given: Given, method: ShuffleMethod) -> Accounted {
    Shuffle(method).account(&Query::lower(*run, given)).expect("valid")
}

/// From above.
fn pair_upper(run: &Training, given: Given) -> Accounted {
    Shuffle(ShuffleMethod::MaxSlice).account(&Query::upper(*run, given)).expect("valid")
}

/// An estimate's value of ε or δ, and its standard error.
pub(crate) fn with_error(estimate: &Accounted, given: Given) -> (f64, f64) {
    (estimate.value(given), estimate.standard_error.expect("an estimate"))
}

/// A library with another bound of shuffled batches.
struct Bound<F>(F);

impl<F: Fn(&Training, f64) -> f64> Library for Bound<F> {
    fn shuffle_max_slice(&self, of: Run) -> Answer {
        let training = run(of.noise_multiplier, of.steps_per_epoch, of.epochs);
        Ok((self.0)(&training, of.delta))
    }
}

/// Cases of a group whose interval the value misses.
fn missed(group: &str, value: impl Fn(&Training, f64) -> f64) -> Vec<String> {
    let cases = only_group(GOLDEN, "accounting.json", group).expect("a group");
    let findings = evaluate(&cases, "accounting.json", Path::new("."), &Bound(value));
    let findings = findings.expect("the file is well-formed");
    let is_failed = |found: &&Finding| matches!(found.outcome, Outcome::Failed(_));
    findings.iter().filter(is_failed).map(ToString::to_string).collect()
}

fn max_slice(run: &Training, delta: f64) -> f64 {
    shuffled(run, Given::Delta(delta), ShuffleMethod::MaxSlice).epsilon
}

pub(crate) fn best(run: &Training, delta: f64) -> f64 {
    shuffled(run, Given::Delta(delta), ShuffleMethod::Best).epsilon
}

fn deterministic(run: &Training, delta: f64) -> f64 {
    gdp::gdp_epsilon((run.epochs as f64).sqrt() / run.noise_multiplier, delta).expect("valid")
}

#[test]
fn one_epoch_lower_bounds() {
    let missed_by_ours = missed("b_shuffle_lower_single", max_slice);
    assert!(missed_by_ours.is_empty(), "{missed_by_ours:#?}");
    for golden in golden("b_shuffle_lower_single") {
        let seen = max_slice(&golden.run, golden.delta);
        let back = shuffled(&golden.run, Given::Epsilon(seen), ShuffleMethod::MaxSlice).delta;
        assert!((back / golden.delta - 1.0).abs() < 1e-9, "{}: {back}", golden.id);
    }
}

/// δ at an ε less the wanted one, and what both stated errors allow, as changes of ε.
fn round_trip(
    epsilon: f64,
    error: f64,
    delta: f64,
    delta_at: impl Fn(f64) -> Accounted,
) -> (f64, f64) {
    let Accounted { delta: back, numeric_error, .. } = delta_at(epsilon);
    let width = 1e-4 * epsilon;
    let slope = (delta_at(epsilon - width).delta - delta_at(epsilon + width).delta) / (2.0 * width);
    let allowed = 2.0 * error + (2.0 * numeric_error + 1e-9 * delta) / slope;
    ((back - delta) / slope, allowed)
}

#[test]
fn many_epochs_lower_bounds() {
    let missed_by_ours = missed("b_shuffle_lower_multi", max_slice);
    assert!(missed_by_ours.is_empty(), "{missed_by_ours:#?}");
    for golden in golden("b_shuffle_lower_multi") {
        let bound = shuffled(&golden.run, Given::Delta(golden.delta), ShuffleMethod::MaxSlice);
        let (epsilon, error) = (bound.epsilon, bound.numeric_error);
        let there_and_back = |run: Training| {
            round_trip(epsilon, error, golden.delta, |at| {
                shuffled(&run, Given::Epsilon(at), ShuffleMethod::MaxSlice)
            })
        };
        let (change, allowed) = there_and_back(golden.run);
        assert!(change.abs() <= allowed, "{}: {change:e} {allowed:e}", golden.id);
        // ε grows by a larger share than the noise shrinks
        let (change, _) = there_and_back(with_less_noise(&golden.run, 2.0 * allowed / epsilon));
        assert!(change > allowed, "{}: {change:e} {allowed:e}", golden.id);
        assert!(error < 1e-4, "{}", golden.id);
    }
}

fn with_less_noise(run: &Training, share: f64) -> Training {
    Training { noise_multiplier: (1.0 - share) * run.noise_multiplier, ..*run }
}

#[test]
fn broken_bounds_miss_the_golden_intervals() {
    for group in ["b_shuffle_lower_single", "b_shuffle_lower_multi"] {
        let cases = golden(group);
        for golden in &cases {
            // ε grows by a larger share than the noise shrinks: twice the interval leaves it
            let (low, high) = golden.interval;
            let less = with_less_noise(&golden.run, 2.0 * (high - low) / low);
            assert!(max_slice(&less, golden.delta) > high, "{}", golden.id);
        }
        let shorter = |run: &Training, delta: f64| {
            let steps_per_epoch = run.steps_per_epoch - 1;
            max_slice(&Training { steps_per_epoch, ..*run }, delta)
        };
        assert!(missed(group, shorter).len() > cases.len() / 3);
    }
}

#[test]
fn sums_are_gaussian() {
    for (run, expected) in [(run(5.0, 100, 1), 0.0586), (run(20.0, 10_000, 1), 8.3e-4)] {
        let bound = shuffled(&run, Given::Delta(1e-5), ShuffleMethod::Sum);
        assert!((bound.epsilon / expected - 1.0).abs() < 0.01, "{}", bound.epsilon);
        assert!(bound.epsilon > max_slice(&run, 1e-5));
        assert_eq!((bound.method, bound.direction), (Method::Sum, Directions::Both));
        let back = shuffled(&run, Given::Epsilon(bound.epsilon), ShuffleMethod::Sum).delta;
        assert!((back / 1e-5 - 1.0).abs() < 1e-9);
    }
    // the exact pair is above, but not by much
    let given = Given::Delta(1e-5);
    let pair = one_epoch(&run(5.0, 100, 1), given, 20_000, 3).estimate;
    let (value, error) = with_error(&pair, given);
    assert!((value - 0.0653).abs() < 1e-4 + 4.0 * error, "{pair:?}");
}

#[test]
fn upper_values_bracket_the_pair() {
    for group in ["b_shuffle_lower_single", "b_shuffle_lower_multi"] {
        for golden in golden(group) {
            let upper = pair_upper(&golden.run, Given::Delta(golden.delta));
            let nearest = deterministic(&golden.run, golden.delta);
            let (epsilon, error) = (upper.epsilon, upper.numeric_error);
            assert!(epsilon >= golden.interval.0, "{}: {epsilon}", golden.id);
            assert!(epsilon <= nearest * (1.0 + 1e-11), "{}", golden.id);
            let of_mechanism = upper.scope == Scope::Mechanism;
            assert_eq!(of_mechanism, upper.method == Method::Analytic);
            let (change, allowed) = round_trip(epsilon, error, golden.delta, |at| {
                pair_upper(&golden.run, Given::Epsilon(at))
            });
            assert!(change.abs() <= allowed, "{}: {change:e} {allowed:e}", golden.id);
        }
    }
}

/// Another code's upper value of the pair, on its finest grid; that rounds up.
fn their_upper(golden: &Golden) -> f64 {
    let (key, step) = match golden.run.epochs {
        1 => ("slice_pld_upper_for_this_pair", "0.0001"),
        _ => ("upper_for_this_pair", "2e-05"),
    };
    golden.case[key][step].as_f64().expect("number")
}

#[test]
fn upper_values_are_not_above_those_of_another_code() {
    for group in ["b_shuffle_lower_single", "b_shuffle_lower_multi"] {
        for golden in golden(group) {
            let theirs = their_upper(&golden);
            let seen = |run: &Training| pair_upper(run, Given::Delta(golden.delta)).epsilon;
            let ours = seen(&golden.run);
            assert!(ours <= theirs, "{}: {ours} {theirs}", golden.id);
            // ε grows by a larger share than 1/σ does
            let noise_multiplier = golden.run.noise_multiplier * ours / (theirs * 1.0001);
            let less = Training { noise_multiplier, ..golden.run };
            assert!(seen(&less) > theirs, "{} is not seen", golden.id);
            // very tight where the noise is small and an epoch short
            let gap = ours / best(&golden.run, golden.delta) - 1.0;
            let is_small = golden.run.noise_multiplier <= 0.5 && golden.run.epochs == 1;
            assert!(!is_small || gap < 1e-4, "{}: {gap:e}", golden.id);
        }
    }
}

#[test]
fn persistent_shuffle_is_one_epoch_of_less_noise() {
    for golden in golden("b_shuffle_lower_multi") {
        let persistent = best(&golden.run.persistent(), golden.delta);
        let theirs = golden.case["same_permutation_every_epoch"].as_f64().expect("number");
        // theirs is rounded down on a grid of 1e-2 to 1e-3
        assert!(persistent >= theirs - 1e-9 && persistent < theirs * 1.01, "{}", golden.id);
        assert!(persistent > best(&golden.run, golden.delta), "{}", golden.id);
    }
}

/// How many standard errors an estimate lies outside of an interval.
pub(crate) fn outside(value: f64, standard_error: f64, (low, high): (f64, f64)) -> f64 {
    (low - value).max(value - high).max(0.0) / standard_error.max(1e-9)
}

#[test]
fn one_epoch_of_the_exact_pair() {
    for golden in golden("f_exact_pair_single") {
        let draws = (4_000_000 / golden.run.steps_per_epoch).clamp(1_000, 40_000) as usize;
        let given = Given::Delta(golden.delta);
        let seen = one_epoch(&golden.run, given, draws, 5);
        let (value, error) = with_error(&seen.estimate, given);
        assert!(outside(value, error, golden.interval) < 4.0, "{}: {value} {error}", golden.id);
        assert!(seen.lower.epsilon <= golden.interval.1, "{}: {:?}", golden.id, seen.lower);
        assert!(seen.lower.epsilon >= best(&golden.run, golden.delta), "{}", golden.id);
        let weight = seen.mean_weight.expect("drawn");
        assert!((weight.value - 1.0).abs() < 4.5 * weight.standard_error, "{}", golden.id);
        assert_eq!(seen.estimate.scope, Scope::Pair);
    }
}

#[test]
fn one_epoch_drawn_by_the_engine() {
    let backend = Backend::Cpu(CpuBackend::new(0).expect("threads"));
    for golden in golden("f_exact_pair_single") {
        let draws = (40_000_000 / golden.run.steps_per_epoch).clamp(1_000, 400_000) as usize;
        let (run, delta) = (&golden.run, golden.delta);
        let (exact, given) = (pair(PairMethod::OneEpoch, draws), Given::Delta(delta));
        let seen = engine::evaluate(&exact, run, given, 5, &backend, &Unattended).expect("valid");
        let (value, error) = with_error(&seen.estimate, given);
        assert!(outside(value, error, golden.interval) < 4.0, "{}: {value} {error}", golden.id);
        assert!(seen.lower.epsilon <= golden.interval.1, "{}: {:?}", golden.id, seen.lower);
        let closed = best(run, delta);
        assert!(seen.lower.epsilon >= closed, "{}", golden.id);
        // little is lost to the error of f32 and to sampling
        let lost = golden.interval.0 - seen.lower.epsilon;
        assert!(lost < 4e-3, "{}: {lost}", golden.id);
    }
}

#[test]
fn a_limit_beats_counting_and_the_closed_form() {
    let run = run(1.0, 100, 1);
    let given = Given::Delta(1e-5);
    let seen = one_epoch(&run, given, 100_000, 6);
    let lower = seen.lower;
    assert!(lower.epsilon > 4.064 && lower.significance == Some(0.025), "{lower:?}");
    assert!(best(&run, 1e-5) < 4.0632);
    assert!(lower.epsilon < 4.0666 && with_error(&seen.estimate, given).1 < 3e-4);
}

#[test]
fn less_noise_is_rejected() {
    let golden = &golden("f_exact_pair_single")[7];
    let less = Training { noise_multiplier: golden.run.noise_multiplier * 0.995, ..golden.run };
    let given = Given::Delta(golden.delta);
    let seen = one_epoch(&less, given, 20_000, 5).estimate;
    let (value, error) = with_error(&seen, given);
    assert!(outside(value, error, golden.interval) > 4.0, "{seen:?}");
}

/// δ of the pair of two steps, by the trapezium rule in the plane.
fn two_steps(noise_multiplier: f64, epsilon: f64) -> f64 {
    let variance = noise_multiplier * noise_multiplier;
    let points = 1_600;
    let step = 20.0 * noise_multiplier / f64::from(points);
    let axis = |mean: f64| {
        (0..points).map(move |i| mean + step * (f64::from(i) + 0.5 - 0.5 * f64::from(points)))
    };
    let others: Vec<(f64, f64, f64)> = axis(0.0)
        .map(|x| {
            (
                math::exp(x / variance),
                math::exp(2.0 * x / variance),
                math::exp(-x * x / 2.0 / variance),
            )
        })
        .collect();
    let constant = math::exp(epsilon + 1.5 / variance);
    let mut sum = 0.0;
    for x in axis(2.0) {
        let (one, two) = (math::exp(x / variance), math::exp(2.0 * x / variance));
        let density = math::exp(-(x - 2.0) * (x - 2.0) / 2.0 / variance);
        for (other_one, other_two, other_density) in &others {
            let gain = 1.0 - constant * (one + other_one) / (two + other_two);
            sum += gain.max(0.0) * density * other_density;
        }
    }
    sum * step * step / (std::f64::consts::TAU * variance)
}

/// (1 − e^{ε−L})₊ of one epoch drawn from P.
fn plain_value(run: &Training, epsilon: f64, draws: &mut Draws) -> f64 {
    let variance = run.noise_multiplier * run.noise_multiplier;
    let (mut one, mut two) = (0.0, 0.0);
    for step in 0..run.steps_per_epoch {
        let mean = if step == 0 { 2.0 } else { 0.0 };
        let x = mean + run.noise_multiplier * draws.normal();
        one += math::exp(x / variance);
        two += math::exp(2.0 * x / variance);
    }
    (1.0 - math::exp(epsilon + 1.5 / variance) * one / two).max(0.0)
}

#[test]
fn delta_by_quadrature_and_simulation() {
    for (noise_multiplier, epsilon) in [(0.5, 8.0), (1.0, 0.5), (1.0, 3.0), (3.0, 0.2), (3.0, 1.0)]
    {
        let exact = gdp::gdp_delta(1.0 / noise_multiplier, epsilon).expect("valid");
        let given = Given::Epsilon(epsilon);
        let one = one_epoch(&run(noise_multiplier, 1, 1), given, 1_000, 1);
        assert!((one.estimate.delta / exact - 1.0).abs() < 1e-12);

        let exact = two_steps(noise_multiplier, epsilon);
        let run = run(noise_multiplier, 2, 1);
        let two = one_epoch(&run, given, 40_000, 2);
        let (seen, error) = with_error(&two.estimate, given);
        assert!((seen - exact).abs() < 4.0 * error + 3e-4 * exact, "{run:?}: {seen:e} {exact:e}");
        assert!(two.lower.delta < exact * (1.0 + 3e-4), "{run:?}: {:?}", two.lower);
        assert!(two.lower.delta > 0.9 * exact, "{run:?}: {:?} {exact:e}", two.lower);
    }
    let mut draws = Draws::new(8);
    for (run, epsilon) in [(run(1.0, 30, 1), 0.8), (run(2.0, 8, 1), 0.3), (run(0.7, 60, 1), 2.0)] {
        let values: Vec<f64> =
            (0..40_000).map(|_| plain_value(&run, epsilon, &mut draws)).collect();
        let seen = one_epoch(&run, Given::Epsilon(epsilon), 40_000, 2);
        let z = z_of_mean(&values, seen.estimate.delta);
        assert!(z.abs() < 4.5, "{run:?}: {z}");
        // twice the distance to a wrong δ that plain draws measure
        assert!(z_of_mean(&values, 1.1 * seen.estimate.delta).abs() > 4.5, "{run:?}");
    }
}

#[test]
fn limits_of_delta_cover() {
    let (run, epsilon) = (run(1.0, 2, 1), 2.0);
    let exact = two_steps(1.0, epsilon) * (1.0 + 2e-4);
    let above = |value: fn(&PairValues) -> f64| {
        let seen = (0..40).map(|seed| {
            let few = ExactPair { significance: 0.05, ..pair(PairMethod::OneEpoch, 1_000) };
            few.evaluate(&run, Given::Epsilon(epsilon), &mut normals(100 + seed)).expect("valid")
        });
        seen.filter(|delta| value(delta) > exact).count()
    };
    assert!(above(|delta| delta.lower.delta) <= 5);
    // an estimate taken for a limit
    assert!(above(|delta| delta.estimate.delta) > 8);
}

/// δ by importance sampling as the textbook has it, with a choice of mistakes: mean, standard error
/// and the largest weight.
fn textbook(run: &Training, epsilon: f64, cut: f64, with_other: bool, mixed: bool) -> [f64; 3] {
    let s = run.noise_multiplier;
    let (a, b) = (cut - 2.0, cut);
    let steps = run.steps_per_epoch as usize;
    let other = if with_other { 0.25 } else { 0.0 };
    let shares = [0.1, 0.9 - other, other];
    let mut draws = Draws::new(17);
    let (mut values, mut most) = (Vec::new(), 0.0_f64);
    for _ in 0..60_000 {
        let u = draws.uniform();
        let picked = if u < shares[0] { 0 } else { usize::from(u >= shares[0] + shares[1]) + 1 };
        let mut x: Vec<f64> = (0..steps).map(|_| s * draws.normal()).collect();
        x[0] += 2.0 + if picked == 1 { a } else { 0.0 };
        x[1] += if picked == 2 { b } else { 0.0 };
        let tilt = |x: f64, shift: f64| math::exp(shift * (x - 0.5 * shift) / (s * s));
        let others = x[1..].iter().map(|x| tilt(*x, b)).sum::<f64>() / (steps - 1) as f64;
        let ratios = [1.0, tilt(x[0] - 2.0, a), others];
        let all: f64 = ratios.iter().zip(shares).map(|(ratio, share)| ratio * share).sum();
        let weight = 1.0 / if mixed { all } else { ratios[picked] };
        let sum = |power: f64| x.iter().map(|x| math::exp(power * x / (s * s))).sum::<f64>();
        let gain = 1.0 - math::exp(epsilon + 1.5 / (s * s)) * sum(1.0) / sum(2.0);
        values.push(weight * gain.max(0.0));
        most = most.max(weight);
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    [mean, (variance / n).sqrt(), most]
}

#[test]
fn broken_samplers_are_rejected() {
    let (run, epsilon, cut) = (run(1.5, 100, 1), 1.464, 5.9);
    let reference = one_epoch(&run, Given::Epsilon(epsilon), 40_000, 9).estimate.delta;
    let z = |[mean, error, _]: [f64; 3]| (mean - reference) / error;
    let right = textbook(&run, epsilon, cut, true, true);
    assert!(z(right).abs() < 4.0 && right[2] <= 10.0, "{right:?} {reference:e}");
    // the target's slot alone misses that another slot is huge
    let blind = textbook(&run, epsilon, cut, false, true);
    assert!(z(blind) < -4.0, "{blind:?} {reference:e}");
    // weights of the picked component alone have no limit
    assert!(textbook(&run, epsilon, cut, true, false)[2] > 10.0);
    // P and Q drawn apart: a histogram of each shows leakage that cannot be
    let upper = pair_upper(&run, Given::Epsilon(4.5)).delta;
    let apart = drawn_apart(&run, 4.5);
    assert!(upper < 1e-7 && apart > 1e-5, "{apart:e} {upper:e}");
}

/// Σ over bins of (p − e^ε q)₊, the shares of bins of L counted in worlds that are drawn apart.
fn drawn_apart(run: &Training, epsilon: f64) -> f64 {
    let mut draws = Draws::new(4);
    let mut bins = vec![(0.0_f64, 0.0_f64); 400];
    let runs = 20_000;
    let variance = run.noise_multiplier * run.noise_multiplier;
    for world in 0..2 {
        for _ in 0..runs {
            let (mut one, mut two) = (0.0, 0.0);
            for step in 0..run.steps_per_epoch {
                let mean = if step == 0 { 2.0 - f64::from(world) } else { 0.0 };
                let x = mean + run.noise_multiplier * draws.normal();
                one += math::exp(x / variance);
                two += math::exp(2.0 * x / variance);
            }
            let loss = math::ln(two / one) - 1.5 / variance;
            let bin = ((loss + 4.0) * 50.0).clamp(0.0, 399.0) as usize;
            let count = if world == 0 { &mut bins[bin].0 } else { &mut bins[bin].1 };
            *count += 1.0 / f64::from(runs);
        }
    }
    bins.iter().map(|(p, q)| (p - math::exp(epsilon) * q).max(0.0)).sum()
}

/// Bounds of one run that exceed the exact pair of another by 4 standard errors, or its
/// deterministic bound.
fn beyond(bounded: &Training, run: &Training, delta: f64) -> usize {
    let all = deterministic(run, delta) * (1.0 + 1e-11);
    let given = Given::Delta(delta);
    let (value, error) = with_error(&one_epoch(run, given, 2_000, 13).estimate, given);
    let high = value + 4.0 * error + 1e-9;
    let methods = [ShuffleMethod::MaxSlice, ShuffleMethod::Sum, ShuffleMethod::Best];
    let values = methods.map(|method| shuffled(bounded, given, method).epsilon);
    values.into_iter().filter(|value| !(*value <= high && *value <= all)).count()
}

#[test]
fn bounds_are_ordered_on_a_grid() {
    let mut seen = 0;
    for noise_multiplier in [0.5, 0.8, 1.3, 2.5, 6.0] {
        for steps in [1, 2, 10, 100] {
            for delta in [1e-8, 1e-5, 1e-2] {
                let run = run(noise_multiplier, steps, 1);
                assert_eq!(beyond(&run, &run, delta), 0, "{run:?} {delta}");
                seen += beyond(&with_less_noise(&run, 0.02), &run, delta);
                let epochs = Training { epochs: 7, ..run };
                let value = best(&epochs, delta);
                assert!(value <= deterministic(&epochs, delta) * (1.0 + 1e-11), "{run:?} {delta}");
                assert!(value >= best(&run, delta) - 1e-4, "{run:?} {delta}");
            }
        }
    }
    // bounds of a run with less noise exceed
    assert!(seen > 40, "{seen}");
}

/// The distance of a trade-off curve from the diagonal, at least, by δ at ε = 0.
fn separation(noise_multiplier: f64, steps: u64) -> f64 {
    let run = run(noise_multiplier, steps, 1);
    let delta = shuffled(&run, Given::Epsilon(0.0), ShuffleMethod::Best).delta;
    delta / std::f64::consts::SQRT_2
}

/// "Fundamental Limitations of Favorable Privacy-Utility Guarantees for DP-SGD" (2026), arXiv
/// 2601.10237.
#[test]
fn a_published_separation_is_implied() {
    for steps in [2, 10, 100, 1_000, 100_000, 1_000_000] {
        let ln = math::ln(steps as f64);
        let published = (1.0 - 1.0 / (4.0 * std::f64::consts::PI * ln).sqrt()) / 8.0;
        let noise_multiplier = 1.0 / (2.0 * ln).sqrt();
        assert!(separation(noise_multiplier, steps) > published, "{steps}");
        // with so much noise it does not hold
        assert!(separation(20.0 * noise_multiplier, steps) < published, "{steps}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn bounds_are_monotone(
        noise in 0.3_f64..8.0,
        steps in 1_u64..5_000,
        epochs in 1_u64..30,
        exponent in 2.0_f64..12.0,
    ) {
        let delta = math::exp(-exponent * std::f64::consts::LN_10);
        let value = best(&run(noise, steps, epochs), delta);
        let allowed = 1e-9 + 1e-4 * f64::from(u8::from(epochs > 1));
        prop_assert!(best(&run(1.1 * noise, steps, epochs), delta) <= value + allowed);
        prop_assert!(best(&run(noise, steps + 1 + steps / 8, epochs), delta) <= value + allowed);
        prop_assert!(best(&run(noise, steps, epochs + 1), delta) >= value - 1e-4);
        prop_assert!(best(&run(noise, steps, epochs), 0.5 * delta) >= value - allowed);
    }
}
