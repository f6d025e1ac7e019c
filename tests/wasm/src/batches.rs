//! Batches of trainings.

use dpscope_core::mechanism::{BatchSampler, Truncation};
use dpscope_shaders::train::{Batches, EpochBatches};

use crate::Fingerprints;

pub(crate) fn collect(found: &mut Fingerprints) {
    let (batch_size, steps) = (7, 11);
    let truncation = Truncation { dataset_size: 77, max_batch_size: 8 };
    for sampler in [
        BatchSampler::Shuffle,
        BatchSampler::PersistentShuffle,
        BatchSampler::Poisson,
        BatchSampler::FixedSize,
        BatchSampler::BallsInBins,
        BatchSampler::TruncatedPoisson(truncation),
        BatchSampler::PartialShuffle { buffer_examples: 21 },
    ] {
        let batches = Batches::new(sampler, batch_size, steps);
        let mut drawn = EpochBatches::default();
        for (stream, epoch) in [(0, 0), (1, 0), (1_000_003, 5)] {
            batches.draw(9, stream, epoch, &mut drawn);
            let steps = 0..steps as usize;
            let records = steps.flat_map(|step| {
                let members = drawn.members_at(step);
                members.iter().map(|&record| u64::from(record)).chain([u64::MAX])
            });
            found.hashed("batches of trainings", records);
        }
    }
}
