//! Findings of a check, in numbers and in words.

use std::fmt;

use crate::mechanism::SamplerKind;

/// What a finding means for the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Severity {
    /// The claim is false for the training that is described.
    Refutes,
    /// The claim rests on something else than the training that is described.
    Warning,
    /// Worth knowing.
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

/// Where a wrong number of steps comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum StepsReading {
    /// ⌊N/B⌋·E where the last batch is kept.
    LastBatchDropped,
    /// ⌈N/B⌉·E where the last batch is dropped.
    LastBatchKept,
    /// E·N/B, rounded once for all epochs.
    EpochsRounded,
    /// The steps of one epoch.
    OneEpoch,
    /// The number of epochs.
    Epochs,
}

impl StepsReading {
    fn in_words(self) -> &'static str {
        match self {
            StepsReading::LastBatchDropped => " (the number without the last batch of each epoch)",
            StepsReading::LastBatchKept => " (the number with the last batch of each epoch)",
            StepsReading::EpochsRounded => {
                " (epochs times records over batch size, rounded once instead of in every epoch)"
            }
            StepsReading::OneEpoch => " (the steps of one epoch)",
            StepsReading::Epochs => " (the number of epochs)",
        }
    }
}

/// A finding. `Display` writes it as a sentence, with what to change.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TrainingFinding"))]
#[cfg_attr(feature = "serde", serde(tag = "code", rename_all = "kebab-case"))]
#[allow(missing_docs, reason = "the fields are the numbers of the sentence that Display writes")]
#[non_exhaustive]
pub enum Finding {
    /// ε is claimed below what is proven for this loader.
    ClaimBelowBound { claim: f64, lower: f64, loader: SamplerKind },
    /// ε is claimed below what the assumed accountant itself gives.
    ClaimBelowAccountant { claim: f64, lower: f64, accountant: SamplerKind },
    /// The accountant assumes another sampler.
    OtherSampler { accountant: SamplerKind, loader: SamplerKind },
    /// The accountant used another sampling rate.
    SamplingRateDiffers { accounted: f64, actual: f64 },
    /// The accountant used another number of steps.
    StepsDiffer { accounted: u64, actual: u64, reading: Option<StepsReading> },
    /// The code's noise is off by the batch size: a mean was taken for a sum, or a sum for a mean.
    NoiseScaledByBatchSize { accounted: f64, drawn: f64, batch_size: u64 },
    /// The code's noise is not that of the noise multiplier.
    NoiseDiffers { accounted: f64, drawn: f64 },
    /// The shuffle buffer holds a part of the data.
    BufferBelowData { buffer_examples: u64, dataset_size: u64 },
    /// δ is so large that it allows to publish a record.
    DeltaNotBelowOneRecord { delta: f64, dataset_size: u64 },
    /// The last batch of each epoch is smaller.
    PartialLastBatch { records: u64, steps_per_epoch: u64 },
    /// Some records are left out of each epoch.
    RecordsLeftOut { records: u64, steps_per_epoch: u64 },
    /// The accountant's sampler is unspecified.
    AccountantUnknown,
    /// No lower bound could be computed for these numbers.
    NoLowerBound { loader: SamplerKind },
    /// The claim is not below the proven upper bound.
    ClaimCovered { claim: f64, upper: f64 },
}

impl Finding {
    /// What it means for the claim.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Finding::ClaimBelowBound { .. } => Severity::Refutes,
            Finding::PartialLastBatch { .. }
            | Finding::RecordsLeftOut { .. }
            | Finding::AccountantUnknown
            | Finding::NoLowerBound { .. }
            | Finding::ClaimCovered { .. } => Severity::Note,
            _ => Severity::Warning,
        }
    }

    /// The name in documents, which does not change.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Finding::ClaimBelowBound { .. } => "claim-below-bound",
            Finding::ClaimBelowAccountant { .. } => "claim-below-accountant",
            Finding::OtherSampler { .. } => "other-sampler",
            Finding::SamplingRateDiffers { .. } => "sampling-rate-differs",
            Finding::StepsDiffer { .. } => "steps-differ",
            Finding::NoiseScaledByBatchSize { .. } => "noise-scaled-by-batch-size",
            Finding::NoiseDiffers { .. } => "noise-differs",
            Finding::BufferBelowData { .. } => "buffer-below-data",
            Finding::DeltaNotBelowOneRecord { .. } => "delta-not-below-one-record",
            Finding::PartialLastBatch { .. } => "partial-last-batch",
            Finding::RecordsLeftOut { .. } => "records-left-out",
            Finding::AccountantUnknown => "accountant-unknown",
            Finding::NoLowerBound { .. } => "no-lower-bound",
            Finding::ClaimCovered { .. } => "claim-covered",
        }
    }
}

