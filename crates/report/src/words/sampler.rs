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

/// Every sampler in the order of menus, with its name there and what it does.
pub const SAMPLER_MENU: [(SamplerKind, &str, &str); 11] = [
    (SamplerKind::Shuffle, "Shuffle", "a new permutation in each epoch"),
    (SamplerKind::PersistentShuffle, "Persistent shuffle", "one permutation for all epochs"),
    (
        SamplerKind::Poisson,
        "Poisson",
        "each record joins each batch independently, as accountants assume",
    ),
    (
        SamplerKind::TruncatedPoisson,
        "Truncated Poisson",
        "Poisson batches, of which at most a maximum number of records is kept",
    ),
    (SamplerKind::FixedSize, "Fixed size", "a new uniform subset of the records in each step"),
    (
        SamplerKind::RandomAllocation,
        "Random allocation",
        "each record in k random batches of each epoch",
    ),
    (SamplerKind::BallsInBins, "Balls-in-bins", "each record in one random batch of each epoch"),
    (SamplerKind::Deterministic, "Deterministic", "always the same order"),
    (SamplerKind::PartialShuffle, "Partial shuffle", "shuffled within blocks of the buffer size"),
    (
        SamplerKind::SlidingBuffer,
        "Sliding buffer",
        "a buffer that is sampled and refilled, like tf.data’s shuffle",
    ),
    (
        SamplerKind::BatchThenShuffle,
        "Batch, then shuffle",
        "batches are formed first, then their order is shuffled",
    ),
];

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
