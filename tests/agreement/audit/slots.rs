//! Where the target's batch falls in simulated observations, against the distribution of its sampler.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::{
    BatchSampler, BatchedGaussian, ScoreDistribution, ScoreDistributionKind, SlotWeights,
    ThreatModel,
};
use dpscope_shaders::bgm::{Phase, ScoreKernel};
use dpscope_tests::simulate::shuffled;
use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, Discrete};

const OBSERVATIONS: u64 = 20_000;
const EPOCHS: u32 = 3;

fn buffered(sampler: BatchSampler) -> BatchedGaussian {
    BatchedGaussian { sampler, batch_size: Some(3), ..shuffled(1.0, 6, EPOCHS) }
}

fn partial(buffer_examples: u64) -> BatchSampler {
    BatchSampler::PartialShuffle { buffer_examples }
}

fn sliding(buffer_examples: u64) -> BatchSampler {
    BatchSampler::SlidingBuffer { buffer_examples }
}

fn weights(distribution: &ScoreDistribution) -> Vec<f64> {
    match &distribution.kind {
        ScoreDistributionKind::OneSlot { weights: SlotWeights::Weighted(weights), .. } => {
            weights.clone()
        }
        _ => vec![1.0 / f64::from(distribution.entries); distribution.entries as usize],
    }
}

/// How often each slot of an epoch contains the target, over all epochs of all observations.
fn slot_counts(distribution: &ScoreDistribution, world: World, seed: u64) -> Vec<f64> {
    let kernel = ScoreKernel::new(distribution, seed, Phase::Audit).unwrap();
    let mut counts = vec![0.0; distribution.entries as usize];
    for observation in 0..OBSERVATIONS {
        for epoch in kernel.draws(world, observation).target.chunks_exact(counts.len()) {
            assert_eq!(epoch.iter().filter(|&&held| held).count(), 1);
            counts.iter_mut().zip(epoch).for_each(|(n, &held)| *n += f64::from(u8::from(held)));
        }
    }
    counts
}

/// p-value of counts against probabilities, in χ².
fn p_value(counts: &[f64], probabilities: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum();
    let probability = |cell: usize| probabilities.get(cell).copied().unwrap_or(0.0);
    let (mut statistic, mut cells) = (0.0, 0);
    for (cell, &count) in counts.iter().enumerate() {
        let expected = total * probability(cell);
        if expected >= 5.0 {
            statistic += (count - expected) * (count - expected) / expected;
            cells += 1;
        } else if count > 30.0 {
            return 0.0; // far too often for a cell that almost never comes
        }
    }
    ChiSquared::new(f64::from(cells - 1)).unwrap().sf(statistic)
}

#[test]
fn drawn_slots_follow_the_sampler_and_not_its_neighbours() {
    for (sampler, twins) in [
        (partial(8), [partial(9), sliding(8), BatchSampler::Shuffle]),
        (partial(14), [partial(13), sliding(14), BatchSampler::Shuffle]),
        (sliding(4), [sliding(5), partial(4), BatchSampler::Shuffle]),
        (sliding(11), [sliding(10), partial(11), BatchSampler::Shuffle]),
    ] {
        let distribution = buffered(sampler).distribution().unwrap();
        for (world, seed) in World::BOTH.into_iter().zip(90..) {
            let counts = slot_counts(&distribution, world, seed);
            let p = p_value(&counts, &weights(&distribution));
            assert!(p > 1e-4, "{sampler} in {world:?}: p = {p:e}");
            for twin in twins {
                let p = p_value(&counts, &weights(&buffered(twin).distribution().unwrap()));
                assert!(p < 1e-6, "{sampler} passes for {twin}: p = {p:e}");
            }
        }
    }
}

#[test]
fn slots_of_two_epochs_are_independent() {
    let distribution = buffered(partial(14)).distribution().unwrap();
    let kernel = ScoreKernel::new(&distribution, 95, Phase::Audit).unwrap();
    let slots = distribution.entries as usize;
    let mut pairs = vec![0.0; slots * slots];
    for observation in 0..OBSERVATIONS {
        let draws = kernel.draws(World::Target, observation);
        let slot = |epoch: &[bool]| epoch.iter().position(|&held| held).unwrap();
        let drawn: Vec<usize> = draws.target.chunks_exact(slots).map(slot).collect();
        pairs[drawn[0] * slots + drawn[1]] += 1.0;
    }
    let w = weights(&distribution);
    let independent: Vec<f64> = w.iter().flat_map(|a| w.iter().map(move |b| a * b)).collect();
    let p = p_value(&pairs, &independent);
    assert!(p > 1e-4, "p = {p:e}");
    // Broken twin: one slot for all epochs, drawn by the same distribution.
    let same: Vec<f64> = (0..slots * slots)
        .map(|i| if i / slots == i % slots { w[i / slots] } else { 0.0 })
        .collect();
    assert!(p_value(&pairs, &same) < 1e-6);
}

#[test]
fn poisson_includes_the_target_in_a_binomial_number_of_steps() {
    let mechanism = BatchedGaussian {
        sampler: BatchSampler::Poisson,
        threat_model: ThreatModel::TargetCanary,
        ..shuffled(1.0, 7, 2)
    };
    let distribution = mechanism.distribution().unwrap();
    let kernel = ScoreKernel::new(&distribution, 97, Phase::Audit).unwrap();
    let entries = distribution.normals_per_observation();
    let (mut numbers, mut steps) = (vec![0.0; entries as usize + 1], vec![0.0; entries as usize]);
    for observation in 0..OBSERVATIONS {
        let target = kernel.draws(World::Target, observation).target;
        numbers[target.iter().filter(|&&held| held).count()] += 1.0;
        steps.iter_mut().zip(&target).for_each(|(n, &held)| *n += f64::from(u8::from(held)));
    }
    let binomial = |rate: f64| -> Vec<f64> {
        let distribution = Binomial::new(rate, entries).unwrap();
        (0..=entries).map(|k| distribution.pmf(k)).collect()
    };
    let p = p_value(&numbers, &binomial(1.0 / 7.0));
    assert!(p > 1e-4, "p = {p:e}");
    let p = p_value(&steps, &vec![1.0 / entries as f64; entries as usize]);
    assert!(p > 1e-4, "p = {p:e}");
    // Broken twins: one batch more, one batch less.
    assert!(p_value(&numbers, &binomial(1.0 / 8.0)) < 1e-6);
    assert!(p_value(&numbers, &binomial(1.0 / 6.0)) < 1e-6);
}
