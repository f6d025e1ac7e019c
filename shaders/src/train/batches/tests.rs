use super::*;
use dpscope_core::mechanism::{
    BatchedGaussian, SamplerKind, SamplerParameters, ScoreDistributionKind, SlotWeights,
    ThreatModel,
};
use dpscope_core::special::ln_binomial_pmf;

const RECORDS: u32 = 12;
const BATCH: u32 = 3;
const STEPS: u32 = 4;
const EPOCHS: u32 = 20_000;

/// Batches of 12 records, whatever the uses of each.
fn batches(sampler: BatchSampler) -> Batches {
    let batches = Batches::new(sampler, BATCH * sampler.uses_per_epoch().unwrap_or(1), STEPS);
    assert_eq!(batches.records(), RECORDS);
    batches
}

fn members(epoch_batches: &EpochBatches) -> Vec<Vec<u32>> {
    (0..epoch_batches.steps()).map(|step| epoch_batches.members_at(step).to_vec()).collect()
}

fn drawn(sampler: BatchSampler, epoch: u32) -> Vec<Vec<u32>> {
    let mut epoch_batches = EpochBatches::default();
    batches(sampler).draw(7, 4, epoch, &mut epoch_batches);
    members(&epoch_batches)
}

/// Threshold in standard deviations, exceeded with probability 10⁻⁷.
const FAR: f64 = 5.3;

fn sampler(kind: SamplerKind) -> BatchSampler {
    kind.with_parameters(SamplerParameters {
        buffer_examples: kind.has_buffer().then_some(5),
        uses_per_epoch: (kind == SamplerKind::RandomAllocation).then_some(2),
        dataset_size: Some(RECORDS.into()),
        max_batch_size: (kind == SamplerKind::TruncatedPoisson).then_some(BATCH.into()),
    })
    .unwrap()
}

/// Deviation of a count from its expectation, in standard deviations.
fn distance(count: u32, chance: f64) -> f64 {
    let expected = chance * f64::from(EPOCHS);
    (f64::from(count) - expected).abs() / (expected * (1.0 - chance)).max(1e-9).sqrt()
}

/// Probability that the target is in each batch.
fn slots(sampler: BatchSampler) -> Vec<f64> {
    let distribution = BatchedGaussian {
        noise_multiplier: 1.0,
        steps_per_epoch: STEPS,
        epochs: 1,
        sampler,
        threat_model: sampler.kind().default_threat_model(),
        batch_size: Some(BATCH),
        dataset_size: None,
    }
    .distribution()
    .unwrap();
    let entries = distribution.entries as usize;
    let mut slots = match distribution.kind {
        ScoreDistributionKind::OneSlot { weights: SlotWeights::Weighted(weights), .. } => weights,
        _ if sampler.kind() == SamplerKind::Deterministic => vec![1.0],
        ScoreDistributionKind::SeveralSlots { uses_per_epoch } => {
            vec![f64::from(uses_per_epoch) / entries as f64; entries]
        }
        ScoreDistributionKind::Poisson { sampling_rate } => vec![sampling_rate; entries],
        _ => vec![1.0 / entries as f64; entries],
    };
    slots.resize(STEPS as usize, 0.0);
    slots
}

