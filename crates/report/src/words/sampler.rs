//! Samplers in words.

use dpscope_core::mechanism::SamplerKind;

/// The batches of a sampler, within a sentence.
#[must_use]
pub const fn batches(sampler: SamplerKind) -> &'static str {
    match sampler {
        SamplerKind::Poisson => "Poisson-sampled batches",
        SamplerKind::Shuffle => "shuffled batches",
        SamplerKind::PersistentShuffle => "batches shuffled once",
        SamplerKind::BallsInBins => "balls-in-bins batches",
        SamplerKind::Deterministic => "batches in a fixed order",
        SamplerKind::PartialShuffle => "partially shuffled batches",
        SamplerKind::SlidingBuffer => "batches from a shuffle buffer",
        SamplerKind::BatchThenShuffle => "batches formed before shuffling",
    }
}
