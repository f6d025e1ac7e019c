//! Assignment of records to batches by a sampler.

use dpscope_core::mechanism::BatchSampler;

use super::Order;
use dpscope_core::random::{Purpose, Words};

/// The batches of each epoch of a run.
///
/// Shuffles of training runs are [`Order`]s: epoch e of a run takes order e of its stream, or order
/// e·m + i for block i of m of a partial shuffle; with batches of fixed size, step t takes the first
/// records of order e·T + t. Balls in bins, random allocation, Poisson sampling and a sliding buffer
/// use random words from word e·2⁴⁸ on, enough for the T²·B words of a Poisson epoch of 10⁵ steps.
/// Epochs from 2¹⁶ on repeat the words.
///
/// # Guarantee
/// The batches of single records and of pairs of records have the distribution of the sampler
/// (`unit::records_and_pairs_have_the_samplers_distribution`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batches {
    sampler: BatchSampler,
    batch_size: u32,
    steps: u32,
}

/// The members of the batches of one epoch, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EpochBatches {
    members: Vec<u32>,
    /// End of each batch.
    ends: Vec<usize>,
}

/// A part of an epoch that is shuffled separately.
struct Part {
    index: u64,
    /// Number of parts.
    of: u64,
    count: u32,
    /// How many of the shuffled records are used, the first ones.
    used: u32,
}

impl Part {
    const fn whole(count: u32) -> Self {
        Part { index: 0, of: 1, count, used: count }
    }
}

impl Batches {
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `sampler` | how batches are drawn | buffers of 1 to T·B records; others are clamped |
    /// | `batch_size` | B | from 1 |
    /// | `steps` | T; the records are 0 … T·B − 1 | T·B up to [`Order::MAX_COUNT`] |
    #[must_use]
    pub fn new(sampler: BatchSampler, batch_size: u32, steps: u32) -> Self {
        let batch_size = batch_size.clamp(1, Order::MAX_COUNT);
        Batches { sampler, batch_size, steps: steps.clamp(1, Order::MAX_COUNT / batch_size) }
    }

    /// Records per epoch, T·B.
    #[must_use]
    pub const fn records(&self) -> u32 {
        self.steps * self.batch_size
    }

    /// Whether every batch has B members.
    #[must_use]
    pub const fn is_fixed_size(&self) -> bool {
        !self.sampler.kind().has_random_batch_size()
    }

    /// The step whose batch contains a record in an epoch, where that shows without drawing all
    /// batches: where records are shuffled, or stay in order.
    ///
    /// # Guarantee
    /// As they are drawn (`unit::step_of_matches_the_drawn_batches`).
    #[must_use]
    pub fn step_of(&self, seed: u64, stream: u64, epoch: u32, record: u32) -> Option<u32> {
        let is_persistent = self.sampler == BatchSampler::PersistentShuffle;
        let epoch = if is_persistent { 0 } else { u64::from(epoch) };
        let place = match self.sampler {
            BatchSampler::Deterministic => record,
            BatchSampler::Shuffle | BatchSampler::PersistentShuffle => {
                Order::new(seed, stream, epoch, self.records()).position_of(record)
            }
            BatchSampler::PartialShuffle { buffer_examples } => {
                let block = buffer_examples.clamp(1, u64::from(self.records())) as u32;
                let (index, first) = (record / block, record - record % block);
                let number = epoch * u64::from(self.records().div_ceil(block)) + u64::from(index);
                let count = block.min(self.records() - first);
                first + Order::new(seed, stream, number, count).position_of(record - first)
            }
            _ => return None,
        };
        Some(place / self.batch_size)
    }

    /// Draws the batches of one epoch into `epoch_batches`.
    pub fn draw(&self, seed: u64, stream: u64, epoch: u32, epoch_batches: &mut EpochBatches) {
        let mut words = Words::from_word(seed, Purpose::TrainOrder, stream, first_word(epoch));
        let is_persistent = self.sampler == BatchSampler::PersistentShuffle;
        let epoch = if is_persistent { 0 } else { u64::from(epoch) };
        self.draw_by(&mut words, epoch_batches, |_, Part { index, of, count, used }, members| {
            let order = Order::new(seed, stream, epoch * of + index, count);
            members.extend((0..used).map(|place| order.at(place)));
        });
    }