/// Probability that the target and the second record share at least one batch.
fn together(sampler: BatchSampler) -> f64 {
    let (n, b, t) = (f64::from(RECORDS), f64::from(BATCH), f64::from(STEPS));
    match sampler {
        BatchSampler::Poisson => 1.0 - dpscope_core::math::powi(1.0 - 1.0 / (t * t), STEPS as i32),
        // of m drawn, the pair is kept with probability b(b − 1)/(m(m − 1)) if m > b
        BatchSampler::TruncatedPoisson(_) => {
            let step: f64 = (2..=RECORDS)
                .map(|drawn| {
                    let kept = drawn.min(BATCH);
                    let ln = ln_binomial_pmf(drawn.into(), RECORDS.into(), 1.0 / t).unwrap();
                    dpscope_core::math::exp(ln) * f64::from(kept * (kept - 1)) / (n * (n - 1.0))
                })
                .sum();
            1.0 - dpscope_core::math::powi(1.0 - step, STEPS as i32)
        }
        BatchSampler::Shuffle | BatchSampler::PersistentShuffle => (b - 1.0) / (n - 1.0),
        BatchSampler::BallsInBins => 1.0 / t,
        // at least one of two bins of four in common
        BatchSampler::RandomAllocation { .. } => 1.0 - 1.0 / 6.0,
        BatchSampler::FixedSize => {
            let step = b * (b - 1.0) / (n * (n - 1.0));
            1.0 - dpscope_core::math::powi(1.0 - step, STEPS as i32)
        }
        BatchSampler::Deterministic | BatchSampler::BatchThenShuffle => 1.0,
        // both in the first three of five, or both in the two after them
        BatchSampler::PartialShuffle { .. } => (3.0 * 2.0 + 2.0 * 1.0) / (5.0 * 4.0),
        BatchSampler::SlidingBuffer { .. } => both_leave_in_one_batch(),
    }
}

/// Records in a buffer of five from which place `place` is drawn.
fn held(place: u32) -> f64 {
    f64::from((RECORDS - place).min(5))
}

/// Probability that a record leaves a buffer of five at each place.
fn leaves_at(record: u32) -> Vec<f64> {
    let mut stays = 1.0;
    let at = |place| {
        let leaves = if place + 5 > record { stays / held(place) } else { 0.0 };
        stays -= leaves;
        leaves
    };
    (0..RECORDS).map(at).collect()
}

/// Probability that records 0 and 1, both in the buffer from the start, leave it in one batch.
fn both_leave_in_one_batch() -> f64 {
    let both_stay = |places: std::ops::Range<u32>| -> f64 {
        places.map(|place| 1.0 - 2.0 / held(place)).product()
    };
    let one_stays = |places: std::ops::Range<u32>| -> f64 {
        places.map(|place| 1.0 - 1.0 / held(place)).product()
    };
    let pair = |first: u32| {
        let last = (first / BATCH + 1) * BATCH;
        let then = (first + 1..last).map(|second| one_stays(first + 1..second) / held(second));
        both_stay(0..first) * 2.0 / held(first) * then.sum::<f64>()
    };
    (0..RECORDS).map(pair).sum()
}

/// Probability that a record is in each batch.
fn slots_of(sampler: BatchSampler, record: u32) -> Vec<f64> {
    let of_places = |at: Vec<f64>| at.chunks(BATCH as usize).map(|p| p.iter().sum()).collect();
    let among = |first: u32, count: u32| {
        let at = |place| f64::from(u8::from((first..first + count).contains(&place)));
        of_places((0..RECORDS).map(|place| at(place) / f64::from(count)).collect())
    };
    match sampler {
        BatchSampler::Deterministic => among(record, 1),
        BatchSampler::PartialShuffle { .. } => {
            let first = record / 5 * 5;
            among(first, (RECORDS - first).min(5))
        }
        BatchSampler::SlidingBuffer { .. } => of_places(leaves_at(record)),
        _ => slots(sampler),
    }
}

/// Largest deviation of drawn batches from the sampler's distribution.
fn largest(sampler: BatchSampler, draw: &dyn Fn(u32) -> Vec<Vec<u32>>) -> f64 {
    let mut in_batch = [[0; STEPS as usize]; RECORDS as usize];
    let mut both = 0;
    for epoch in 0..EPOCHS {
        let batches = draw(epoch);
        assert_eq!(batches.len(), STEPS as usize);
        for (batch, members) in batches.iter().enumerate() {
            members.iter().for_each(|&record| in_batch[record as usize][batch] += 1);
        }
        both += u32::from(batches.iter().any(|batch| batch.contains(&0) && batch.contains(&1)));
    }
    let mut far = distance(both, together(sampler));
    for (record, counts) in (0..).zip(&in_batch) {
        for (&count, chance) in counts.iter().zip(slots_of(sampler, record)) {
            far = distance(count, chance).max(far);
        }
    }
    far
}

