//! Assignment of records to batches by a sampler.

use std::vec::Drain;

use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, Truncation};

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
    records: u32,
    /// Integers whose quotient is the rate of Poisson sampling: B and N, or 1 and T.
    poisson_odds: (u32, u32),
}

/// The members of the batches of one epoch, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EpochBatches {
    members: Vec<u32>,
    /// End of each batch.
    ends: Vec<usize>,
    /// Records that were drawn into truncated batches and not kept.
    dropped: Vec<u32>,
    /// End of those of each batch, if batches are truncated.
    dropped_ends: Vec<usize>,
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
    /// | `steps` | T; the records are 0 … N − 1, N = T·B | T·B up to [`Order::MAX_COUNT`] |
    ///
    /// Random allocation uses each record k times, so that N = ⌊T·B/k⌋ and B is the mean batch size. See
    /// [`of`](Self::of) for other numbers of records.
    #[must_use]
    pub fn new(sampler: BatchSampler, batch_size: u32, steps: u32) -> Self {
        let batch_size = batch_size.clamp(1, Order::MAX_COUNT);
        let steps = steps.clamp(1, Order::MAX_COUNT / batch_size);
        let uses = uses_per_epoch(sampler, steps);
        let records = (steps * batch_size / uses).max(1);
        Batches { sampler, batch_size, steps, records, poisson_odds: (1, steps) }
    }

    /// The batches of a mechanism with a batch size, from all of its records.
    #[must_use]
    pub fn of(mechanism: &BatchedGaussian) -> Self {
        let BatchedGaussian { sampler, batch_size, steps_per_epoch, .. } = *mechanism;
        let batches = Batches::new(sampler, batch_size.unwrap_or(1), steps_per_epoch);
        let Some(dataset_size) = mechanism.dataset_size else { return batches };
        let most = u64::from(Order::MAX_COUNT);
        let records = dataset_size.clamp(batches.batch_size.into(), most) as u32;
        Batches { records, poisson_odds: (batches.batch_size, records), ..batches }
    }

    /// Records N of an epoch: T·B; ⌊T·B/k⌋, but at least 1, if each is used k times; the number that the
    /// mechanism states.
    #[must_use]
    pub const fn records(&self) -> u32 {
        self.records
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
        EpochBatches { members, ends, dropped, dropped_ends }: &mut EpochBatches,
        mut permute: impl FnMut(&mut Words, Part, &mut Vec<u32>),
    ) {
        members.clear();
        ends.clear();
        dropped.clear();
        dropped_ends.clear();
        let (records, steps) = (self.records, self.steps);
        match self.sampler {
            BatchSampler::Poisson | BatchSampler::TruncatedPoisson(_) => {
                let truncation = self.sampler.truncation();
                let (drawn, of) = self.poisson_odds;
                for _ in 0..steps {
                    let first = members.len();
                    members.extend((0..records).filter(|_| words.below(of) < drawn));
                    if let Some(Truncation { max_batch_size, .. }) = truncation {
                        dropped.extend(drop_some(members, first, max_batch_size, words));
                        dropped_ends.push(dropped.len());
                    }
                    ends.push(members.len());
                }
                return;
            }
            BatchSampler::BallsInBins => {
                let bins: Vec<u32> = (0..records).map(|_| words.below(steps)).collect();
                by_bin(&bins, 1, steps, members, ends);
                return;
            }
            BatchSampler::RandomAllocation { .. } => {
                let uses = uses_per_epoch(self.sampler, steps);
                let bins = allocated(records, uses, steps, words);
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
        part_of(&self.members, &self.ends, step)
    }

    /// Records that were drawn into the batch of a step and not kept, because it would have had
    /// more than the maximum.
    ///
    /// # Guarantee
    /// Which ones are dropped is uniform
    /// (`unit::dropped_records_are_a_uniform_subset_of_those_that_are_drawn`).
    #[must_use]
    pub fn dropped_at(&self, step: usize) -> &[u32] {
        part_of(&self.dropped, &self.dropped_ends, step)
    }

    /// Number of batches, including empty ones.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.ends.len()
    }
}

/// Batches of an epoch that contain a record, where their number is fixed.
fn uses_per_epoch(sampler: BatchSampler, steps: u32) -> u32 {
    sampler.uses_per_epoch().unwrap_or(1).clamp(1, steps)
}

/// First random word of an epoch in its stream.
const fn first_word(epoch: u32) -> u64 {
    (epoch as u64) << 48
}

/// A uniform set of `uses` bins for each record, in a row.
fn allocated(records: u32, uses: u32, count: u32, words: &mut Words) -> Vec<u32> {
    let mut all: Vec<u32> = (0..count).collect();
    let mut bins = Vec::new();
    for _ in 0..records {
        for first in 0..uses {
            let drawn = first + words.below(count - first);
            all.swap(first as usize, drawn as usize);
        }
        bins.extend_from_slice(&all[..uses as usize]);
    }
    bins
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

/// Keeps a uniform subset of at most `most` of the members from place `first` on; returns the others.
fn drop_some<'a>(
    members: &'a mut Vec<u32>,
    first: usize,
    most: u64,
    words: &mut Words,
) -> Drain<'a, u32> {
    let end = members.len();
    let most = usize::try_from(most).unwrap_or(usize::MAX).min(end - first);
    if most < end - first {
        for place in first..first + most {
            members.swap(place, place + words.below((end - place) as u32) as usize);
        }
    }
    members.drain(first + most..)
}

/// The part of a step; empty beyond the last.
fn part_of<'a>(all: &'a [u32], ends: &[usize], step: usize) -> &'a [u32] {
    let first = step.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |&end| end);
    ends.get(step).and_then(|&end| all.get(first..end)).unwrap_or(&[])
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
mod tests;