    /// Draws the batches of one epoch by exact Fisher–Yates shuffles from the caller's random
    /// words.
    pub fn draw_exactly(&self, words: &mut Words, epoch_batches: &mut EpochBatches) {
        self.draw_by(words, epoch_batches, |words, part, members| {
            let first = members.len();
            members.extend(0..part.count);
            words.shuffle(&mut members[first..]);
            members.truncate(first + part.used as usize);
        });
    }

    /// Draws batches; `permute` appends the first places of a permutation of 0 … count − 1.
    fn draw_by(
        &self,
        words: &mut Words,
        EpochBatches { members, ends }: &mut EpochBatches,
        mut permute: impl FnMut(&mut Words, Part, &mut Vec<u32>),
    ) {
        members.clear();
        ends.clear();
        let (records, steps) = (self.records(), self.steps);
        match self.sampler {
            BatchSampler::Poisson | BatchSampler::TruncatedPoisson(_) => {
                let truncation = self.sampler.truncation();
                let most = truncation.map_or(u64::MAX, |truncation| truncation.max_batch_size);
                for _ in 0..steps {
                    let first = members.len();
                    members.extend((0..records).filter(|_| words.below(steps) == 0));
                    keep_subset(members, first, most, words);
                    ends.push(members.len());
                }
                return;
            }
            BatchSampler::BallsInBins => {
                let bins: Vec<u32> = (0..records).map(|_| words.below(steps)).collect();
                by_bin(&bins, 1, steps, members, ends);
                return;
            }
            BatchSampler::RandomAllocation { uses_per_epoch } => {
                let uses = uses_per_epoch.clamp(1, steps);
                let mut all: Vec<u32> = (0..steps).collect();
                let mut bins = Vec::new();
                for _ in 0..records {
                    for first in 0..uses {
                        let drawn = first + words.below(steps - first);
                        all.swap(first as usize, drawn as usize);
                    }
                    bins.extend_from_slice(&all[..uses as usize]);
                }
                by_bin(&bins, uses, steps, members, ends);
                return;
            }
            BatchSampler::FixedSize => {
                for index in 0..steps.into() {
                    let (of, used) = (steps.into(), self.batch_size);
                    permute(words, Part { index, of, count: records, used }, members);
                }
            }
            BatchSampler::BatchThenShuffle => {
                let mut order = Vec::new();
                permute(words, Part::whole(steps), &mut order);
                for batch in order.into_iter().map(|step| step * self.batch_size) {
                    members.extend(batch..batch + self.batch_size);
                }
            }
            BatchSampler::Shuffle | BatchSampler::PersistentShuffle => {
                permute(words, Part::whole(records), members);
            }
            BatchSampler::Deterministic => members.extend(0..records),
            BatchSampler::PartialShuffle { buffer_examples } => {
                let block = buffer_examples.clamp(1, u64::from(records)) as u32;
                let blocks = records.div_ceil(block);
                for index in 0..blocks {
                    let first = index * block;
                    let count = block.min(records - first);
                    let (index, of) = (index.into(), blocks.into());
                    let part = Part { index, of, count, used: count };
                    permute(words, part, members);
                    members[first as usize..].iter_mut().for_each(|record| *record += first);
                }
            }
            BatchSampler::SlidingBuffer { buffer_examples } => {
                let held = buffer_examples.clamp(1, u64::from(records)) as u32;
                through_reservoir(records, held, words, members);
            }
        }
        ends.extend((1..=steps as usize).map(|step| step * self.batch_size as usize));
    }
}