/// Batches by exact Fisher–Yates shuffles.
fn exact(sampler: BatchSampler, run: u32) -> Vec<Vec<u32>> {
    let mut epoch_batches = EpochBatches::default();
    let mut words = Words::new(7, Purpose::Test, u64::from(run));
    batches(sampler).draw_exactly(&mut words, &mut epoch_batches);
    members(&epoch_batches)
}

/// One run per epoch, because a persistent shuffle is drawn once per run.
fn of_run(sampler: BatchSampler, run: u32) -> Vec<Vec<u32>> {
    let mut epoch_batches = EpochBatches::default();
    batches(sampler).draw(7, 2 * u64::from(run), 3, &mut epoch_batches);
    members(&epoch_batches)
}

/// Batches of 13 records in 3 steps of 5, which do not divide them, for samplers that draw from all.
fn undivided(kind: SamplerKind) -> Batches {
    let mut parameters = SamplerParameters {
        uses_per_epoch: kind.has_uses().then_some(2),
        dataset_size: Some(13),
        ..SamplerParameters::default()
    };
    parameters.max_batch_size = kind.truncates().then_some(6);
    let mechanism = BatchedGaussian {
        noise_multiplier: 1.0,
        steps_per_epoch: 3,
        epochs: 1,
        sampler: kind.with_parameters(parameters).unwrap(),
        threat_model: ThreatModel::TargetCanary,
        batch_size: Some(5),
        dataset_size: None,
    };
    Batches::of(&mechanism.of_records(13))
}

/// χ² of how often each of 13 records is in the second batch, at one chance for all of them.
fn chi_square(chance: f64, draw: &dyn Fn(u32) -> Vec<u32>) -> f64 {
    let mut counts = [0_u32; 13];
    for epoch in 0..EPOCHS {
        draw(epoch).into_iter().for_each(|record| counts[record as usize] += 1);
    }
    counts.map(|count| distance(count, chance)).iter().map(|z| z * z).sum()
}

#[test]
fn all_records_are_drawn_at_the_rate_where_batches_do_not_divide_them() {
    // exceeded with probability 10⁻⁷ by χ² with 13 degrees of freedom
    const LARGE: f64 = 58.0;
    for kind in SamplerKind::ALL.into_iter().filter(|kind| !kind.cuts_an_order()) {
        let batches = undivided(kind);
        assert_eq!(batches.records(), 13, "{kind}");
        let truncation = Truncation { dataset_size: 13, max_batch_size: 6 };
        let chance = match kind {
            SamplerKind::BallsInBins => 1.0 / 3.0,
            SamplerKind::RandomAllocation => 2.0 / 3.0,
            SamplerKind::TruncatedPoisson => truncation.presence(5.0 / 13.0).unwrap(),
            _ => 5.0 / 13.0,
        };
        let of = |batches: Batches, exactly: bool| {
            chi_square(chance, &|epoch| {
                let mut drawn = EpochBatches::default();
                let mut words = Words::new(7, Purpose::Test, epoch.into());
                match exactly {
                    true => batches.draw_exactly(&mut words, &mut drawn),
                    false => batches.draw(7, 4, epoch, &mut drawn),
                }
                assert_eq!(drawn.steps(), 3);
                drawn.members_at(1).to_vec()
            })
        };
        for exactly in [false, true] {
            let found = of(batches, exactly);
            assert!(found < LARGE, "{kind}: {found}");
        }
        // the mutant: records that fill no batch are never drawn
        let dropped = Batches { records: 10, poisson_odds: (5, 10), ..batches };
        assert!(of(dropped, false) > 10.0 * LARGE, "{kind}");
    }
}

