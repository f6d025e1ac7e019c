//! Samplers run record by record, against the distributions that the scores assume.

use dpscope_core::{
    adjacency::World,
    mechanism::{
        BatchSampler, BatchedGaussian, SamplerKind, ScoreDistributionKind, SlotWeights,
        ThreatModel, Truncation,
    },
};
use dpscope_tests::Draws;
use dpscope_tests::simulate::sampler_with;
use statrs::distribution::{Binomial, ChiSquared, ContinuousCDF, DiscreteCDF};

/// The batches of one epoch, as lists of record numbers; the target is record 0.
///
/// `persistent` is the order that a sampler repeats between epochs.
fn epoch_batches(m: &BatchedGaussian, persistent: &[usize], draws: &mut Draws) -> Vec<Vec<usize>> {
    let steps = m.steps_per_epoch as usize;
    let batch = m.batch_size.unwrap() as usize;
    let records = m.dataset_size.map_or(steps * batch, |records| records as usize);
    let odds = m.dataset_size.map_or((1, steps), |_| (batch, records));
    let mut order: Vec<usize> = (0..records).collect();
    match m.sampler {
        BatchSampler::Poisson => return (0..steps).map(|_| drawn(records, odds, draws)).collect(),
        BatchSampler::TruncatedPoisson(truncation) => {
            return (0..steps).map(|_| truncated(truncation, odds, draws)).collect();
        }
        BatchSampler::BallsInBins => {
            let mut bins = vec![Vec::new(); steps];
            order.iter().for_each(|&record| bins[draws.below(steps)].push(record));
            return bins;
        }
        BatchSampler::RandomAllocation { uses_per_epoch } => {
            let mut bins = vec![Vec::new(); steps];
            let mut all: Vec<usize> = (0..steps).collect();
            for &record in &order {
                draws.shuffle(&mut all);
                all[..uses_per_epoch as usize].iter().for_each(|&bin| bins[bin].push(record));
            }
            return bins;
        }
        BatchSampler::FixedSize => {
            let subset = |_| {
                draws.shuffle(&mut order);
                order[..batch].to_vec()
            };
            return (0..steps).map(subset).collect();
        }
        BatchSampler::BatchThenShuffle => {
            draws.shuffle(&mut order);
            let mut batches: Vec<Vec<usize>> = order.chunks(batch).map(<[_]>::to_vec).collect();
            draws.shuffle(&mut batches);
            return batches;
        }
        BatchSampler::Shuffle => draws.shuffle(&mut order),
        BatchSampler::PersistentShuffle => order = persistent.to_vec(),
        BatchSampler::Deterministic => {}
        BatchSampler::PartialShuffle { buffer_examples } => {
            order.chunks_mut(buffer_examples as usize).for_each(|block| draws.shuffle(block));
        }
        BatchSampler::SlidingBuffer { buffer_examples } => {
            order = through_reservoir(records, buffer_examples as usize, draws);
        }
    }
    order.chunks(batch).map(<[_]>::to_vec).collect()
}

/// Each of the records with a probability, the quotient of two integers.
fn drawn(records: usize, (part, of): (usize, usize), draws: &mut Draws) -> Vec<usize> {
    (0..records).filter(|_| draws.below(of) < part).collect()
}

/// Each of the records with a probability; of more than the maximum, those that a shuffle puts first.
fn truncated(
    Truncation { dataset_size, max_batch_size }: Truncation,
    odds: (usize, usize),
    draws: &mut Draws,
) -> Vec<usize> {
    let mut drawn = drawn(dataset_size as usize, odds, draws);
    draws.shuffle(&mut drawn);
    drawn.truncate(max_batch_size as usize);
    drawn
}

fn through_reservoir(records: usize, buffer: usize, draws: &mut Draws) -> Vec<usize> {
    let mut reservoir: Vec<usize> = (0..buffer.min(records)).collect();
    let mut next = reservoir.len();
    let mut order = Vec::new();
    while !reservoir.is_empty() {
        let drawn = draws.below(reservoir.len());
        if next < records {
            order.push(std::mem::replace(&mut reservoir[drawn], next));
            next += 1;
        } else {
            order.push(reservoir.swap_remove(drawn));
        }
    }
    order
}

/// Raw outputs of one run: sums of the records' gradients in clip norms, plus noise.
pub(crate) fn run(m: &BatchedGaussian, world: World, draws: &mut Draws) -> Vec<f64> {
    let target = if world == World::Target { 1.0 } else { 0.0 };
    let mut persistent: Vec<usize> =
        (0..m.steps_per_epoch as usize * m.batch_size.unwrap() as usize).collect();
    draws.shuffle(&mut persistent);
    let mut outputs = Vec::new();
    for _ in 0..m.epochs {
        for batch in epoch_batches(m, &persistent, draws) {
            let held = batch.contains(&0);
            let others = batch.len() as f64 - f64::from(u8::from(held));
            let sum = match (m.sampler, m.threat_model, held) {
                (BatchSampler::BatchThenShuffle, _, true) => target + others,
                (_, ThreatModel::WorstCase, true) => target - others,
                (_, ThreatModel::WorstCase, false) => -others,
                (_, _, true) => target,
                (_, ThreatModel::PartiallyInformed, false) => -1.0,
                (_, ThreatModel::TargetCanary, false) => 0.0,
            };
            outputs.push(sum + m.noise_multiplier * draws.normal());
        }
    }
    outputs
}

