//! What is proven about each loader, against the loader itself: its order of records drawn in every
//! possible way, the pair's ε by quadrature.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::math::powi;
use dpscope_core::mechanism::BatchSampler;
use dpscope_core::training_check::{
    AssumedAccounting, CheckVerdict, DrawnNoise, Finding, LoaderBatches, NoiseTarget, OtherBatches,
    TrainingSetup, diagnose,
};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::quadrature::{ERROR, Pair, normal};

const DELTA: f64 = 1e-4;
const SIGMA: f64 = 0.9;

/// Records that an epoch reads, in every order that may come, with its probability.
type Orders = Vec<(f64, Vec<usize>)>;

/// All orders of `items`, equally likely.
fn permutations(items: &[usize]) -> Orders {
    if items.is_empty() {
        return vec![(1.0, Vec::new())];
    }
    let mut found = Vec::new();
    for &first in items {
        let rest: Vec<usize> = items.iter().copied().filter(|&item| item != first).collect();
        for (chance, order) in permutations(&rest) {
            found.push((chance / items.len() as f64, [vec![first], order].concat()));
        }
    }
    found
}

/// Every way of a reservoir of `buffer` records.
fn reservoir(inside: &[usize], next: usize, size: usize) -> Orders {
    if inside.is_empty() {
        return vec![(1.0, Vec::new())];
    }
    let mut found = Vec::new();
    for &drawn in inside {
        let mut left: Vec<usize> = inside.iter().copied().filter(|&item| item != drawn).collect();
        left.extend((next < size).then_some(next));
        for (chance, order) in reservoir(&left, next + 1, size) {
            found.push((chance / inside.len() as f64, [vec![drawn], order].concat()));
        }
    }
    found
}

fn sampler(setup: &TrainingSetup) -> BatchSampler {
    match setup.loader {
        LoaderBatches::Sampler(sampler) => sampler,
        other => unreachable!("{other} has no order"),
    }
}

fn orders(setup: &TrainingSetup) -> Orders {
    let (size, batch) = (setup.dataset_size as usize, setup.batch_size as usize);
    let all: Vec<usize> = (0..size).collect();
    match sampler(setup) {
        BatchSampler::Deterministic => vec![(1.0, all)],
        BatchSampler::PartialShuffle { buffer_examples } => {
            let (first, rest) = all.split_at(buffer_examples as usize);
            let mut found = Vec::new();
            for (chance, order) in permutations(first) {
                for (other_chance, others) in permutations(rest) {
                    found.push((chance * other_chance, [order.clone(), others].concat()));
                }
            }
            found
        }
        BatchSampler::SlidingBuffer { buffer_examples } => {
            let buffer = buffer_examples as usize;
            reservoir(&all[..buffer], buffer, size)
        }
        BatchSampler::BatchThenShuffle => {
            let batches: Vec<&[usize]> = all.chunks(batch).collect();
            let places: Vec<usize> = (0..batches.len()).collect();
            let of =
                |places: Vec<usize>| places.iter().flat_map(|&at| batches[at].to_vec()).collect();
            permutations(&places).into_iter().map(|(chance, places)| (chance, of(places))).collect()
        }
        _ => permutations(&all),
    }
}

/// The sums of the two batches of an epoch.
fn sums(setup: &TrainingSetup, order: &[usize], gradients: &[f64]) -> [f64; 2] {
    let batch = setup.batch_size as usize;
    let mut sums = [0.0; 2];
    let mut places = order.chunks(batch);
    if sampler(setup) == BatchSampler::BatchThenShuffle {
        // Batches have fixed records: the smaller one may come first.
        let first = order.iter().position(|&record| record / batch != order[0] / batch);
        let (one, other) = order.split_at(first.unwrap_or(order.len()));
        return [one, other].map(|batch| batch.iter().map(|&record| gradients[record]).sum());
    }
    for sum in &mut sums {
        let records = places.next().unwrap_or_default();
        if records.len() == batch || !setup.drop_last {
            *sum = records.iter().map(|&record| gradients[record]).sum();
        }
    }
    sums
}

