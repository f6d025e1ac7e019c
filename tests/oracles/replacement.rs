//! Replacement of a record, against pairs composed by another program and by quadrature.

use dpscope_core::accounting::{
    Accountant, Deterministic, Directions, Given, Kind, Phase, Poisson, PoissonReplace, Query,
    Training, account, account_phases,
};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::BatchSampler;
use serde_json::Value;

use crate::quadrature::{ERROR, Pair, normal};

const GOLDEN: &str = include_str!("replacement/values.json");

/// A run, δ, and values of ε that the other program rounds down and up.
struct Case {
    training: Training,
    delta: f64,
    exact: [f64; 2],
}

fn cases() -> Vec<Case> {
    let document: Value = serde_json::from_str(GOLDEN).expect("golden file is json");
    let case = |case: &Value| {
        let number = |name: &str| case[name].as_f64().expect("a number");
        let training = Training {
            noise_multiplier: number("noise_multiplier"),
            steps_per_epoch: case["steps"].as_u64().expect("a count"),
            epochs: 1,
            sampling_rate: Some(number("sampling_rate")),
        };
        let exact = [number("lower"), number("upper")];
        let accountant = number("accountant");
        assert!(exact[0] - 1e-6 <= accountant && accountant <= exact[1] + 1e-4, "{case}");
        Case { training, delta: number("delta"), exact }
    };
    document["cases"].as_array().expect("cases").iter().map(case).collect()
}

fn values(accountant: &dyn Accountant, training: Training, delta: f64) -> [f64; 2] {
    [Kind::Lower, Kind::Upper].map(|kind| {
        let query = Query { kind, ..Query::upper(training, Given::Delta(delta)) };
        accountant.account(&query).expect("in the domain").epsilon
    })
}

/// Half a unit of the last digit of the other program's values.
const HALF_UNIT: f64 = 5e-11;

/// Whether an interval contains the exact value, and little more.
fn brackets([lower, upper]: [f64; 2], [least, most]: [f64; 2]) -> bool {
    let (least, most) = (least - HALF_UNIT, most + HALF_UNIT);
    lower <= most && least <= upper && lower >= least - 2e-3 && upper <= most + 2e-3
}

#[test]
fn poisson_values_bracket_quadrature() {
    for Case { training, delta, exact } in cases() {
        let found = values(&PoissonReplace, training, delta);
        assert!(brackets(found, exact), "{training:?}: {found:?} {exact:?}");
        // wrong pairs: distance 1 instead of 2, and a one-sided shift by 2
        let nearer = values(&Poisson, training, delta);
        assert!(!brackets(nearer, exact), "{training:?}: {nearer:?}");
        let halved = 0.5 * training.noise_multiplier;
        let farther = Training { noise_multiplier: halved, ..training };
        let one_sided = values(&Poisson, farther, delta);
        let is_plain = training.sampling_rate == Some(1.0);
        assert_eq!(brackets(one_sided, exact), is_plain, "{training:?}: {one_sided:?}");
        for directions in [Directions::Remove, Directions::Add] {
            let query = Query { directions, ..Query::upper(training, Given::Delta(delta)) };
            let either = PoissonReplace.account(&query).expect("in the domain").epsilon;
            assert!((either - found[1]).abs() < 1e-3, "{training:?}: {either} {found:?}");
        }
    }
}

#[test]
fn poisson_deltas_invert_epsilons() {
    let training = Training {
        noise_multiplier: 1.0,
        steps_per_epoch: 20,
        epochs: 1,
        sampling_rate: Some(0.1),
    };
    let [lower, upper] = values(&PoissonReplace, training, 1e-5);
    let delta = |kind, epsilon| {
        let query = Query { kind, ..Query::upper(training, Given::Epsilon(epsilon)) };
        PoissonReplace.account(&query).expect("in the domain").delta
    };
    assert!(delta(Kind::Lower, upper) <= 1e-5 && delta(Kind::Upper, lower) >= 1e-5);
    assert!(delta(Kind::Upper, upper) > 0.99e-5, "{upper}");
}

#[test]
fn phases_of_replaced_records_bracket_quadrature() {
    for Case { training, delta, exact } in cases() {
        let Training { noise_multiplier, steps_per_epoch: steps, .. } = training;
        let phase = Phase { noise_multiplier, sampling_rate: training.sampling_rate(), steps };
        let nearly =
            Phase { noise_multiplier: noise_multiplier * (1.0 + 1e-12), steps: 1, ..phase };
        let several = [Phase { steps: steps - 1, ..phase }, nearly];
        for phases in [&[phase][..], &several] {
            let of = |adjacency| {
                let found = account_phases(phases, adjacency, delta).expect("in the domain");
                [found.lower.epsilon, found.upper.epsilon]
            };
            let found = of(Adjacency::Replace);
            assert!(brackets(found, exact), "{phases:?}: {found:?} {exact:?}");
            assert!(!brackets(of(Adjacency::AddRemove), exact), "{phases:?}");
        }
    }
}

