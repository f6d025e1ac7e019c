//! Batches of fixed size: against data sets that are enumerated, by quadrature.

use dpscope_core::accounting::{Accountant, FixedSize, Given, Kind, Poisson, Query, Training};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};

use crate::quadrature::{ERROR, Pair, normal};

type Gradient = [f64; 2];

const DELTA: f64 = 1e-3;
const SIGMA: f64 = 0.9;
/// Records with the target, and records of a batch.
const RECORDS: usize = 4;
const BATCH: u32 = 2;
const TARGET: Gradient = [1.0, 0.0];
const NONE: Gradient = [0.0, 0.0];

fn run(noise_multiplier: f64, steps: u64) -> Training {
    let sampling_rate = Some(f64::from(BATCH) / RECORDS as f64);
    Training { noise_multiplier, steps_per_epoch: steps, epochs: 1, sampling_rate }
}

/// Lower and upper ε.
fn bounds(accountant: &dyn Accountant, training: Training) -> [f64; 2] {
    [Kind::Lower, Kind::Upper].map(|kind| {
        let error = Some(1e-4);
        let query = Query { kind, error, ..Query::upper(training, Given::Delta(DELTA)) };
        accountant.account(&query).expect("in the domain").epsilon
    })
}

/// The sums of all batches of these records.
fn sums(records: &[Gradient]) -> Vec<Gradient> {
    let is_batch = |members: &usize| members.count_ones() == BATCH;
    let sum = |members: usize| {
        let of = |axis: usize| {
            let drawn = records.iter().enumerate().filter(|(at, _)| members >> at & 1 == 1);
            drawn.map(|(_, gradient)| gradient[axis]).sum()
        };
        [of(0), of(1)]
    };
    (0..1 << records.len()).filter(is_batch).map(sum).collect()
}

/// The density of a sum with noise.
fn density([x, y]: Gradient, sums: &[Gradient]) -> f64 {
    let of = |[a, b]: &Gradient| normal(x, *a, SIGMA) * normal(y, *b, SIGMA);
    sums.iter().map(of).sum::<f64>() / sums.len() as f64
}

/// The larger ε of both directions.
fn either(p: &dyn Fn(Gradient) -> f64, q: &dyn Fn(Gradient) -> f64) -> f64 {
    let reach = f64::from(BATCH);
    let of = |p: &dyn Fn(Gradient) -> f64, q: &dyn Fn(Gradient) -> f64| {
        Pair::new(SIGMA, [-reach, reach], |at| (p(at), q(at))).epsilon_at(DELTA)
    };
    of(p, q).max(of(q, p))
}

/// ε of one step with these other gradients.
fn of_data(others: &[Gradient], adjacency: Adjacency) -> f64 {
    let with = sums(&[others, &[TARGET]].concat());
    let without = match adjacency {
        Adjacency::ZeroOut => sums(&[others, &[NONE]].concat()),
        Adjacency::Replace => sums(&[others, &[[-1.0, 0.0]]].concat()),
        Adjacency::AddRemove => sums(others),
    };
    either(&|at| density(at, &with), &|at| density(at, &without))
}

/// Others that are opposed, equal, absent, orthogonal, and mixed.
const DATA: [[Gradient; RECORDS - 1]; 5] = [
    [[-1.0, 0.0]; 3],
    [TARGET; 3],
    [NONE; 3],
    [[0.0, 1.0], [0.0, -1.0], [-1.0, 0.0]],
    [[-0.6, 0.8], [-0.6, 0.8], [0.3, -0.2]],
];

#[test]
fn no_data_set_leaks_more_than_the_pair() {
    for adjacency in [Adjacency::ZeroOut, Adjacency::Replace, Adjacency::AddRemove] {
        let all = DATA.map(|others| of_data(&others, adjacency));
        let worst = all.into_iter().fold(0.0, f64::max);
        let of = |sigma| bounds(&FixedSize { adjacency }, run(sigma, 1));
        let [lower, upper] = of(SIGMA);
        // one step's supremum is known
        assert!(upper - lower < 2.0 * ERROR, "{adjacency:?}: {lower} {upper}");
        assert!((worst - upper).abs() < 2.0 * ERROR, "{adjacency:?}: {worst} {upper}");
        let [_, noisier] = of(1.02 * SIGMA);
        assert!(worst > noisier + 2.0 * ERROR, "{adjacency:?}: more noise is not seen");
        let [_, poisson] = bounds(&Poisson, run(SIGMA, 1));
        assert!(worst > 1.1 * poisson, "{adjacency:?}: {worst} {poisson}");
    }
}