/// Means of the outputs of an epoch, with their probabilities.
fn means(setup: &TrainingSetup, gradients: &[f64]) -> Vec<(f64, [f64; 2])> {
    let mut means: Vec<(f64, [f64; 2])> = Vec::new();
    for (chance, order) in orders(setup) {
        let found = sums(setup, &order, gradients);
        match means.iter_mut().find(|known| known.1 == found) {
            Some(known) => known.0 += chance,
            None => means.push((chance, found)),
        }
    }
    means
}

/// ε of one epoch between two trainings.
fn exact_between(worlds: [(&TrainingSetup, &[f64]); 2]) -> f64 {
    let setup = worlds[0].0;
    let epochs = if sampler(setup) == BatchSampler::PersistentShuffle { setup.epochs } else { 1 };
    let sigma = SIGMA / (epochs as f64).sqrt();
    let means = worlds.map(|(setup, gradients)| means(setup, gradients));
    let reach = setup.batch_size as f64;
    Pair::new(sigma, [-reach, reach], |[x, y]| {
        let density = |world: usize| -> f64 {
            let of = |&(chance, [a, b]): &(f64, [f64; 2])| {
                chance * normal(x, a, sigma) * normal(y, b, sigma)
            };
            means[world].iter().map(of).sum()
        };
        (density(0), density(1))
    })
    .epsilon_at(DELTA)
}

/// Gradients of all records, mates of the target's batch pushing with it if `together`.
fn gradients(setup: &TrainingSetup, target: usize, together: bool, own: f64) -> Vec<f64> {
    let (size, batch) = (setup.dataset_size as usize, setup.batch_size as usize);
    let of = |record: usize| match record {
        _ if record == target => own,
        _ if together && record / batch == target / batch => 1.0,
        _ => -1.0,
    };
    (0..size).map(of).collect()
}

/// ε of one epoch for the target at `target`, whose gradient is zero in the other world.
fn exact(setup: &TrainingSetup, target: usize, together: bool) -> f64 {
    let of = |own: f64| gradients(setup, target, together, own);
    exact_between([(setup, &of(1.0)), (setup, &of(0.0))])
}

/// ε of one epoch for a target that the other world lacks.
fn exact_removed(setup: &TrainingSetup, target: usize, gradients: &[f64]) -> f64 {
    let fewer = TrainingSetup { dataset_size: setup.dataset_size - 1, ..*setup };
    let mut others = gradients.to_vec();
    others.remove(target);
    exact_between([(setup, gradients), (&fewer, &others)])
}

fn proven(setup: &TrainingSetup) -> f64 {
    let claim = PrivacyClaim { epsilon: 0.0, delta: DELTA, adjacency: Adjacency::ZeroOut };
    let found = diagnose(setup, &AssumedAccounting::default(), &claim).expect("a training");
    found.lower.expect("a bound").epsilon
}

fn setup(
    dataset_size: u64,
    batch_size: u64,
    drop_last: bool,
    loader: impl Into<LoaderBatches>,
) -> TrainingSetup {
    TrainingSetup {
        dataset_size,
        batch_size,
        epochs: 1,
        partial_epoch_steps: 0,
        noise_multiplier: SIGMA,
        drawn_noise: None,
        loader: loader.into(),
        drop_last,
        drawn_rate: None,
        draws_per_epoch: None,
    }
}

/// Set-ups of two batches per epoch, and the place of the record that leaks most.
fn set_ups() -> Vec<(TrainingSetup, usize)> {
    let partial = BatchSampler::PartialShuffle { buffer_examples: 3 };
    let sliding = |buffer_examples| BatchSampler::SlidingBuffer { buffer_examples };
    let persistent = setup(5, 2, true, BatchSampler::PersistentShuffle);
    vec![
        (setup(4, 2, false, BatchSampler::Shuffle), 0),
        (setup(5, 3, false, BatchSampler::Shuffle), 0),
        (setup(5, 2, true, BatchSampler::Shuffle), 0),
        (setup(7, 3, true, BatchSampler::Shuffle), 0),
        (TrainingSetup { epochs: 4, ..persistent }, 0),
        (setup(4, 2, false, partial), 0),
        (setup(5, 2, true, partial), 0),
        (setup(6, 3, false, sliding(2)), 5),
        (setup(6, 4, false, sliding(4)), 5),
        (setup(7, 3, true, sliding(4)), 0),
        (setup(6, 3, false, sliding(1)), 0),
        (setup(4, 2, false, BatchSampler::BatchThenShuffle), 0),
        (setup(5, 3, false, BatchSampler::BatchThenShuffle), 0),
        (setup(4, 2, false, BatchSampler::Deterministic), 0),
    ]
}

