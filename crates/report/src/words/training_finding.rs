//! Findings about a described training in words.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::{Finding, LoaderKind, OtherBatches, StepsReading};

use super::one_run::adjacency_in_words;
use super::sampler::sampler_words;

/// What a finding says, with what to change.
#[must_use]
pub fn training_finding_sentence(finding: &Finding) -> String {
    match *finding {
        Finding::ClaimBelowBound { claim, lower, loader } => format!(
            "the claimed ε is {claim}, but a loader that {} leaks at least ε = {} with this \
             noise: proven, not measured. {}",
            draws(loader),
            above(claim, lower),
            match loader {
                LoaderKind::Sampler(SamplerKind::Poisson) => "Claim more, or add noise.",
                _ => "Claim more, add noise for this loader, or draw Poisson batches.",
            }
        ),
        Finding::ClaimBelowAccountant { claim, lower, accountant } => format!(
            "the claimed ε is {claim}, but {accountant} accounting itself gives at least {} with \
             these numbers: the arithmetic is wrong, or the accountant was given other \
             numbers. Run the accountant again.",
            above(claim, lower)
        ),
        Finding::OtherSampler { accountant, loader } => format!(
            "the accountant assumes {accountant} batches, but the loader {}. Its ε is not proven for \
             this training: use an accountant for this loader, or draw {accountant} batches.",
            draws(loader)
        ),
        Finding::SamplingRateDiffers { accounted, actual } => format!(
            "the accountant used a sampling rate of {accounted}, but that of the loader is \
             {actual:.6}, {} times that. Account with the probability with which the loader draws \
             each record: batch size over records, or one over the batches per epoch with Opacus.",
            ratio(actual / accounted)
        ),
        Finding::StepsDiffer { accounted, actual, reading } => format!(
            "the accountant used {accounted} steps{}, but the loader makes {actual}. Account \
             with {actual}.",
            reading.map_or("", reading_in_words)
        ),
        Finding::NoiseScaledByBatchSize { accounted, drawn, batch_size } => format!(
            "the accountant used a noise multiplier of {accounted}, but the code's noise \
             multiplier is {}: off by the batch size {batch_size}. Noise for a sum has the \
             standard deviation noise multiplier × clip norm; for a mean, divide that by the \
             batch size.",
            decimals(drawn)
        ),
        Finding::NoiseDiffers { accounted, drawn } => format!(
            "the accountant used a noise multiplier of {accounted}, but the code's noise \
             multiplier is {}. Account with the noise that the code adds.",
            decimals(drawn)
        ),
        Finding::BufferBelowData { buffer_examples, dataset_size } => format!(
            "the shuffle buffer contains {buffer_examples} of {dataset_size} records, so a \
             record's position in the file limits the batches that can contain it. Use a \
             buffer of at least {dataset_size} records, or shuffle the file itself."
        ),
        Finding::DeltaNotBelowOneRecord { delta, dataset_size } => format!(
            "δ = {delta:e} is not below 1/{dataset_size}: publishing a record at random would be \
             allowed. Choose a δ well below one over the number of records."
        ),
        Finding::NoiseOfRandomSize { batch_size } => format!(
            "noise is added to the mean of a batch whose size is random: smaller batches have less \
             noise. Add the noise to the sum and divide by {batch_size}."
        ),
        Finding::LastBatchHasLessNoise { records, batch_size, noise_multiplier } => format!(
            "noise is added to the mean of a batch, and the last batch of each epoch contains \
             {records} records instead of {batch_size}: divided by {records}, its noise multiplier \
             is only {}. Drop that batch, or add the noise to the sum and divide every sum by \
             {batch_size}.",
            decimals(noise_multiplier)
        ),
        _ => note(finding),
    }
}

fn note(finding: &Finding) -> String {
    match *finding {
        Finding::PartialLastBatch { records, steps_per_epoch } => format!(
            "the last of {steps_per_epoch} batches per epoch contains {records} records. Count it \
             as a step, and add the same noise to its sum as to the other sums; the same noise on \
             its mean is not enough."
        ),
        Finding::RecordsLeftOut { records, steps_per_epoch } => {
            format!("each epoch of {steps_per_epoch} batches leaves out {records} records.")
        }
        Finding::AccountantUnknown => {
            "the sampler assumed by the accountant is unspecified; nearly all assume Poisson. \
             Specify it to compare it with the loader."
                .to_owned()
        }
        Finding::SamplingRateUnknown { least, most } => format!(
            "this loader draws each record with probability {} (at least) or {} (at most): batch \
             size over records, or one over the batches per epoch, as Opacus does. The smaller one \
             refutes a claim, the larger one confirms it. To decide this claim, state the sampling \
             rate, or name the library's loader.",
            decimals(least),
            decimals(most)
        ),
        Finding::NoLowerBound { loader } => format!(
            "no lower bound can be computed for loader {loader} with these numbers: nothing can be \
             refuted here."
        ),
        Finding::NoUpperBound { loader } => format!(
            "no upper bound is known for a loader that {}: no claim can be confirmed here, however \
             large.",
            draws(loader)
        ),
        Finding::UpperBoundForZeroOut { adjacency, upper } => format!(
            "no upper bound is proven under {} adjacency: {}. Under zero-out adjacency the training \
             as described leaks at most ε = {} (proven); to check the claim there, use \
             --claim-adjacency zero-out.",
            adjacency_in_words(adjacency),
            match adjacency {
                Adjacency::Replace => "another record may move a sum by twice the clip norm",
                _ => "if a record is removed, those after it move to other batches",
            },
            (upper * 1e4).ceil() / 1e4
        ),
        Finding::ClaimCovered { claim, upper } => format!(
            "the training as described leaks at most ε = {} (proven), so the claimed ε = {claim} \
             covers it.",
            (upper * 1e4).ceil() / 1e4
        ),
        _ => "an unknown finding".to_owned(),
    }
}

/// Where a wrong number of steps comes from.
fn reading_in_words(reading: StepsReading) -> &'static str {
    match reading {
        StepsReading::LastBatchDropped => " (the number without the last batch of each epoch)",
        StepsReading::LastBatchKept => " (the number with the last batch of each epoch)",
        StepsReading::EpochsRounded => {
            " (epochs times records over batch size, rounded once instead of in every epoch)"
        }
        StepsReading::OneEpoch => " (the steps of one epoch)",
        StepsReading::Epochs => " (the number of epochs)",
    }
}

/// How a loader draws, as a part of a sentence.
fn draws(loader: LoaderKind) -> &'static str {
    match loader {
        LoaderKind::Sampler(sampler) => sampler_words(sampler).draws,
        LoaderKind::Other(other) => draws_otherwise(other),
    }
}

fn draws_otherwise(other: OtherBatches) -> &'static str {
    match other {
        OtherBatches::WithReplacement => "draws each record of a batch from all records",
        OtherBatches::OncePerEpoch => {
            "uses each record at most once per epoch, in an order of unknown distribution"
        }
        OtherBatches::Unknown => "forms batches in an unknown way",
    }
}

/// A lower bound with as many digits as show that it exceeds the claim, rounded down.
fn above(claim: f64, lower: f64) -> String {
    let shown = (lower * 1e4).floor() / 1e4;
    if shown > claim { format!("{shown:.4}") } else { format!("{lower}") }
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