/// How a loader draws, as a part of a sentence.
fn draws(sampler: SamplerKind) -> &'static str {
    match sampler {
        SamplerKind::Poisson => "draws each record into each batch independently (Poisson)",
        SamplerKind::Shuffle => "shuffles all records anew in every epoch",
        SamplerKind::PersistentShuffle => "uses one shuffled order in every epoch",
        SamplerKind::BallsInBins => "puts each record into one random batch of each epoch",
        SamplerKind::Deterministic => "reads the records in a fixed order",
        SamplerKind::PartialShuffle => "shuffles blocks of records, one after another",
        SamplerKind::SlidingBuffer => "draws from a sliding buffer of records",
        SamplerKind::BatchThenShuffle => "forms batches first and shuffles their order",
    }
}

/// A lower bound with as many digits as show that it exceeds the claim, rounded down.
fn above(claim: f64, lower: f64) -> String {
    let shown = (lower * 1e4).floor() / 1e4;
    if shown > claim { format!("{shown:.4}") } else { format!("{lower}") }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Finding::ClaimBelowBound { claim, lower, loader } => write!(
                f,
                "the claimed ε is {claim}, but a loader that {} leaks at least ε = {} with this \
                 noise: proven, not measured. Claim more, add noise for this loader, or draw Poisson \
                 batches.",
                draws(loader),
                above(claim, lower)
            ),
            Finding::ClaimBelowAccountant { claim, lower, accountant } => write!(
                f,
                "the claimed ε is {claim}, but {accountant} accounting itself gives at least {} with \
                 these numbers: the arithmetic is wrong, or other numbers were accounted. Run the \
                 accountant again.",
                above(claim, lower)
            ),
            Finding::OtherSampler { accountant, loader } => write!(
                f,
                "the accountant assumes {accountant} batches, but the loader {}. Its ε is not proven for \
                 this training: account for the loader that is used, or draw {accountant} batches.",
                draws(loader)
            ),
            Finding::SamplingRateDiffers { accounted, actual } => write!(
                f,
                "the accountant used a sampling rate of {accounted}, but batch size over records \
                 is {actual:.6}, {} times that. Account with batch size divided by the number of \
                 records in the data.",
                ratio(actual / accounted)
            ),
            Finding::StepsDiffer { accounted, actual, reading } => write!(
                f,
                "the accountant used {accounted} steps{}, but the loader makes {actual}. Account \
                 with {actual}.",
                reading.map_or("", StepsReading::in_words)
            ),
            Finding::NoiseScaledByBatchSize { accounted, drawn, batch_size } => write!(
                f,
                "the accountant used a noise multiplier of {accounted}, but the code's noise \
                 multiplier is {}: off by the batch size {batch_size}. Noise for a sum has the \
                 standard deviation noise multiplier × clip norm; for a mean, divide that by the \
                 batch size.",
                decimals(drawn)
            ),
            Finding::NoiseDiffers { accounted, drawn } => write!(
                f,
                "the accountant used a noise multiplier of {accounted}, but the code's noise \
                 multiplier is {}. Account with the noise that the code adds.",
                decimals(drawn)
            ),
            Finding::BufferBelowData { buffer_examples, dataset_size } => write!(
                f,
                "the shuffle buffer contains {buffer_examples} of {dataset_size} records, so a \
                 record's position in the file limits the batches that can contain it. Use a \
                 buffer of at least {dataset_size} records, or shuffle the file itself."
            ),
            Finding::DeltaNotBelowOneRecord { delta, dataset_size } => write!(
                f,
                "δ = {delta:e} is not below 1/{dataset_size}: publishing a record at random would be \
                 allowed. Choose a δ well below one over the number of records."
            ),
            _ => self.fmt_note(f),
        }
    }
}

impl Finding {
    fn fmt_note(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Finding::PartialLastBatch { records, steps_per_epoch } => write!(
                f,
                "the last of {steps_per_epoch} batches per epoch contains {records} records. Count it \
                 as a step, and divide its sum by the same batch size."
            ),
            Finding::RecordsLeftOut { records, steps_per_epoch } => {
                write!(f, "each epoch of {steps_per_epoch} batches leaves out {records} records.")
            }
            Finding::AccountantUnknown => write!(
                f,
                "the sampler assumed by the accountant is unspecified; nearly all assume Poisson. \
                 Specify it to compare it with the loader."
            ),
            Finding::NoLowerBound { loader } => write!(
                f,
                "no lower bound can be computed for {loader} with these numbers: nothing can be \
                 refuted here."
            ),
            Finding::ClaimCovered { claim, upper } => write!(
                f,
                "the claimed ε = {claim} is not below the proven upper bound {}: it holds for the \
                 training as described. Whether the code does what is described is another question.",
                (upper * 1e4).ceil() / 1e4
            ),
            _ => Ok(()),
        }
    }
}

/// At most six decimals.
fn decimals(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A ratio in three digits.
fn ratio(value: f64) -> String {
    if (0.01..1000.0).contains(&value) { format!("{value:.3}") } else { format!("{value:.2e}") }
}