#[test]
fn loaders_leak_at_least_their_bound() {
    for (setup, target) in set_ups() {
        let together = sampler(&setup) == BatchSampler::BatchThenShuffle;
        let exact = exact(&setup, target, together);
        let seen = proven(&setup);
        assert!(seen <= exact + ERROR, "{setup:?}: {seen} > {exact}");
        assert!(seen > 0.7 * exact, "{setup:?}: {seen} is far below {exact}");
    }
}

#[test]
fn lower_bounds_also_hold_where_the_record_is_removed() {
    for (setup, target) in set_ups() {
        let together = sampler(&setup) == BatchSampler::BatchThenShuffle;
        // where the order of the records stays, the last one is removed alone
        let stays = together || sampler(&setup) == BatchSampler::Deterministic;
        let target = if stays { setup.dataset_size as usize - 1 } else { target };
        let gradients = gradients(&setup, target, together, 1.0);
        let exact = exact_removed(&setup, target, &gradients);
        let seen = proven(&setup);
        assert!(seen <= exact + ERROR, "{setup:?}: {seen} > {exact}");
    }
}

/// A removed record moves others to other batches, so what holds under zero-out adjacency is no upper bound
/// then.
#[test]
fn a_removed_record_can_leak_more_than_one_without_gradient() {
    for loader in [BatchSampler::Deterministic, BatchSampler::Shuffle] {
        let setup = setup(4, 2, false, loader);
        let at = |epsilon, adjacency| {
            let claim = PrivacyClaim { epsilon, delta: DELTA, adjacency };
            diagnose(&setup, &AssumedAccounting::default(), &claim).expect("a training")
        };
        let zero_out = at(100.0, Adjacency::ZeroOut);
        assert_eq!(zero_out.verdict, Some(CheckVerdict::HoldsAsDescribed));
        let upper = zero_out.upper.expect("a bound").epsilon;
        let gradients = match loader {
            BatchSampler::Deterministic => vec![1.0, 1.0, -1.0, -1.0],
            _ => gradients(&setup, 0, false, 1.0),
        };
        let exact = exact_removed(&setup, 0, &gradients);
        assert!(exact > 1.2 * upper, "{loader:?}: {exact} {upper}");
        let removed = at(100.0, Adjacency::AddRemove);
        assert_eq!(removed.verdict, Some(CheckVerdict::Inconclusive));
        assert_eq!((removed.upper, removed.lower), (None, zero_out.lower));
        let adjacency = Adjacency::AddRemove;
        let found = Finding::UpperBoundForZeroOut { adjacency, upper };
        assert!(removed.findings.contains(&found), "{:?}", removed.findings);
    }
    let bins = setup(4, 2, false, BatchSampler::BallsInBins);
    let claim = PrivacyClaim { epsilon: 100.0, delta: DELTA, adjacency: Adjacency::AddRemove };
    let bins = diagnose(&bins, &AssumedAccounting::default(), &claim).expect("a training");
    assert_eq!(bins.verdict, Some(CheckVerdict::HoldsAsDescribed));
}

