//! Findings of a check.

use std::fmt;

use super::LoaderKind;
use crate::adjacency::Adjacency;
use crate::mechanism::SamplerKind;

/// Severity of a finding for the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Severity {
    /// The claim is false for the described training.
    Refutes,
    /// The claim was derived for another training.
    Warning,
    /// A note.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Severity::Refutes => "refutes",
            Severity::Warning => "warning",
            Severity::Note => "note",
        })
    }
}

/// Explanation of a wrong number of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum StepsReading {
    /// ⌊N/B⌋·E, although the last batch is used.
    LastBatchDropped,
    /// ⌈N/B⌉·E, although the last batch is dropped.
    LastBatchKept,
    /// E·N/B, rounded once for all epochs.
    EpochsRounded,
    /// The steps of one epoch.
    OneEpoch,
    /// The number of epochs.
    Epochs,
}

/// Something that a check finds, with its numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TrainingFinding"))]
#[cfg_attr(feature = "serde", serde(tag = "code", rename_all = "kebab-case"))]
#[allow(missing_docs, reason = "the fields are the numbers of the sentence about the finding")]
#[non_exhaustive]
pub enum Finding {
    /// The claimed ε is below a proven bound for this loader.
    ClaimBelowBound { claim: f64, lower: f64, loader: LoaderKind },
    /// The claimed ε is below the value of the assumed accountant.
    ClaimBelowAccountant { claim: f64, lower: f64, accountant: SamplerKind },
    /// The accountant assumes another sampler.
    OtherSampler { accountant: SamplerKind, loader: LoaderKind },
    /// The sampling rate of the loader is unknown, and the claim lies between the values at its possible
    /// rates.
    SamplingRateUnknown { least: f64, most: f64 },
    /// The accountant used another sampling rate.
    SamplingRateDiffers { accounted: f64, actual: f64 },
    /// The accountant used another number of steps.
    StepsDiffer { accounted: u64, actual: u64, reading: Option<StepsReading> },
    /// The noise in the code is off by the batch size: a mean was confused with a sum.
    NoiseScaledByBatchSize { accounted: f64, drawn: f64, batch_size: u64 },
    /// The noise in the code does not match the noise multiplier.
    NoiseDiffers { accounted: f64, drawn: f64 },
    /// The shuffle buffer is smaller than the data set.
    BufferBelowData { buffer_examples: u64, dataset_size: u64 },
    /// δ is so large that it permits publishing a record.
    DeltaNotBelowOneRecord { delta: f64, dataset_size: u64 },
    /// The last batch of each epoch is smaller.
    PartialLastBatch { records: u64, steps_per_epoch: u64 },
    /// The noise is added to means of batches of random size.
    NoiseOfRandomSize { batch_size: u64 },
    /// The last batch of each epoch is smaller, and the noise is added to means.
    LastBatchHasLessNoise { records: u64, batch_size: u64, noise_multiplier: f64 },
    /// Some records are left out of each epoch.
    RecordsLeftOut { records: u64, steps_per_epoch: u64 },
    /// The accountant's sampler is unspecified.
    AccountantUnknown,
    /// No lower bound could be computed for these numbers.
    NoLowerBound { loader: LoaderKind },
    /// No upper bound is proven for these batches.
    NoUpperBound { loader: LoaderKind },
    /// An upper bound is proven under zero-out adjacency, but not under that of the claim.
    UpperBoundForZeroOut { adjacency: Adjacency, upper: f64 },
    /// The claim is not below the proven upper bound.
    ClaimCovered { claim: f64, upper: f64 },
}

impl Finding {
    /// Its severity.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Finding::ClaimBelowBound { .. } => Severity::Refutes,
            Finding::PartialLastBatch { .. }
            | Finding::RecordsLeftOut { .. }
            | Finding::AccountantUnknown
            | Finding::SamplingRateUnknown { .. }
            | Finding::NoLowerBound { .. }
            | Finding::NoUpperBound { .. }
            | Finding::UpperBoundForZeroOut { .. }
            | Finding::ClaimCovered { .. } => Severity::Note,
            _ => Severity::Warning,
        }
    }

    /// The stable name in documents.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Finding::ClaimBelowBound { .. } => "claim-below-bound",
            Finding::ClaimBelowAccountant { .. } => "claim-below-accountant",
            Finding::OtherSampler { .. } => "other-sampler",
            Finding::SamplingRateUnknown { .. } => "sampling-rate-unknown",
            Finding::SamplingRateDiffers { .. } => "sampling-rate-differs",
            Finding::StepsDiffer { .. } => "steps-differ",
            Finding::NoiseScaledByBatchSize { .. } => "noise-scaled-by-batch-size",
            Finding::NoiseDiffers { .. } => "noise-differs",
            Finding::BufferBelowData { .. } => "buffer-below-data",
            Finding::DeltaNotBelowOneRecord { .. } => "delta-not-below-one-record",
            Finding::PartialLastBatch { .. } => "partial-last-batch",
            Finding::NoiseOfRandomSize { .. } => "noise-of-random-size",
            Finding::LastBatchHasLessNoise { .. } => "last-batch-has-less-noise",
            Finding::RecordsLeftOut { .. } => "records-left-out",
            Finding::AccountantUnknown => "accountant-unknown",
            Finding::NoLowerBound { .. } => "no-lower-bound",
            Finding::NoUpperBound { .. } => "no-upper-bound",
            Finding::UpperBoundForZeroOut { .. } => "upper-bound-for-zero-out",
            Finding::ClaimCovered { .. } => "claim-covered",
        }
    }
}