#[test]
fn records_that_fill_all_batches_are_drawn_as_without_their_number() {
    for kind in SamplerKind::ALL {
        let sampler = sampler(kind);
        let batches = batches(sampler);
        let mechanism = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: STEPS,
            epochs: 1,
            sampler,
            threat_model: kind.default_threat_model(),
            batch_size: Some(batches.batch_size),
            dataset_size: None,
        };
        assert_eq!(Batches::of(&mechanism.of_records(RECORDS.into())), batches, "{kind}");
    }
}

#[test]
fn records_and_pairs_have_the_samplers_distribution() {
    for kind in SamplerKind::ALL {
        let sampler = sampler(kind);
        let far = largest(sampler, &|run| of_run(sampler, run));
        assert!(far < FAR, "{kind}: {far} over runs");
        let far = largest(sampler, &|run| exact(sampler, run));
        assert!(far < FAR, "{kind}: {far} of exact shuffles");
        if kind != SamplerKind::PersistentShuffle {
            let far = largest(sampler, &|epoch| drawn(sampler, epoch));
            assert!(far < FAR, "{kind}: {far} over epochs");
        }
    }
}

#[test]
fn the_target_is_where_its_distribution_says() {
    for kind in SamplerKind::ALL {
        for (slot, chance) in slots(sampler(kind)).into_iter().zip(slots_of(sampler(kind), 0)) {
            assert!((slot - chance).abs() < 1e-12, "{kind}: {slot} {chance}");
        }
    }
}

#[test]
fn other_ways_to_draw_batches_are_detected() {
    // a buffer of another size, and one that is emptied in order at the end
    let buffered = sampler(SamplerKind::SlidingBuffer);
    let smaller = BatchSampler::SlidingBuffer { buffer_examples: 4 };
    assert!(largest(buffered, &|run| of_run(smaller, run)) > FAR);
    let in_order = |run| {
        let mut order = of_run(buffered, run).concat();
        order[RECORDS as usize - 5..].sort_unstable();
        order.chunks(BATCH as usize).map(<[_]>::to_vec).collect()
    };
    assert!(largest(buffered, &in_order) > FAR);
    // draws with replacement: of the batches of a record, and of the records of a batch
    let with_replacement = |run: u32, draws: u32, below: u32| -> Vec<u32> {
        let mut words = Words::new(7, Purpose::Test, u64::from(run));
        (0..draws).map(|_| words.below(below)).collect()
    };
    let allocated = |run| {
        let mut batches = vec![Vec::new(); STEPS as usize];
        for (draw, batch) in (0..).zip(with_replacement(run, 2 * RECORDS, STEPS)) {
            batches[batch as usize].push(draw / 2);
        }
        batches
    };
    assert!(largest(sampler(SamplerKind::RandomAllocation), &allocated) > FAR);
    let fixed_size = |run| {
        let records = with_replacement(run, STEPS * BATCH, RECORDS);
        let distinct = |batch: &[u32]| {
            let mut batch = batch.to_vec();
            batch.sort_unstable();
            batch.dedup();
            batch
        };
        records.chunks(BATCH as usize).map(distinct).collect()
    };
    assert!(largest(BatchSampler::FixedSize, &fixed_size) > FAR);
    // records that do not move with their batch
    let shuffled = |run| of_run(BatchSampler::Shuffle, run);
    assert!(largest(BatchSampler::BatchThenShuffle, &shuffled) > FAR);
}