#[test]
fn bounds_of_another_rounding_or_order_are_rejected() {
    let shuffle = setup(5, 2, true, BatchSampler::Shuffle);
    let broken = [
        // The dropped record taken for one that is always there.
        (shuffle, setup(4, 2, true, BatchSampler::Shuffle)),
        // One batch fewer.
        (setup(5, 3, false, BatchSampler::Shuffle), setup(3, 3, false, BatchSampler::Shuffle)),
        // The order of batches taken for the order of records.
        (
            setup(4, 2, false, BatchSampler::Shuffle),
            setup(4, 2, false, BatchSampler::BatchThenShuffle),
        ),
        // A buffer one record too small.
        (
            setup(6, 3, false, BatchSampler::SlidingBuffer { buffer_examples: 4 }),
            setup(6, 3, false, BatchSampler::SlidingBuffer { buffer_examples: 3 }),
        ),
    ];
    for (real, wrong) in broken {
        let together = sampler(&real) == BatchSampler::BatchThenShuffle;
        let places = 0..real.dataset_size as usize;
        let exact = places.map(|target| exact(&real, target, together)).fold(0.0, f64::max);
        let seen = proven(&wrong);
        assert!(seen > exact + ERROR, "{real:?}: {seen} is not above {exact}");
    }
}

#[test]
fn bounds_are_ordered_for_every_accepted_setup() {
    let mut seen = 0;
    for noise_multiplier in [0.01, 0.5, 1e4] {
        for (dataset_size, batch_size) in [(1, 1), (1000, 7), (1 << 53, 1 << 40)] {
            for buffer_examples in [90, 1 << 50] {
                for loader in [
                    BatchSampler::Shuffle,
                    BatchSampler::PersistentShuffle,
                    BatchSampler::BatchThenShuffle,
                    BatchSampler::Deterministic,
                    BatchSampler::PartialShuffle { buffer_examples },
                    BatchSampler::SlidingBuffer { buffer_examples },
                ] {
                    let epochs = if dataset_size == 1 { 20 } else { 2 };
                    let setup = TrainingSetup {
                        noise_multiplier,
                        epochs,
                        ..setup(dataset_size, batch_size, seen % 2 == 0, loader)
                    };
                    let claim =
                        PrivacyClaim { epsilon: 0.0, delta: 1e-9, adjacency: Adjacency::ZeroOut };
                    let found = diagnose(&setup, &AssumedAccounting::default(), &claim);
                    let found = found.expect("a training");
                    let [lower, upper] = [
                        found.lower.map(|bound| bound.epsilon),
                        found.upper.map(|bound| bound.epsilon),
                    ];
                    let is_ordered = lower.is_some() && Some(0.0) <= lower && lower <= upper;
                    assert!(is_ordered, "{setup:?}: {lower:?} {upper:?}");
                    seen += 1;
                }
            }
        }
    }
    assert_eq!(seen, 3 * 3 * 2 * 6);
}

/// Chance that a batch contains the target so many times.
fn times_drawn(setup: &TrainingSetup, other: OtherBatches) -> Vec<f64> {
    let (size, batch) = (setup.dataset_size as f64, setup.batch_size as i32);
    match other {
        OtherBatches::WithReplacement => {
            let (hit, missed) = (1.0 / size, 1.0 - 1.0 / size);
            let ways = |times: i32| {
                (0..times).map(|i| f64::from(batch - i) / f64::from(i + 1)).product::<f64>()
            };
            (0..=batch)
                .map(|times| ways(times) * powi(hit, times) * powi(missed, batch - times))
                .collect()
        }
        _ => unreachable!("nothing is known of {other:?}"),
    }
}

/// ε of two independent steps in which all gradients but the target's are zero.
fn exact_of_other(setup: &TrainingSetup, other: OtherBatches) -> f64 {
    let chances = times_drawn(setup, other);
    let density = |x: f64| -> f64 {
        let part = |(times, chance): (usize, &f64)| chance * normal(x, times as f64, SIGMA);
        chances.iter().enumerate().map(part).sum()
    };
    let pair = |both: &dyn Fn([f64; 2]) -> (f64, f64)| {
        Pair::new(SIGMA, [0.0, chances.len() as f64], both).epsilon_at(DELTA)
    };
    let with = |[x, y]: [f64; 2]| density(x) * density(y);
    let without = |[x, y]: [f64; 2]| normal(x, 0.0, SIGMA) * normal(y, 0.0, SIGMA);
    let remove = pair(&|at| (with(at), without(at)));
    remove.max(pair(&|at| (without(at), with(at))))
}