/// A small mechanism of each defined pair.
pub(crate) fn every_pair(noise_multiplier: f64, epochs: u32) -> Vec<BatchedGaussian> {
    let mut pairs = Vec::new();
    let truncation = Truncation { dataset_size: 15, max_batch_size: 5 }; // also in 3 steps
    for kind in SamplerKind::ALL {
        for &threat_model in kind.threat_models() {
            let sampler = sampler_with(kind, 8, truncation);
            pairs.push(BatchedGaussian {
                noise_multiplier,
                steps_per_epoch: 5,
                epochs,
                sampler,
                threat_model,
                batch_size: Some(3),
                dataset_size: None,
            });
        }
    }
    pairs
}

/// Pairs of sampler and threat model that draw each step anew, with batches that do not divide the
/// records.
pub(crate) fn undivided_pairs(noise_multiplier: f64) -> Vec<BatchedGaussian> {
    let truncation = Truncation { dataset_size: 10, max_batch_size: 5 };
    let mut pairs = every_pair(noise_multiplier, 1);
    pairs.retain(|m| m.sampler.kind().draws_each_step_anew());
    pairs.iter_mut().for_each(|m| {
        let sampler = sampler_with(m.sampler.kind(), 8, truncation);
        *m = BatchedGaussian { sampler, steps_per_epoch: 4, ..*m }.of_records(10);
    });
    pairs
}

fn slot_weights(m: &BatchedGaussian) -> Vec<f64> {
    let distribution = m.distribution().unwrap();
    match distribution.kind {
        ScoreDistributionKind::OneSlot { weights: SlotWeights::Weighted(weights), .. } => weights,
        _ => vec![1.0 / f64::from(distribution.entries); distribution.entries as usize],
    }
}

/// p-value of the slots that the target falls in, run by run, against `weights`.
fn slot_p_value(m: &BatchedGaussian, weights: &[f64], seed: u64) -> f64 {
    const RUNS: usize = 30_000;
    let mut draws = Draws::new(seed);
    let order: Vec<usize> = (0..m.steps_per_epoch as usize * 3).collect();
    let mut counts = vec![0.0; m.steps_per_epoch as usize];
    for _ in 0..RUNS {
        let batches = epoch_batches(m, &order, &mut draws);
        counts[batches.iter().position(|batch| batch.contains(&0)).unwrap()] += 1.0;
    }
    let mut statistic = 0.0;
    let mut cells = 0.0;
    for (slot, count) in counts.iter().enumerate() {
        let expected = weights.get(slot).map_or(0.0, |w| w * RUNS as f64);
        if expected < 5.0 {
            if *count > 30.0 {
                return 0.0;
            }
            continue;
        }
        statistic += (count - expected) * (count - expected) / expected;
        cells += 1.0;
    }
    if cells < 2.0 { 1.0 } else { ChiSquared::new(cells - 1.0).unwrap().sf(statistic) }
}

#[test]
fn slots_follow_their_distribution() {
    for m in every_pair(1.0, 1) {
        if m.sampler.kind().draws_each_step_anew() || m.sampler == BatchSampler::PersistentShuffle {
            continue;
        }
        let weights = slot_weights(&m);
        let p_value = slot_p_value(&m, &weights, 11);
        assert!(p_value > 1e-4, "{m}: p = {p_value:e}");

        // Broken twins: the distribution of the other buffered sampler, of one record more, of none.
        let (other, more) = match m.sampler {
            BatchSampler::PartialShuffle { .. } => (
                BatchSampler::SlidingBuffer { buffer_examples: 8 },
                BatchSampler::PartialShuffle { buffer_examples: 9 },
            ),
            BatchSampler::SlidingBuffer { .. } => (
                BatchSampler::PartialShuffle { buffer_examples: 8 },
                BatchSampler::SlidingBuffer { buffer_examples: 9 },
            ),
            _ => continue,
        };
        for sampler in [other, more, BatchSampler::Shuffle] {
            let twin = slot_weights(&BatchedGaussian { sampler, ..m });
            let p_value = slot_p_value(&m, &twin, 11);
            assert!(p_value < 1e-6, "{m} accepts the slots of {sampler}: p = {p_value:e}");
        }
    }
}