#[test]
fn dropped_records_are_a_uniform_subset_of_those_that_are_drawn() {
    let truncated = sampler(SamplerKind::TruncatedPoisson);
    let truncation = truncated.truncation().unwrap();
    let rate = 1.0 / f64::from(STEPS);
    let chance = rate - truncation.presence(rate).unwrap();
    // the largest deviation of how often each record is dropped
    let far = |dropped: &dyn Fn(&EpochBatches, usize) -> Vec<u32>| {
        let mut counts = [0; RECORDS as usize];
        let mut epoch_batches = EpochBatches::default();
        for run in 0..EPOCHS {
            batches(truncated).draw(7, 2 * u64::from(run), 3, &mut epoch_batches);
            for record in dropped(&epoch_batches, 1) {
                counts[record as usize] += 1;
            }
        }
        counts.into_iter().map(|count| distance(count, chance)).fold(0.0, f64::max)
    };
    let as_drawn = |drawn: &EpochBatches, step| {
        let (kept, dropped) = (drawn.members_at(step), drawn.dropped_at(step));
        assert!(dropped.is_empty() || kept.len() == BATCH as usize);
        assert!(dropped.iter().all(|record| !kept.contains(record)));
        dropped.to_vec()
    };
    assert!(far(&as_drawn) < FAR);
    // the mutant: the last of those that are drawn
    let last = |drawn: &EpochBatches, step| {
        let mut all = [drawn.members_at(step), drawn.dropped_at(step)].concat();
        all.sort_unstable();
        all.split_off(all.len().min(BATCH as usize))
    };
    assert!(far(&last) > FAR);
    for kind in SamplerKind::ALL {
        let mut epoch_batches = EpochBatches::default();
        batches(sampler(kind)).draw(7, 4, 1, &mut epoch_batches);
        let is_truncated = kind == SamplerKind::TruncatedPoisson;
        assert!(epoch_batches.dropped_at(2).is_empty() || is_truncated, "{kind}");
        assert_eq!(epoch_batches.dropped_ends.len(), if is_truncated { 4 } else { 0 });
    }
}

#[test]
fn each_record_has_its_uses_in_batches_of_the_mean_size() {
    // T·B is a multiple of k or not
    for (batch_size, steps, uses, records) in
        [(4, 6, 1, 24), (4, 6, 3, 8), (3, 5, 2, 7), (1, 4, 4, 1), (2, 3, 9, 2)]
    {
        let sampler = BatchSampler::RandomAllocation { uses_per_epoch: uses };
        let batches = Batches::new(sampler, batch_size, steps);
        assert_eq!(batches.records(), records);
        let mut drawn = EpochBatches::default();
        batches.draw(7, 2, 0, &mut drawn);
        for record in 0..records {
            let holds = (0..drawn.steps()).filter(|&step| drawn.members_at(step).contains(&record));
            assert_eq!(holds.count(), uses.min(steps) as usize, "{record}");
        }
    }
}

#[test]
fn biased_shuffles_are_detected() {
    // Negative controls: biased variants of Fisher–Yates.
    let exchanged = |run: u32, first: u32, below: &dyn Fn(u32) -> u32| {
        let mut words = Words::new(7, Purpose::Test, u64::from(run));
        let mut order: Vec<u32> = (0..RECORDS).collect();
        (first..RECORDS).rev().for_each(|i| order.swap(i as usize, words.below(below(i)) as usize));
        order.chunks(BATCH as usize).map(<[_]>::to_vec).collect::<Vec<Vec<u32>>>()
    };
    assert!(largest(BatchSampler::Shuffle, &|run| exchanged(run, 1, &|i| i + 1)) < FAR);
    assert!(largest(BatchSampler::Shuffle, &|run| exchanged(run, 0, &|_| RECORDS)) > FAR);
    assert!(largest(BatchSampler::Shuffle, &|run| exchanged(run, 1, &|i| i)) > FAR);
    // Batches of another sampler, and one order for all epochs.
    let other = |run| of_run(BatchSampler::BallsInBins, run);
    assert!(largest(BatchSampler::Shuffle, &other) > FAR);
    let persistent = |epoch| drawn(BatchSampler::PersistentShuffle, epoch);
    assert!(largest(BatchSampler::Shuffle, &persistent) > FAR);
}