impl EpochBatches {
    /// Members of the batch of a step; empty beyond the last.
    #[must_use]
    pub fn members_at(&self, step: usize) -> &[u32] {
        let first =
            step.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |&end| end);
        self.ends.get(step).and_then(|&end| self.members.get(first..end)).unwrap_or(&[])
    }

    /// Number of batches, including empty ones.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.ends.len()
    }

    /// Members of all batches, concatenated.
    #[must_use]
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// End of each batch in [`members`](Self::members).
    #[must_use]
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }
}

/// First random word of an epoch in its stream.
const fn first_word(epoch: u32) -> u64 {
    (epoch as u64) << 48
}

/// Counting sort: records in ascending order within each bin; `bins` has those of each record in a
/// row.
fn by_bin(bins: &[u32], uses: u32, count: u32, members: &mut Vec<u32>, ends: &mut Vec<usize>) {
    ends.resize(count as usize, 0);
    bins.iter().for_each(|&bin| ends[bin as usize] += 1);
    let mut first = 0;
    for end in ends.iter_mut() {
        (first, *end) = (first + *end, first);
    }
    members.resize(bins.len(), 0);
    for (place, &bin) in (0..).zip(bins) {
        members[ends[bin as usize]] = place / uses;
        ends[bin as usize] += 1;
    }
}

/// Keeps a uniform subset of at most `most` of the members from place `first` on.
fn keep_subset(members: &mut Vec<u32>, first: usize, most: u64, words: &mut Words) {
    let end = members.len();
    let most = usize::try_from(most).unwrap_or(usize::MAX).min(end - first);
    if most == end - first {
        return;
    }
    for place in first..first + most {
        members.swap(place, place + words.below((end - place) as u32) as usize);
    }
    members.truncate(first + most);
}

