//! Counting is exact: any split, any number of threads, two worlds that share no random word.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::BatchedGaussian;
use dpscope_engine::{MergeOptions, Shard, merge};
use dpscope_shaders::Phase;
use dpscope_simulation::{Artefact, Evaluate, Plan};
use dpscope_tests::simulate::{
    audited, backend, borrowed, counted, counted_on, planned, scores, shuffled,
};

use crate::samplers::every_pair;

/// A prime number of observations of each world: no split of it is even.
const PER_WORLD: u64 = 9_973;

fn plans() -> impl Iterator<Item = Plan> {
    every_pair(1.0, 2).into_iter().zip(1..).map(|(m, seed)| planned(m, 2 * PER_WORLD, seed))
}

fn parts(plan: &Plan, count: u64) -> Vec<Artefact> {
    let backend = backend(2);
    (1..=count).rev().map(|index| counted_on(&backend, plan, Shard { index, count })).collect()
}

#[test]
fn any_split_merges_to_the_undivided_run() {
    for plan in plans() {
        let whole = counted(&plan);
        for count in [2, 3, 7] {
            let merged = merge(parts(&plan, count), MergeOptions::default()).unwrap();
            assert_eq!(merged.histogram_digest(), whole.histogram_digest(), "{}", plan.mechanism);
            assert_eq!(merged.outcome().unwrap(), whole.outcome().unwrap());
        }
        // Broken twin: a shard of another seed in the place of one of the plan's.
        let mut mixed = parts(&plan, 3);
        let other = Plan { seed: plan.seed + 100, ..plan };
        let foreign = counted_on(&backend(1), &other, Shard { index: 2, count: 3 });
        mixed[1].evidence = foreign.evidence;
        let merged = merge(mixed, MergeOptions::default());
        assert!(merged.is_err() || merged.unwrap().histogram_digest() != whole.histogram_digest());
    }
}

#[test]
fn threads_do_not_change_a_count() {
    for plan in plans() {
        let digest = counted(&plan).histogram_digest();
        for threads in [1, 2, 5] {
            let other = counted_on(&backend(threads), &plan, Shard::WHOLE);
            assert_eq!(other.histogram_digest(), digest, "{}, {threads} threads", plan.mechanism);
        }
        let reseeded = counted(&Plan { seed: plan.seed + 100, ..plan });
        assert_ne!(reseeded.histogram_digest(), digest);
    }
}

#[test]
fn observations_count_both_worlds() {
    for plan in plans() {
        let state = counted(&plan);
        let trials = state.evidence.histograms.trials();
        assert_eq!((trials.target, trials.zero_out), (PER_WORLD, PER_WORLD), "{}", plan.mechanism);
        assert_eq!(trials.target + trials.zero_out, plan.observations);
        assert_eq!(2 * state.done(), plan.observations);
        let evaluated = state.outcome().unwrap().evidence().trials;
        assert_eq!(evaluated, trials);
    }
}

/// Correlation of two lists, times √n: about standard normal where they are independent.
fn correlation_z(left: &[f64], right: &[f64]) -> f64 {
    let n = left.len() as f64;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let (a, b) = (mean(left), mean(right));
    let sum = |f: &dyn Fn((&f64, &f64)) -> f64| left.iter().zip(right).map(f).sum::<f64>();
    let product = sum(&|(x, y)| (x - a) * (y - b));
    let squares = sum(&|(x, _)| (x - a) * (x - a)) * sum(&|(_, y)| (y - b) * (y - b));
    product / squares.sqrt() * n.sqrt()
}

#[test]
fn worlds_seeds_phases_and_neighbours_are_independent() {
    const OBSERVATIONS: u64 = 20_000;
    let of = |m: &BatchedGaussian, seed, phase, world| {
        scores(&m.distribution().unwrap(), seed, phase, world, OBSERVATIONS)
    };
    for m in every_pair(1.0, 2) {
        let (seed, audit) = (17, Phase::Audit);
        let target = of(&m, seed, audit, World::Target);
        let zero_out = of(&m, seed, audit, World::ZeroOut);
        let others = [
            ("the other world", zero_out.as_slice()),
            ("the next seed", &of(&m, seed + 1, audit, World::Target)),
            ("the pilot", &of(&m, seed, Phase::Pilot, World::Target)),
        ];
        for (name, other) in others {
            let z = correlation_z(&target, other);
            assert!(z.abs() < 4.5, "{m}: {name}, z = {z:.1}");
        }
        let next = correlation_z(&target[1..], &target[..target.len() - 1]);
        assert!(next.abs() < 4.5, "{m}: the next observation, z = {next:.1}");
        // Broken twin: D takes the random words of D′.
        let twin = borrowed(&m.distribution().unwrap(), seed, World::Target, OBSERVATIONS);
        let z = correlation_z(&twin, &zero_out);
        assert!(z > 10.0, "{m}: z = {z:.1}");
    }
}

#[test]
fn nearly_equal_worlds_yield_no_bound() {
    let bound = audited(&planned(shuffled(20.0, 1000, 1), 20_000, 3));
    assert_eq!(bound, 0.0);
}