#[test]
fn every_record_is_in_one_batch_unless_each_step_is_drawn_anew() {
    for kind in SamplerKind::ALL {
        for drawn in [drawn(sampler(kind), 1), exact(sampler(kind), 2)] {
            assert_eq!(drawn.len(), STEPS as usize);
            let mut members: Vec<u32> = drawn.concat();
            members.sort_unstable();
            let uses = sampler(kind).uses_per_epoch().unwrap_or(1);
            let all: Vec<u32> = (0..uses * RECORDS).map(|place| place / uses).collect();
            assert_eq!(members == all, !kind.draws_each_step_anew(), "{kind}");
        }
    }
}

#[test]
fn truncated_batches_are_a_subset_of_those_that_are_drawn() {
    let truncated = sampler(SamplerKind::TruncatedPoisson);
    let most = BATCH as usize;
    let mut was_full = false;
    for run in 0..100 {
        for mut batch in of_run(truncated, run).into_iter().chain(exact(truncated, run)) {
            assert!(batch.len() <= most);
            was_full |= batch.len() == most;
            batch.sort_unstable();
            assert!(batch.is_sorted_by(|a, b| a < b), "{batch:?}");
        }
    }
    assert!(was_full);
    // the mutants: batches that are not truncated, and those of which the first are kept
    let untruncated = |run| of_run(BatchSampler::Poisson, run);
    assert!(largest(truncated, &untruncated) > FAR);
    let first = |run| {
        let mut batches = of_run(BatchSampler::Poisson, run);
        batches.iter_mut().for_each(|batch| batch.truncate(most));
        batches
    };
    assert!(largest(truncated, &first) > FAR);
}

#[test]
fn batches_of_fixed_size_hold_distinct_records() {
    for drawn in [drawn(BatchSampler::FixedSize, 1), exact(BatchSampler::FixedSize, 2)] {
        for mut batch in drawn {
            batch.sort_unstable();
            batch.dedup();
            assert_eq!(batch.len(), BATCH as usize);
        }
    }
}

#[test]
fn step_of_matches_the_drawn_batches() {
    for kind in SamplerKind::ALL {
        let batches = batches(sampler(kind));
        let mut drawn = EpochBatches::default();
        let is_drawn = kind.draws_each_step_anew()
            || kind == SamplerKind::BallsInBins
            || kind == SamplerKind::RandomAllocation
            || kind == SamplerKind::SlidingBuffer
            || kind == SamplerKind::BatchThenShuffle;
        for (stream, epoch, record) in [(3, 0, 0), (4, 2, 0), (5, 1, 6), (6, 7, RECORDS - 1)] {
            batches.draw(7, stream, epoch, &mut drawn);
            let step = batches.step_of(7, stream, epoch, record);
            assert_eq!(step.is_none(), is_drawn, "{kind}");
            let holds = |step: u32| drawn.members_at(step as usize).contains(&record);
            assert!(step.is_none_or(holds), "{kind} {stream} {epoch} {record}");
        }
    }
}

#[test]
fn only_persistent_orders_repeat() {
    for kind in [SamplerKind::Shuffle, SamplerKind::PersistentShuffle, SamplerKind::PartialShuffle]
    {
        let stays = drawn(sampler(kind), 0) == drawn(sampler(kind), 1);
        assert_eq!(stays, kind == SamplerKind::PersistentShuffle, "{kind}");
        assert_ne!(of_run(sampler(kind), 0), of_run(sampler(kind), 1));
    }
}

#[test]
fn epochs_share_no_words() {
    // Poisson sampling of 10⁶ records in 10⁴ steps takes 10¹⁰ words per epoch
    let firsts = [0, 1, 2].map(first_word);
    assert!(firsts.windows(2).all(|pair| pair[1] - pair[0] > 10_000_000_000), "{firsts:?}");
    assert!(u64::from(EPOCHS) <= u64::MAX / firsts[1]);
    let [first, second, third] =
        firsts.map(|first| Words::from_word(7, Purpose::TrainOrder, 4, first).next_word());
    assert!(first != second && second != third);
}
