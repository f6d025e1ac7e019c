//! Errors of the mechanism's parameters and of the outputs that it scores.

use super::{SamplerKind, ThreatModel, UnknownSampler, UnknownThreatModel};
use crate::format::given;

/// A parameter outside its domain, a combination that is not defined, or outputs that cannot be
/// scored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MechanismError {
    /// σ outside [0.2, 20].
    #[error(
        "noise_multiplier = {} lies outside [0.2, 20]; pass the noise standard deviation \
         divided by the clip norm",
        given(*.value)
    )]
    NoiseMultiplier {
        /// Its value.
        value: f64,
    },
    /// T outside 1..=10⁵.
    #[error(
        "steps_per_epoch = {value} lies outside 1..=100000; pass the number of batches in one pass \
         over the data"
    )]
    StepsPerEpoch {
        /// Its value.
        value: u32,
    },
    /// E outside 1..=10³.
    #[error("epochs = {value} lies outside 1..=1000; pass the number of passes over the data")]
    Epochs {
        /// Its value.
        value: u32,
    },
    /// B = 0.
    #[error(
        "batch_size = {value} lies outside 1..=4294967295; pass the number of records per batch"
    )]
    BatchSize {
        /// Its value.
        value: u32,
    },
    /// Batches that move as a whole and are larger than 5·10⁵: their gap 2B would leave the domain
    /// of the score kernels.
    #[error(
        "batch_size = {value} lies outside 1..=500000, the domain of sampler batch-then-shuffle; \
         pass the number of records per batch"
    )]
    MovingBatchSize {
        /// Its value.
        value: u32,
    },
    /// B is missing.
    #[error("batch_size is missing and {needed_by} needs it; pass the number of records per batch")]
    BatchSizeMissing {
        /// The sampler, or the use, that needs it.
        needed_by: &'static str,
    },
    /// A buffer outside 1..=N.
    #[error(
        "buffer_examples = {value} lies outside 1..={examples}; pass a number of records, \
         at most steps_per_epoch × batch_size"
    )]
    Buffer {
        /// Its value.
        value: u64,
        /// Records of the data set, N = T·B.
        examples: u64,
    },
    /// A buffered sampler without a buffer.
    #[error(
        "buffer_examples is missing and sampler {sampler} needs it; pass its number of records"
    )]
    BufferMissing {
        /// The sampler.
        sampler: SamplerKind,
    },
    /// A buffer for a sampler that has none.
    #[error("buffer_examples = {value} has no meaning for sampler {sampler}; leave it out")]
    BufferUnused {
        /// The sampler.
        sampler: SamplerKind,
        /// Its value.
        value: u64,
    },
    /// k outside 1..=T.
    #[error(
        "uses_per_epoch = {value} lies outside 1..={steps_per_epoch}; pass the number of batches \
         of an epoch that contain a record"
    )]
    Uses {
        /// Its value.
        value: u64,
        /// Batches per epoch.
        steps_per_epoch: u32,
    },
    /// Uses per epoch of a sampler that fixes them.
    #[error(
        "uses_per_epoch = {value} has no meaning for sampler {sampler}; leave it out, or use \
         random-allocation"
    )]
    UsesUnused {
        /// The sampler.
        sampler: SamplerKind,
        /// Its value.
        value: u64,
    },
    /// Truncated batches without their maximum size.
    #[error("max_batch_size is missing and sampler {sampler} needs it; pass its number of records")]
    MaxBatchSizeMissing {
        /// The sampler.
        sampler: SamplerKind,
    },
    /// Truncated batches without the number of records.
    #[error("dataset_size is missing and sampler {sampler} needs it; pass the number of records")]
    DatasetSizeMissing {
        /// The sampler.
        sampler: SamplerKind,
    },
    /// N of truncated batches outside 1..=10¹⁰.
    #[error("dataset_size = {value} lies outside 1..=10000000000; pass the number of records")]
    DatasetSize {
        /// Its value.
        value: u64,
    },
    /// B of truncated batches above N, or below the mean of a batch.
    #[error(
        "max_batch_size = {value} lies outside {least}..={dataset_size}; pass the most records of a \
         batch, at least their mean and at most all of them"
    )]
    MaxBatchSize {
        /// Its value.
        value: u64,
        /// Its least value.
        least: u64,
        /// N.
        dataset_size: u64,
    },
    /// A maximum batch size for a sampler that does not truncate batches.
    #[error(
        "max_batch_size = {value} has no meaning for sampler {sampler}; leave it out, or use \
         truncated-poisson"
    )]
    MaxBatchSizeUnused {
        /// The sampler.
        sampler: SamplerKind,
        /// Its value.
        value: u64,
    },
    /// A sampler without a valid audit under this threat model.
    #[error(
        "sampler {sampler} is not defined with threat model {threat_model}; use {}",
        sampler.default_threat_model()
    )]
    UndefinedPair {
        /// The sampler.
        sampler: SamplerKind,
        /// The threat model.
        threat_model: ThreatModel,
    },
    /// A name that is no sampler.
    #[error(transparent)]
    UnknownSampler(#[from] UnknownSampler),
    /// A name that is no threat model.
    #[error(transparent)]
    UnknownThreatModel(#[from] UnknownThreatModel),
    /// A slot beyond the epoch.
    #[error("target_slot = {value} lies outside 0..{steps_per_epoch}; slots count from 0")]
    TargetSlot {
        /// Its value.
        value: u32,
        /// Batches per epoch.
        steps_per_epoch: u32,
    },
    /// A slot for a sampler that draws it.
    #[error("target_slot = {value} has no meaning for sampler {sampler}, which draws it; use 0")]
    TargetSlotUnused {
        /// Its value.
        value: u32,
        /// The sampler.
        sampler: SamplerKind,
    },
    /// A prefix outside 1..=T.
    #[error("prefix = {value} lies outside 1..={steps_per_epoch}; pass a number of batches")]
    Prefix {
        /// Its value.
        value: u32,
        /// Batches per epoch.
        steps_per_epoch: u32,
    },
    /// Prefix scores for a sampler that does not draw the target's slot anew among the first
    /// batches.
    #[error(
        "prefix scores are not defined for sampler {sampler}; use shuffle, partial-shuffle or \
         sliding-buffer"
    )]
    PrefixSampler {
        /// The sampler.
        sampler: SamplerKind,
    },
    /// A clip norm that is not finite and positive.
    #[error("clip_norm = {} is not a positive finite number", given(*.value))]
    ClipNorm {
        /// Its value.
        value: f64,
    },
    /// Weights that do not match the entries.
    #[error(
        "weights has {actual} values where the distribution has {expected} entries; pass one per entry"
    )]
    WeightCount {
        /// Its value.
        actual: usize,
        /// Entries of an epoch.
        expected: usize,
    },
    /// A run with too few or too many outputs.
    #[error("outputs has {actual} values where epochs × steps are {expected}; pass one run")]
    OutputCount {
        /// Its value.
        actual: usize,
        /// Outputs of one observation.
        expected: u64,
    },
    /// An output that is not finite: the run counts against the attacker.
    #[error(
        "outputs[epoch {epoch}, step {step}] = {} is not finite; count the run as failed",
        given(*.value)
    )]
    NonFiniteOutput {
        /// Epoch, from 0.
        epoch: usize,
        /// Step in the epoch, from 0.
        step: usize,
        /// Its value.
        value: f64,
    },
    /// Finite outputs so large that the score overflows.
    #[error(
        "score = {}: the outputs are too large to score; check their unit (clip norm)",
        given(*.value)
    )]
    NonFiniteScore {
        /// The score.
        value: f64,
    },
}
