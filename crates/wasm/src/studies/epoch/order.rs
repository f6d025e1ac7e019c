//! Which records a sampler puts into which batches, record by record.

use dpscope_core::mechanism::BatchSampler;
use dpscope_shaders::random::{Purpose, stream_words};

/// Random words of one stream, one after another.
#[derive(Debug)]
pub(crate) struct Words {
    seed: u64,
    stream: u64,
    block: [u32; 256],
    used: usize,
    next: u64,
}

impl Words {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Words { seed, stream, block: [0; 256], used: 256, next: 0 }
    }

    fn word(&mut self) -> u32 {
        if self.used == self.block.len() {
            let Words { seed, stream, next, .. } = *self;
            stream_words(seed, Purpose::EpochOrder, stream, next, &mut self.block);
            self.next += self.block.len() as u64;
            self.used = 0;
        }
        self.used += 1;
        self.block[self.used - 1]
    }

    /// A number below `count`, each with the same chance: words beyond the last multiple of `count`
    /// are drawn anew.
    pub(crate) fn below(&mut self, count: u32) -> u32 {
        let count = count.max(1);
        let beyond = (u32::MAX % count + 1) % count;
        loop {
            let word = self.word();
            if word <= u32::MAX - beyond {
                return word % count;
            }
        }
    }
}

/// Exchanges `items` as Fisher and Yates do: each order with the same chance.
fn shuffle<T>(items: &mut [T], words: &mut Words) {
    for last in (1..items.len()).rev() {
        items.swap(last, words.below(last as u32 + 1) as usize);
    }
}

/// The members of each batch of one epoch.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `sampler` | how batches are drawn | buffers from 1 |
/// | `records` | N | a multiple of the batch size |
/// | `batch_size` | B | from 1 |
/// | `words` | random words | – |
///
/// # Guarantee
/// Where a record falls, and which two fall together, is as the sampler says
/// (`unit::records_and_pairs_fall_as_the_sampler_says`).
pub(crate) fn batches(
    sampler: BatchSampler,
    records: u32,
    batch_size: u32,
    words: &mut Words,
) -> Vec<Vec<u32>> {
    let steps = records / batch_size.max(1);
    let mut order: Vec<u32> = (0..records).collect();
    let cut = |order: &[u32]| order.chunks(batch_size.max(1) as usize).map(<[_]>::to_vec).collect();
    match sampler {
        BatchSampler::Poisson => {
            let mut is_in = |_: &u32| words.below(steps) == 0;
            return (0..steps).map(|_| (0..records).filter(&mut is_in).collect()).collect();
        }
        BatchSampler::BallsInBins => {
            let mut bins = vec![Vec::new(); steps as usize];
            for record in order {
                bins[words.below(steps) as usize].push(record);
            }
            return bins;
        }
        BatchSampler::BatchThenShuffle => {
            let mut formed: Vec<Vec<u32>> = cut(&order);
            shuffle(&mut formed, words);
            return formed;
        }
        BatchSampler::Shuffle | BatchSampler::PersistentShuffle => shuffle(&mut order, words),
        BatchSampler::Deterministic => {}
        BatchSampler::PartialShuffle { buffer_examples } => {
            let block = usize::try_from(buffer_examples.max(1)).unwrap_or(usize::MAX);
            order.chunks_mut(block).for_each(|block| shuffle(block, words));
        }
        BatchSampler::SlidingBuffer { buffer_examples } => {
            order = through_reservoir(records, buffer_examples, words);
        }
    }
    cut(&order)
}