const DELTA: f64 = 1e-3;
const SIGMA: f64 = 1.2;

/// The larger ε of both directions between two mixtures of means of two outputs.
fn exact(with: &[[f64; 2]], without: &[[f64; 2]]) -> f64 {
    let density = |means: &[[f64; 2]], [x, y]: [f64; 2]| {
        let of = |[a, b]: &[f64; 2]| normal(x, *a, SIGMA) * normal(y, *b, SIGMA);
        means.iter().map(of).sum::<f64>() / means.len() as f64
    };
    let of = |p: &[[f64; 2]], q: &[[f64; 2]]| {
        Pair::new(SIGMA, [-1.0, 1.0], |at| (density(p, at), density(q, at))).epsilon_at(DELTA)
    };
    of(with, without).max(of(without, with))
}

/// A shuffle of two batches of one record each, the other record opposed to the target; for other
/// samplers, the target alone.
#[test]
fn orders_leak_what_their_bounds_say() {
    let opposed = [-1.0, -1.0];
    let either: &[[f64; 2]] = &[[1.0, -1.0], [-1.0, 1.0]];
    let alone: [&[[f64; 2]]; 2] = [&[[1.0, 0.0], [0.0, 1.0]], &[[-1.0, 0.0], [0.0, -1.0]]];
    let both_steps = BatchSampler::RandomAllocation { uses_per_epoch: 2 };
    for (sampler, with, without) in [
        (BatchSampler::Deterministic, &[[1.0, -1.0]][..], &[opposed][..]),
        (BatchSampler::Shuffle, either, &[opposed]),
        (BatchSampler::PersistentShuffle, either, &[opposed]),
        (BatchSampler::BatchThenShuffle, either, &[opposed]),
        (BatchSampler::BallsInBins, alone[0], alone[1]),
        (both_steps, &[[1.0, 1.0]], &[opposed]),
    ] {
        let exact = exact(with, without);
        let rate = if sampler == both_steps { 1.0 } else { 0.5 };
        let training = Training {
            noise_multiplier: SIGMA,
            steps_per_epoch: 2,
            epochs: 1,
            sampling_rate: Some(rate),
        };
        let of = |adjacency, kind| {
            let query = Query { kind, ..Query::upper(training, Given::Delta(DELTA)) };
            let found = account(sampler, adjacency, &query).expect("has an accountant");
            found.expect("in the domain").epsilon
        };
        let [lower, upper] = [Kind::Lower, Kind::Upper].map(|kind| of(Adjacency::Replace, kind));
        assert!(lower <= exact + ERROR && exact <= upper + ERROR, "{sampler}: {lower} {exact}");
        assert!(lower > 0.7 * exact && upper < 1.6 * exact, "{sampler}: {lower} {exact} {upper}");
        // a target that moves the sum by only 1
        assert!(of(Adjacency::ZeroOut, Kind::Upper) < exact - ERROR, "{sampler}: {exact}");
    }
}

#[test]
fn a_full_batch_is_the_gaussian_mechanism_at_distance_two() {
    let training =
        Training { noise_multiplier: 2.0, steps_per_epoch: 1, epochs: 1, sampling_rate: None };
    let samplers = [
        BatchSampler::Poisson,
        BatchSampler::FixedSize,
        BatchSampler::Deterministic,
        BatchSampler::Shuffle,
        BatchSampler::PersistentShuffle,
        BatchSampler::BatchThenShuffle,
        BatchSampler::BallsInBins,
        BatchSampler::RandomAllocation { uses_per_epoch: 1 },
    ];
    for sampler in samplers {
        for kind in [Kind::Lower, Kind::Upper] {
            let query = Query { kind, ..Query::upper(training, Given::Delta(1e-5)) };
            let found = account(sampler, Adjacency::Replace, &query).expect("has an accountant");
            let epsilon = found.expect("in the domain").epsilon;
            assert!((epsilon - 4.377_178_1).abs() < 1e-6, "{sampler} {kind:?}: {epsilon}");
        }
    }
    let query = Query::upper(training, Given::Delta(1e-5));
    let nearer = Deterministic.account(&query).expect("in the domain").epsilon;
    assert!(nearer < 2.0, "{nearer}");
}