/// Set-ups of two full batches.
fn other_set_ups() -> Vec<(TrainingSetup, OtherBatches)> {
    let of = |size, batch, epochs, other: OtherBatches| {
        let setup = setup(size, batch, false, LoaderBatches::Other(other));
        (TrainingSetup { epochs, ..setup }, other)
    };
    vec![
        of(4, 2, 1, OtherBatches::WithReplacement),
        // the second batch is smaller, and is not counted
        of(5, 4, 2, OtherBatches::WithReplacement),
    ]
}

#[test]
fn other_batches_leak_at_least_their_bound() {
    for (setup, other) in other_set_ups() {
        let (exact, seen) = (exact_of_other(&setup, other), proven(&setup));
        assert!(seen <= exact + ERROR, "{setup:?}: {seen} > {exact}");
        // a record that is drawn twice is not counted
        assert!(seen > 0.3 * exact, "{setup:?}: {seen} is far below {exact}");
        let claim = PrivacyClaim { epsilon: 0.0, delta: DELTA, adjacency: Adjacency::ZeroOut };
        let found = diagnose(&setup, &AssumedAccounting::default(), &claim).expect("a training");
        assert!(found.upper.is_none(), "{found:?}");
    }
}

#[test]
fn bounds_of_other_batches_at_a_higher_rate_are_rejected() {
    let (real, other) = other_set_ups()[0];
    let wrong = TrainingSetup { batch_size: real.dataset_size, epochs: 10, ..real };
    let (exact, seen) = (exact_of_other(&real, other), proven(&wrong));
    assert!(seen > exact + ERROR, "{real:?}: {seen} is not above {exact}");
    for other in [OtherBatches::OncePerEpoch, OtherBatches::Unknown] {
        let setup = setup(4, 2, false, LoaderBatches::Other(other));
        let claim = PrivacyClaim { epsilon: 1e3, delta: DELTA, adjacency: Adjacency::ZeroOut };
        let found = diagnose(&setup, &AssumedAccounting::default(), &claim).expect("a training");
        assert!(found.lower.is_none());
        assert_eq!(found.upper.is_some(), other == OtherBatches::OncePerEpoch);
    }
}

/// δ at ε of one Gaussian release of a sum with sensitivity 1.
fn gaussian_delta(epsilon: f64, noise_multiplier: f64) -> f64 {
    let normal = Normal::new(0.0, 1.0).unwrap();
    let (half, moved) = (0.5 / noise_multiplier, epsilon * noise_multiplier);
    normal.cdf(half - moved) - dpscope_core::math::exp(epsilon) * normal.cdf(-half - moved)
}