/// The first record's exit, by following the distribution of its place in the reservoir draw by draw.
fn exit_distribution(records: usize, buffer: usize) -> Vec<f64> {
    let mut place = vec![0.0; buffer];
    place[0] = 1.0;
    (0..records)
        .map(|draw| {
            let live = buffer.min(records - draw);
            let refilled = draw + buffer < records;
            let chance = 1.0 / live as f64;
            let leaves = place[..live].iter().sum::<f64>() * chance;
            let last = place[live - 1];
            place[..live].iter_mut().for_each(|p| *p *= 1.0 - chance);
            if !refilled {
                // The last record of the reservoir moves into the hole that is drawn.
                place[live - 1] = 0.0;
                place[..live - 1].iter_mut().for_each(|p| *p += last * chance);
            }
            leaves
        })
        .collect()
}

#[test]
fn sliding_buffer_matches_its_exact_distribution() {
    for (steps_per_epoch, batch, buffer) in
        [(4, 1, 2), (5, 3, 8), (7, 4, 27), (10, 10, 99), (40, 5, 3), (12, 6, 6), (3, 50, 60)]
    {
        let m = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch,
            epochs: 1,
            sampler: BatchSampler::SlidingBuffer { buffer_examples: buffer },
            threat_model: ThreatModel::WorstCase,
            batch_size: Some(batch),
            dataset_size: None,
        };
        let exits = exit_distribution((steps_per_epoch * batch) as usize, buffer as usize);
        let exact: Vec<f64> = exits.chunks(batch as usize).map(|c| c.iter().sum()).collect();
        let worst = |weights: &[f64]| {
            exact
                .iter()
                .enumerate()
                .map(|(slot, w)| (weights.get(slot).unwrap_or(&0.0) - w).abs())
                .fold(0.0, f64::max)
        };
        assert!(worst(&slot_weights(&m)) < 2e-12, "{m}");
        // Broken twin: a geometric exit that forgets that the reservoir drains.
        let stay = 1.0 - 1.0 / buffer as f64;
        let mut inside = 1.0;
        let endless: Vec<f64> = (0..steps_per_epoch)
            .map(|_| {
                let before = inside;
                (0..batch).for_each(|_| inside *= stay);
                before - inside
            })
            .collect();
        assert_eq!(worst(&endless) < 2e-12, buffer == 3, "{m}");
    }
}

#[test]
fn the_target_is_in_truncated_batches_at_its_rate() {
    const BATCHES: u32 = 400_000;
    for (dataset_size, max_batch_size, steps) in
        [(15, 3, 5), (15, 4, 5), (40, 20, 2), (7, 1, 7), (100, 11, 10)]
    {
        let truncation = Truncation { dataset_size, max_batch_size };
        let mechanism = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: steps,
            epochs: 1,
            sampler: BatchSampler::TruncatedPoisson(truncation),
            threat_model: ThreatModel::TargetCanary,
            batch_size: None,
            dataset_size: None,
        };
        let mut draws = Draws::new(21);
        let counted = (0..BATCHES)
            .filter(|_| truncated(truncation, (1, steps as usize), &mut draws).contains(&0))
            .count() as f64;
        let batches = f64::from(BATCHES);
        let distance =
            |rate: f64| (counted - batches * rate).abs() / (batches * rate * (1.0 - rate)).sqrt();
        let rate = mechanism.distribution().unwrap().sampling_rate().unwrap();
        assert!(distance(rate) < 4.5, "{mechanism}: {} of {rate}", counted / batches);
        // Broken twins: no truncation, and the rate B/N wherever B others are drawn.
        let untruncated = 1.0 / f64::from(steps);
        let others = Binomial::new(untruncated, dataset_size - 1).unwrap();
        let not_full = others.cdf(max_batch_size - 1);
        let share = max_batch_size as f64 / dataset_size as f64;
        for twin in [untruncated, untruncated * not_full + share * (1.0 - not_full)] {
            assert!(distance(twin) > 6.0, "{mechanism}: {twin} passes as {rate}");
        }
    }
}

#[test]
fn outputs_have_the_means_of_the_table() {
    let offset = |m: &BatchedGaussian, world, mean: f64| {
        let mut draws = Draws::new(5);
        let mut sums = Vec::new();
        for _ in 0..4_000 {
            sums.push(run(m, world, &mut draws).iter().sum());
        }
        dpscope_tests::z_of_mean(&sums, mean)
    };
    for m in every_pair(0.7, 1).into_iter().chain(undivided_pairs(0.7)) {
        let means = m.batch_means().unwrap();
        for (world, held) in [(World::Target, means.target), (World::ZeroOut, means.zero_out)] {
            let steps = f64::from(m.steps_per_epoch);
            let rate = m.distribution().unwrap().sampling_rate();
            let uses = rate.map_or(1.0, |rate| rate * steps);
            let expected = steps * means.other + uses * (held - means.other);
            assert!(offset(&m, world, expected).abs() < 4.5, "{m} {world:?}");
            // Broken twin: the other world's mean.
            let twin = expected + if world == World::Target { -uses } else { uses };
            assert!(offset(&m, world, twin).abs() > 20.0, "{m} {world:?}");
        }
    }
}
