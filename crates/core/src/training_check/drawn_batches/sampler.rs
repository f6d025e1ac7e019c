//! Samplers that drawn batches may fit.

use super::LoaderTestKind;
use crate::mechanism::BatchSampler;
use crate::training_check::{LoaderBatches, OtherBatches};

/// The sampler that drawn batches fit: the first variant that facts and tests permit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "name", rename_all = "kebab-case"))]
pub enum DrawnSampler {
    /// Each epoch has the same batches in the same order.
    Deterministic,
    /// Each epoch has one order, and two loaders of one function have different ones.
    PersistentShuffle,
    /// Each epoch has the batches of the first one in another order.
    BatchThenShuffle,
    /// Records come in an order that depends on that of the file.
    PartialShuffle {
        /// The least buffer that explains the order, in records.
        least_buffer: u64,
        /// Whether so small a buffer is too unlikely in a full shuffle; else only the correlation of
        /// batches with record numbers is.
        is_buffer: bool,
    },
    /// Neighbours in the file stay together, or apart.
    Chunks {
        /// Whether they stay together.
        is_together: bool,
    },
    /// Each record at most once per epoch, in an order that depends on that of the epoch before.
    RepeatsEarlierEpochs {
        /// The test that shows it.
        by: LoaderTestKind,
    },
    /// A fresh uniform order in each epoch, cut into batches.
    Shuffle,
    /// Each record chooses its batch of an epoch.
    BallsInBins,
    /// Each record at most once per epoch, in batches whose sizes fit no sampler that is known here.
    UnevenBatches,
    /// Records of a batch are drawn with replacement.
    WithReplacement,
    /// A shuffle with some records again, so that all batches have one size.
    PaddedShuffle,
    /// Records are drawn with different rates.
    UnequalRates,
    /// Uses of records are more even than independent batches make them.
    Balanced,
    /// Records several times per epoch, in batches that depend on each other or have other sizes.
    Other {
        /// The test that shows it.
        by: LoaderTestKind,
    },
    /// Each batch is a uniform subset of fixed size.
    FixedSize,
    /// Each record is in each batch independently, with one rate.
    Poisson,
}

/// What a [`DrawnSampler`] rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum DrawnEvidence {
    /// It holds for all epochs that were drawn.
    Facts,
    /// A test rejects every sampler before it, at the level of the check.
    Rejection,
    /// No test rejects it, which proves nothing.
    NotRejected,
}

impl DrawnSampler {
    /// The name in documents.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            DrawnSampler::Deterministic => "deterministic",
            DrawnSampler::PersistentShuffle => "persistent-shuffle",
            DrawnSampler::BatchThenShuffle => "batch-then-shuffle",
            DrawnSampler::PartialShuffle { .. } => "partial-shuffle",
            DrawnSampler::Chunks { .. } => "chunks",
            DrawnSampler::RepeatsEarlierEpochs { .. } => "repeats-earlier-epochs",
            DrawnSampler::Shuffle => "shuffle",
            DrawnSampler::BallsInBins => "balls-in-bins",
            DrawnSampler::UnevenBatches => "uneven-batches",
            DrawnSampler::WithReplacement => "with-replacement",
            DrawnSampler::PaddedShuffle => "padded-shuffle",
            DrawnSampler::UnequalRates => "unequal-rates",
            DrawnSampler::Balanced => "balanced",
            DrawnSampler::Other { .. } => "other",
            DrawnSampler::FixedSize => "fixed-size",
            DrawnSampler::Poisson => "poisson",
        }
    }

    /// What a check of a described training knows of such batches; none if nothing.
    ///
    /// A buffer fills in the order of the file and is drawn from, as that of tf.data.
    #[must_use]
    pub const fn loader(&self) -> Option<LoaderBatches> {
        let sampler = match *self {
            DrawnSampler::Deterministic => BatchSampler::Deterministic,
            DrawnSampler::PersistentShuffle => BatchSampler::PersistentShuffle,
            DrawnSampler::BatchThenShuffle => BatchSampler::BatchThenShuffle,
            DrawnSampler::PartialShuffle { least_buffer, is_buffer: true } => {
                BatchSampler::SlidingBuffer { buffer_examples: least_buffer }
            }
            DrawnSampler::Shuffle => BatchSampler::Shuffle,
            DrawnSampler::BallsInBins => BatchSampler::BallsInBins,
            DrawnSampler::FixedSize => BatchSampler::FixedSize,
            DrawnSampler::Poisson => BatchSampler::Poisson,
            DrawnSampler::PartialShuffle { is_buffer: false, .. }
            | DrawnSampler::Chunks { .. }
            | DrawnSampler::RepeatsEarlierEpochs { .. }
            | DrawnSampler::UnevenBatches => {
                return Some(LoaderBatches::Other(OtherBatches::OncePerEpoch));
            }
            DrawnSampler::WithReplacement => {
                return Some(LoaderBatches::Other(OtherBatches::WithReplacement));
            }
            DrawnSampler::PaddedShuffle
            | DrawnSampler::UnequalRates
            | DrawnSampler::Balanced
            | DrawnSampler::Other { .. } => return None,
        };
        Some(LoaderBatches::Sampler(sampler))
    }

    /// What it rests on.
    #[must_use]
    pub const fn evidence(&self) -> DrawnEvidence {
        match self {
            DrawnSampler::Deterministic
            | DrawnSampler::PersistentShuffle
            | DrawnSampler::BatchThenShuffle
            | DrawnSampler::WithReplacement
            | DrawnSampler::PaddedShuffle => DrawnEvidence::Facts,
            DrawnSampler::PartialShuffle { .. }
            | DrawnSampler::Chunks { .. }
            | DrawnSampler::RepeatsEarlierEpochs { .. }
            | DrawnSampler::UnevenBatches
            | DrawnSampler::UnequalRates
            | DrawnSampler::Balanced
            | DrawnSampler::Other { .. } => DrawnEvidence::Rejection,
            DrawnSampler::Shuffle
            | DrawnSampler::BallsInBins
            | DrawnSampler::FixedSize
            | DrawnSampler::Poisson => DrawnEvidence::NotRejected,
        }
    }
}