#[test]
fn noise_on_means_is_less_in_a_smaller_last_batch() {
    // The fifth record is alone in the second of two batches of up to four.
    let (standard_deviation, clip_norm) = (0.5, 1.0);
    let drawn_noise =
        Some(DrawnNoise { standard_deviation, clip_norm, added_to: NoiseTarget::Mean });
    let noise_multiplier = 4.0 * standard_deviation / clip_norm;
    let whole = setup(5, 4, false, BatchSampler::Deterministic);
    let whole = TrainingSetup { noise_multiplier, drawn_noise, ..whole };
    let claim = PrivacyClaim { epsilon: 1.0, delta: DELTA, adjacency: Adjacency::ZeroOut };
    let of = |setup: &TrainingSetup| {
        let found = diagnose(setup, &AssumedAccounting::default(), &claim).expect("a training");
        let codes: Vec<&str> = found.findings.iter().map(Finding::code).collect();
        let has_less = codes.contains(&"last-batch-has-less-noise");
        (found.lower.unwrap().epsilon, found.upper.unwrap().epsilon, has_less)
    };
    let (lower, upper, has_less) = of(&whole);
    let alone = standard_deviation / clip_norm;
    // The normal distribution of statrs is accurate to about 1e-11.
    let (above, below) = (gaussian_delta(lower, alone), gaussian_delta(upper, alone));
    assert!(above >= DELTA * (1.0 - 1e-8) && below <= DELTA * (1.0 + 1e-8), "{above:e} {below:e}");
    assert!(upper - lower < 1e-6 && has_less, "{lower} {upper}");
    // A shuffle is covered by the same upper bound.
    let (_, shuffled, has_less) =
        of(&TrainingSetup { loader: BatchSampler::Shuffle.into(), ..whole });
    assert!(shuffled == upper && has_less);
    // No batch of a random size has a least noise.
    let poisson = TrainingSetup { loader: BatchSampler::Poisson.into(), ..whole };
    let found = diagnose(&poisson, &AssumedAccounting::default(), &claim).expect("a training");
    assert!(
        found.upper.is_none() && found.findings.iter().any(|f| f.code() == "noise-of-random-size")
    );
    // Noise on sums, or the last batch left out: the bound does not cover noise on means of one.
    let sums = DrawnNoise {
        standard_deviation: 4.0 * standard_deviation,
        added_to: NoiseTarget::Sum,
        clip_norm,
    };
    for other in [
        TrainingSetup { drop_last: true, ..whole },
        TrainingSetup { drawn_noise: Some(sums), ..whole },
    ] {
        let (_, upper, has_less) = of(&other);
        assert!(gaussian_delta(upper, alone) > DELTA && !has_less, "{other:?}: {upper}");
    }
}

/// A full batch with σ = 2 is one Gaussian at distance 2: ε = 4.3772; Poisson batches with σ = 1 and q =
/// 0.01 have ε = 0.8951 in 100 steps. Both by dp-accounting, REPLACE_ONE.
#[test]
fn claims_under_replacement_are_decided() {
    let verdict = |setup: TrainingSetup, epsilon: f64| {
        let claim = PrivacyClaim { epsilon, delta: 1e-5, adjacency: Adjacency::Replace };
        let found = diagnose(&setup, &AssumedAccounting::default(), &claim).expect("in the domain");
        found.verdict.expect("a claim")
    };
    let full = |loader: LoaderBatches| TrainingSetup {
        dataset_size: 100,
        batch_size: 100,
        epochs: 1,
        partial_epoch_steps: 0,
        noise_multiplier: 2.0,
        drawn_noise: None,
        loader,
        drop_last: false,
        drawn_rate: None,
        draws_per_epoch: None,
    };
    let loaders: [LoaderBatches; 7] = [
        BatchSampler::Deterministic.into(),
        BatchSampler::Shuffle.into(),
        BatchSampler::PersistentShuffle.into(),
        BatchSampler::BatchThenShuffle.into(),
        BatchSampler::BallsInBins.into(),
        BatchSampler::FixedSize.into(),
        BatchSampler::Poisson.into(),
    ];
    for loader in loaders {
        assert_eq!(verdict(full(loader), 3.0), CheckVerdict::Refuted, "{loader}");
        assert_eq!(verdict(full(loader), 4.37), CheckVerdict::Refuted, "{loader}");
        assert_eq!(verdict(full(loader), 4.38), CheckVerdict::HoldsAsDescribed, "{loader}");
    }
    let poisson = TrainingSetup {
        dataset_size: 10_000,
        noise_multiplier: 1.0,
        ..full(BatchSampler::Poisson.into())
    };
    assert_eq!(verdict(poisson, 0.8949), CheckVerdict::Refuted);
    assert_eq!(verdict(poisson, 0.8953), CheckVerdict::HoldsAsDescribed);
    // a record may be in many batches of each epoch
    let loader = BatchSampler::RandomAllocation { uses_per_epoch: 2 }.into();
    let allocated = TrainingSetup { batch_size: 50, loader, ..full(loader) };
    assert_eq!(verdict(allocated, 1.0), CheckVerdict::Refuted);
    assert_eq!(verdict(allocated, 30.0), CheckVerdict::HoldsAsDescribed);
}