/// The order in which records leave a reservoir that is filled from a file in order.
fn through_reservoir(records: u32, buffer_examples: u64, words: &mut Words) -> Vec<u32> {
    let held = buffer_examples.clamp(1, u64::from(records.max(1))) as u32;
    let mut reservoir: Vec<u32> = (0..held.min(records)).collect();
    let mut rest = held..records;
    let mut order = Vec::with_capacity(records as usize);
    while !reservoir.is_empty() {
        let drawn = words.below(reservoir.len() as u32) as usize;
        order.push(match rest.next() {
            Some(next) => std::mem::replace(&mut reservoir[drawn], next),
            None => reservoir.swap_remove(drawn),
        });
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::mechanism::{BatchedGaussian, LawKind, SamplerKind, SlotWeights};

    const RECORDS: u32 = 12;
    const BATCH: u32 = 3;
    const STEPS: u32 = 4;
    const EPOCHS: u32 = 20_000;

    /// Standard deviations beyond which a count is not by chance: once in 10⁷.
    const FAR: f64 = 5.3;

    fn sampler(kind: SamplerKind) -> BatchSampler {
        kind.with_buffer(kind.has_buffer().then_some(5)).unwrap()
    }

    /// How far a count of that many epochs is from its chance, in standard deviations.
    fn distance(count: u32, chance: f64) -> f64 {
        let expected = chance * f64::from(EPOCHS);
        (f64::from(count) - expected).abs() / (expected * (1.0 - chance)).max(1e-9).sqrt()
    }

    /// The chance of the target to be in each batch.
    fn slots(sampler: BatchSampler) -> Vec<f64> {
        let law = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: STEPS,
            epochs: 1,
            sampler,
            threat_model: sampler.kind().default_threat_model(),
            batch_size: Some(BATCH),
        }
        .law()
        .unwrap();
        let entries = law.entries as usize;
        let mut slots = match law.kind {
            LawKind::OneSlot { weights: SlotWeights::Weighted(weights), .. } => weights,
            _ if sampler.kind() == SamplerKind::Deterministic => vec![1.0],
            _ => vec![1.0 / entries as f64; entries],
        };
        slots.resize(STEPS as usize, 0.0);
        slots
    }

    /// The chance that the target and the second record of the file share a batch, at least once.
    fn together(sampler: BatchSampler) -> Option<f64> {
        let (n, b, t) = (f64::from(RECORDS), f64::from(BATCH), f64::from(STEPS));
        match sampler {
            BatchSampler::Poisson => {
                Some(1.0 - dpscope_core::math::powi(1.0 - 1.0 / (t * t), STEPS as i32))
            }
            BatchSampler::Shuffle | BatchSampler::PersistentShuffle => Some((b - 1.0) / (n - 1.0)),
            BatchSampler::BallsInBins => Some(1.0 / t),
            BatchSampler::Deterministic | BatchSampler::BatchThenShuffle => Some(1.0),
            // both in the first three of five, or both in the two after them
            BatchSampler::PartialShuffle { .. } => Some((3.0 * 2.0 + 2.0 * 1.0) / (5.0 * 4.0)),
            BatchSampler::SlidingBuffer { .. } => None,
        }
    }

    /// Records whose place is looked at: all where each may be anywhere, else the target.
    fn looked_at(sampler: BatchSampler) -> u32 {
        match sampler {
            BatchSampler::Poisson | BatchSampler::Shuffle | BatchSampler::BallsInBins => RECORDS,
            _ => 1,
        }
    }

    /// The largest distance of what was drawn from what the sampler says.
    fn largest(sampler: BatchSampler, draw: &dyn Fn(&mut Words) -> Vec<Vec<u32>>) -> f64 {
        let mut in_batch = [[0; STEPS as usize]; RECORDS as usize];
        let mut both = 0;
        for epoch in 0..EPOCHS {
            let batches = draw(&mut Words::new(7, u64::from(epoch)));
            assert_eq!(batches.len(), STEPS as usize);
            for (batch, members) in batches.iter().enumerate() {
                members.iter().for_each(|&record| in_batch[record as usize][batch] += 1);
            }
            both += u32::from(batches.iter().any(|batch| batch.contains(&0) && batch.contains(&1)));
        }
        let mut far = together(sampler).map_or(0.0, |p| distance(both, p));
        for counts in &in_batch[..looked_at(sampler) as usize] {
            for (&count, chance) in counts.iter().zip(slots(sampler)) {
                far = distance(count, chance).max(far);
            }
        }
        far
    }

    #[test]
    fn records_and_pairs_fall_as_the_sampler_says() {
        for kind in SamplerKind::ALL {
            let sampler = sampler(kind);
            let far = largest(sampler, &|words| batches(sampler, RECORDS, BATCH, words));
            assert!(far < FAR, "{kind}: {far}");
        }
    }

    #[test]
    fn a_biased_shuffle_is_refused() {
        // Broken twins: each place is exchanged with any place; the last one never is.
        let biased = |words: &mut Words| {
            let mut order: Vec<u32> = (0..RECORDS).collect();
            (0..order.len()).for_each(|i| order.swap(i, words.below(RECORDS) as usize));
            order.chunks(BATCH as usize).map(<[_]>::to_vec).collect()
        };
        let cyclic = |words: &mut Words| {
            let mut order: Vec<u32> = (0..RECORDS).collect();
            (1..order.len()).rev().for_each(|i| order.swap(i, words.below(i as u32) as usize));
            order.chunks(BATCH as usize).map(<[_]>::to_vec).collect()
        };
        assert!(largest(BatchSampler::Shuffle, &biased) > FAR);
        assert!(largest(BatchSampler::Shuffle, &cyclic) > FAR);
        // The law of another sampler.
        let other = |words: &mut Words| batches(BatchSampler::BallsInBins, RECORDS, BATCH, words);
        assert!(largest(BatchSampler::Shuffle, &other) > FAR);
    }

    #[test]
    fn every_record_is_in_one_batch_but_for_poisson() {
        for kind in SamplerKind::ALL {
            let drawn = batches(sampler(kind), RECORDS, BATCH, &mut Words::new(1, 2));
            let mut members: Vec<u32> = drawn.concat();
            members.sort_unstable();
            let all: Vec<u32> = (0..RECORDS).collect();
            assert_eq!(members == all, kind != SamplerKind::Poisson, "{kind}");
        }
    }

    #[test]
    fn numbers_below_a_count_have_one_chance() {
        let mut words = Words::new(3, 0);
        let mut counts = [0_u32; 7];
        (0..EPOCHS * 7).for_each(|_| counts[words.below(7) as usize] += 1);
        for count in counts {
            let chance = 1.0 / 7.0;
            let expected = f64::from(EPOCHS);
            let spread = (7.0 * expected * chance * (1.0 - chance)).sqrt();
            assert!((f64::from(count) - expected).abs() < FAR * spread, "{counts:?}");
        }
        // of 2³² words, 3·2³⁰ is the largest multiple: one in four is drawn anew
        let (mut plain, mut fair) = ([0_u32; 3], [0_u32; 3]);
        for _ in 0..EPOCHS {
            let word = words.word();
            plain[(word % 3_221_225_472 / 1_073_741_824) as usize] += 1;
            fair[(words.below(3_221_225_472) / 1_073_741_824) as usize] += 1;
        }
        assert!(distance(fair[0], 1.0 / 3.0) < FAR && distance(plain[0], 1.0 / 3.0) > FAR);
    }
}