/// Order in which records leave a shuffle buffer that is filled in file order.
fn through_reservoir(records: u32, held: u32, words: &mut Words, order: &mut Vec<u32>) {
    let mut reservoir: Vec<u32> = (0..held).collect();
    let mut rest = held..records;
    while !reservoir.is_empty() {
        let drawn = words.below(reservoir.len() as u32) as usize;
        order.push(match rest.next() {
            Some(next) => std::mem::replace(&mut reservoir[drawn], next),
            None => reservoir.swap_remove(drawn),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::mechanism::{
        BatchedGaussian, SamplerKind, SamplerParameters, ScoreDistributionKind, SlotWeights,
    };
    use dpscope_core::special::ln_binomial_pmf;

    const RECORDS: u32 = 12;
    const BATCH: u32 = 3;
    const STEPS: u32 = 4;
    const EPOCHS: u32 = 20_000;

    fn drawn(sampler: BatchSampler, epoch: u32) -> Vec<Vec<u32>> {
        let mut epoch_batches = EpochBatches::default();
        Batches::new(sampler, BATCH, STEPS).draw(7, 4, epoch, &mut epoch_batches);
        (0..epoch_batches.steps()).map(|step| epoch_batches.members_at(step).to_vec()).collect()
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
        }
        .distribution()
        .unwrap();
        let entries = distribution.entries as usize;
        let mut slots = match distribution.kind {
            ScoreDistributionKind::OneSlot { weights: SlotWeights::Weighted(weights), .. } => {
                weights
            }
            _ if sampler.kind() == SamplerKind::Deterministic => vec![1.0],
            ScoreDistributionKind::RandomAllocation { uses_per_epoch } => {
                vec![f64::from(uses_per_epoch) / entries as f64; entries]
            }
            ScoreDistributionKind::Poisson { sampling_rate } => vec![sampling_rate; entries],
            _ => vec![1.0 / entries as f64; entries],
        };
        slots.resize(STEPS as usize, 0.0);
        slots
    }

    /// Probability that the target and the second record share at least one batch.
    fn together(sampler: BatchSampler) -> Option<f64> {
        let (n, b, t) = (f64::from(RECORDS), f64::from(BATCH), f64::from(STEPS));
        match sampler {
            BatchSampler::Poisson => {
                Some(1.0 - dpscope_core::math::powi(1.0 - 1.0 / (t * t), STEPS as i32))
            }
            // of m drawn, the pair is kept with probability b(b − 1)/(m(m − 1)) if m > b
            BatchSampler::TruncatedPoisson(_) => {
                let step: f64 = (2..=RECORDS)
                    .map(|drawn| {
                        let kept = drawn.min(BATCH);
                        let ln = ln_binomial_pmf(drawn.into(), RECORDS.into(), 1.0 / t).unwrap();
                        dpscope_core::math::exp(ln) * f64::from(kept * (kept - 1)) / (n * (n - 1.0))
                    })
                    .sum();
                Some(1.0 - dpscope_core::math::powi(1.0 - step, STEPS as i32))
            }
            BatchSampler::Shuffle | BatchSampler::PersistentShuffle => Some((b - 1.0) / (n - 1.0)),
            BatchSampler::BallsInBins => Some(1.0 / t),
            // at least one of two bins of four in common
            BatchSampler::RandomAllocation { .. } => Some(1.0 - 1.0 / 6.0),
            BatchSampler::FixedSize => {
                let step = b * (b - 1.0) / (n * (n - 1.0));
                Some(1.0 - dpscope_core::math::powi(1.0 - step, STEPS as i32))
            }
            BatchSampler::Deterministic | BatchSampler::BatchThenShuffle => Some(1.0),
            // both in the first three of five, or both in the two after them
            BatchSampler::PartialShuffle { .. } => Some((3.0 * 2.0 + 2.0 * 1.0) / (5.0 * 4.0)),
            BatchSampler::SlidingBuffer { .. } => None,
        }
    }

    /// Number of records to check: all if they are exchangeable, otherwise only the target.
    fn checked_records(sampler: BatchSampler) -> u32 {
        match sampler {
            BatchSampler::Poisson
            | BatchSampler::TruncatedPoisson(_)
            | BatchSampler::Shuffle
            | BatchSampler::BallsInBins
            | BatchSampler::FixedSize
            | BatchSampler::RandomAllocation { .. } => RECORDS,
            _ => 1,
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
        let mut far = together(sampler).map_or(0.0, |p| distance(both, p));
        for counts in &in_batch[..checked_records(sampler) as usize] {
            for (&count, chance) in counts.iter().zip(slots(sampler)) {
                far = distance(count, chance).max(far);
            }
        }
        far
    }

    /// Batches by exact Fisher–Yates shuffles.
    fn exact(sampler: BatchSampler, run: u32) -> Vec<Vec<u32>> {
        let mut epoch_batches = EpochBatches::default();
        let mut words = Words::new(7, Purpose::Test, u64::from(run));
        Batches::new(sampler, BATCH, STEPS).draw_exactly(&mut words, &mut epoch_batches);
        (0..epoch_batches.steps()).map(|step| epoch_batches.members_at(step).to_vec()).collect()
    }

    /// One run per epoch, because a persistent shuffle is drawn once per run.
    fn of_run(sampler: BatchSampler, run: u32) -> Vec<Vec<u32>> {
        let mut epoch_batches = EpochBatches::default();
        let batches = Batches::new(sampler, BATCH, STEPS);
        batches.draw(7, 2 * u64::from(run), 3, &mut epoch_batches);
        (0..epoch_batches.steps()).map(|step| epoch_batches.members_at(step).to_vec()).collect()
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
    fn biased_shuffles_are_detected() {
        // Negative controls: biased variants of Fisher–Yates.
        let exchanged = |run: u32, first: u32, below: &dyn Fn(u32) -> u32| {
            let mut words = Words::new(7, Purpose::Test, u64::from(run));
            let mut order: Vec<u32> = (0..RECORDS).collect();
            (first..RECORDS)
                .rev()
                .for_each(|i| order.swap(i as usize, words.below(below(i)) as usize));
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
            let batches = Batches::new(sampler(kind), BATCH, STEPS);
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
        for kind in
            [SamplerKind::Shuffle, SamplerKind::PersistentShuffle, SamplerKind::PartialShuffle]
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
}