/// 5 records in batches of 2, at a rate of 2/5 whatever the steps of an epoch are.
#[test]
fn batches_that_do_not_divide_the_records_have_their_rate() {
    let step = |records| {
        let mechanism = BatchedGaussian {
            noise_multiplier: SIGMA,
            steps_per_epoch: 3,
            epochs: 1,
            sampler: BatchSampler::FixedSize,
            threat_model: ThreatModel::WorstCase,
            batch_size: Some(BATCH),
            dataset_size: None,
        };
        let epoch = Training::from(&mechanism.of_records(records));
        Training { steps_per_epoch: 1, sampling_rate: Some(epoch.sampling_rate()), ..epoch }
    };
    for adjacency in [Adjacency::ZeroOut, Adjacency::Replace, Adjacency::AddRemove] {
        let all = DATA.map(|[a, b, c]| of_data(&[a, b, c, a], adjacency));
        let worst = all.into_iter().fold(0.0, f64::max);
        // fewer and more records, which the batches divide; those of 6 are at the mutant's rate, 1/3
        let [more, found, less] =
            [4, 5, 6].map(|records| bounds(&FixedSize { adjacency }, step(records)));
        assert!((worst - found[0]).abs() < 2.0 * ERROR, "{adjacency:?}: {worst} {found:?}");
        assert!((worst - found[1]).abs() < 2.0 * ERROR, "{adjacency:?}: {worst} {found:?}");
        assert!(less[1] + 2.0 * ERROR < worst, "{adjacency:?}: {less:?} {worst}");
        assert!(worst + 2.0 * ERROR < more[0], "{adjacency:?}: {worst} {more:?}");
    }
}

#[test]
fn two_steps_bracket_quadrature() {
    let rate = f64::from(BATCH) / RECORDS as f64;
    let mixed =
        |x: f64, mean: f64| (1.0 - rate) * normal(x, 0.0, SIGMA) + rate * normal(x, mean, SIGMA);
    let of = |means: [f64; 2]| {
        let [p, q] = means.map(|mean| move |[x, y]: Gradient| mixed(x, mean) * mixed(y, mean));
        either(&p, &q)
    };
    for (adjacency, data) in [
        (Adjacency::ZeroOut, [[2.0, 1.0], [1.0, 0.0]]),
        (Adjacency::Replace, [[2.0, 0.0], [2.0, 0.0]]),
        (Adjacency::AddRemove, [[2.0, 0.0], [2.0, 0.0]]),
    ] {
        let exact = data.map(of).into_iter().fold(0.0, f64::max);
        let [lower, upper] = bounds(&FixedSize { adjacency }, run(SIGMA, 2));
        let is_exact = |lower: f64| (lower - exact).abs() < 2.0 * ERROR;
        assert!(is_exact(lower), "{adjacency:?}: {lower} {exact}");
        assert!(exact <= upper + ERROR && upper < 1.1 * exact, "{adjacency:?}: {exact} {upper}");
        let [noisier, _] = bounds(&FixedSize { adjacency }, run(1.01 * SIGMA, 2));
        assert!(!is_exact(noisier), "{adjacency:?}: more noise is not seen");
    }
}

/// At σ = 0.19, a target in every batch would have ε ≤ 1,608.5, but N − 1 records in place of N have ε ≤
/// 394.6.
#[test]
fn little_noise_has_no_larger_bound_than_a_looser_adjacency() {
    let run = |noise_multiplier: f64| Training {
        noise_multiplier,
        steps_per_epoch: 100,
        epochs: 1,
        sampling_rate: None,
    };
    let of = |sigma: f64, adjacency: Adjacency| {
        [Kind::Lower, Kind::Upper].map(|kind| {
            let query = Query { kind, ..Query::upper(run(sigma), Given::Delta(1e-5)) };
            FixedSize { adjacency }.account(&query).expect("in the domain").epsilon
        })
    };
    for sigma in [0.19, 0.1, 0.05, 0.02] {
        let [zero_out, removed, replaced] =
            [Adjacency::ZeroOut, Adjacency::AddRemove, Adjacency::Replace].map(|it| of(sigma, it));
        let is_ordered = zero_out[1] < removed[1] && removed[1] < replaced[1];
        assert!(is_ordered, "{sigma}: {zero_out:?} {removed:?} {replaced:?}");
        for [lower, upper] in [zero_out, removed, replaced] {
            assert!(lower <= upper && lower > 0.9 * upper, "{sigma}: {lower} {upper}");
        }
    }
    // ε of little noise grows about as 1/σ²
    let (more, less) = (of(0.2, Adjacency::ZeroOut)[1], of(0.199, Adjacency::ZeroOut)[1]);
    assert!(more < less && less < 1.02 * more, "{more} {less}");
}
