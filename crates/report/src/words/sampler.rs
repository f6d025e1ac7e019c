//! Samplers in words.

use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::{LoaderKind, OtherBatches};

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
        SamplerKind::RandomAllocation => "randomly allocated batches",
        SamplerKind::TruncatedPoisson => "truncated Poisson batches",
        SamplerKind::FixedSize => "batches of fixed size, drawn anew",
    }
}

/// The batches of a loader, within a sentence.
#[must_use]
pub const fn loader_batches(loader: LoaderKind) -> &'static str {
    match loader {
        LoaderKind::Sampler(sampler) => batches(sampler),
        LoaderKind::Other(OtherBatches::WithReplacement) => "batches drawn with replacement",
        LoaderKind::Other(OtherBatches::OncePerEpoch) => {
            "batches that contain each record at most once per epoch"
        }
        LoaderKind::Other(OtherBatches::Unknown) => "batches of unknown distribution",
    }
}
