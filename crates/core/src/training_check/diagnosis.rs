//! Diagnosis of a described training.

use super::bounds;
use super::error::within;
use super::{
    AssumedAccounting, CheckTarget, CheckVerdict, EpsilonBounds, Finding, LoaderKind, OtherBatches,
    StepsReading, TrainingError, TrainingSetup,
};
use crate::accounting::{Accounted, Training};
use crate::adjacency::Adjacency;
use crate::mechanism::SamplerKind;

/// Relative difference of rates or noise multipliers that rounding may explain.
const TOLERANCE: f64 = 0.01;

/// Quantities, proven bounds, findings and the verdict for a training.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Diagnosis {
    /// Sampling rate q: that of the loader if it is known, else B/N.
    pub sampling_rate: f64,
    /// Steps per epoch, T.
    pub steps_per_epoch: u64,
    /// Steps of all epochs, T·E.
    pub steps: u64,
    /// σ of the noise in the code.
    pub noise_multiplier: f64,
    /// Proven lower bound on ε of the loader, if it can be computed.
    pub lower: Option<Accounted>,
    /// Proven upper bound, likewise; none where it is not proven under the adjacency of the claim.
    pub upper: Option<Accounted>,
    /// ε of Poisson accounting at q, T·E and σ, if its grid is not too large.
    pub poisson: Option<Accounted>,
    /// Findings, the most severe first.
    pub findings: Vec<Finding>,
    /// What is proven of the claim, if there is one.
    pub verdict: Option<CheckVerdict>,
}

/// Bounds ε of the described training, and compares a claim with them.
///
/// A claim below a proven lower bound of the loader is refuted: for shuffles, the closed forms of
/// [`TargetSlots`](crate::accounting::shuffle::TargetSlots), for other loaders, the accountant's
/// value rounded down. Poisson batches may have q = B/N or one over the batches per epoch: the
/// smaller one refutes, the larger one is the upper bound. For batches that no sampler describes,
/// [`OtherBatches`] lists what is proven.
///
/// | argument | meaning |
/// |---|---|
/// | `setup` | the training |
/// | `assumed` | the assumptions of the accountant |
/// | `target` | δ and adjacency, with the claimed ε if one is to be tested |
///
/// # Guarantee
/// The bounds hold for every loader
/// (`tests/oracles/training_check.rs::loaders_leak_at_least_their_bound`,
/// `tests/oracles/training_check.rs::other_batches_leak_at_least_their_bound`).
///
/// # Errors
/// [`TrainingError`] for values outside their domain.
///
/// # Example
/// ```
/// use dpscope_core::adjacency::Adjacency;
/// use dpscope_core::audit::claim::PrivacyClaim;
/// use dpscope_core::mechanism::BatchSampler;
/// use dpscope_core::training_check::{AssumedAccounting, CheckVerdict, TrainingSetup, diagnose};
///
/// let setup = TrainingSetup {
///     dataset_size: 60_000,
///     batch_size: 256,
///     epochs: 20,
///     partial_epoch_steps: 0,
///     noise_multiplier: 0.8,
///     drawn_noise: None,
///     loader: BatchSampler::Shuffle.into(),
///     drop_last: false,
///     drawn_rate: None,
///     draws_per_epoch: None,
/// };
/// let claim = PrivacyClaim { epsilon: 3.0, delta: 1e-5, adjacency: Adjacency::AddRemove };
/// let found = diagnose(&setup, &AssumedAccounting::default(), &claim)?;
/// assert_eq!(found.verdict, Some(CheckVerdict::Refuted));
/// assert_eq!(found.findings[0].code(), "claim-below-bound");
/// # Ok::<(), dpscope_core::training_check::TrainingError>(())
/// ```
pub fn diagnose(
    setup: &TrainingSetup,
    assumed: &AssumedAccounting,
    target: impl Into<CheckTarget>,
) -> Result<Diagnosis, TrainingError> {
    let target = target.into();
    setup.check()?;
    assumed.check()?;
    target.check()?;
    let delta = target.delta;
    let allowed = match delta {
        0.0 => "above 0: Gaussian noise has no finite epsilon at delta 0",
        _ => "at least 1e-50 and below 1",
    };
    within("delta", delta, [1e-50, 1.0 - f64::EPSILON], allowed)?;
    let noise_multiplier = setup.drawn_noise_multiplier();
    let (sampling_rate, steps) = (setup.sampling_rate(), setup.steps());
    let lower = bounds::lower(setup, target.adjacency, delta);
    let upper = bounds::upper(setup, &target);
    let every_step = setup.schedule().poisson();
    let described = Training { noise_multiplier, sampling_rate: Some(sampling_rate), ..every_step };
    let poisson = bounds::poisson_upper(&described, delta);
    let mut findings = Vec::new();
    findings.extend(about_claim(setup, assumed, &target, lower.as_ref(), upper.as_ref()));
    findings.extend(about_accountant(setup, assumed, target.epsilon));
    findings.extend(about_data(setup, delta));
    let [least, most] = [lower, upper].map(|bound| bound.map(|bound| bound.epsilon));
    let proven = EpsilonBounds { lower: least, upper: most, zero_out_upper: None };
    let verdict = target.epsilon.map(|claimed| proven.verdict(claimed));
    findings.extend(target.epsilon.and_then(|claimed| open_rate(setup, proven, claimed)));
    findings.sort_by_key(Finding::severity);
    Ok(Diagnosis {
        sampling_rate,
        steps_per_epoch: setup.steps_per_epoch(),
        steps,
        noise_multiplier,
        lower,
        upper,
        poisson,
        findings,
        verdict,
    })
}

fn about_claim(
    setup: &TrainingSetup,
    assumed: &AssumedAccounting,
    target: &CheckTarget,
    lower: Option<&Accounted>,
    upper: Option<&Accounted>,
) -> Vec<Finding> {
    let loader = setup.loader.kind();
    let mut findings = Vec::new();
    match (lower.map(|lower| lower.epsilon), target.epsilon) {
        (None, _) => findings.push(Finding::NoLowerBound { loader }),
        (Some(lower), Some(claim)) if lower > claim => {
            findings.push(Finding::ClaimBelowBound { claim, lower, loader });
        }
        _ => {}
    }
    let zero_out = CheckTarget { adjacency: Adjacency::ZeroOut, ..*target };
    let for_zero_out = bounds::is_for_zero_out_alone(setup.loader, target.adjacency)
        .then(|| bounds::upper(setup, &zero_out))
        .flatten();
    if let Some(upper) = for_zero_out {
        let (adjacency, upper) = (target.adjacency, upper.epsilon);
        findings.push(Finding::UpperBoundForZeroOut { adjacency, upper });
    } else if upper.is_none() && loader.sampler().is_none() {
        findings.push(Finding::NoUpperBound { loader });
    }
    let Some(claim) = target.epsilon else { return findings };
    if let Some(upper) = upper.map(|upper| upper.epsilon).filter(|&upper| upper <= claim) {
        findings.push(Finding::ClaimCovered { claim, upper });
    }
    let accountant = bounds::accountant_lower(setup, assumed, target.delta);
    if let (Some(accountant), Some(lower)) = (assumed.sampler, accountant)
        && lower.epsilon > claim
    {
        let lower = lower.epsilon;
        findings.push(Finding::ClaimBelowAccountant { claim, lower, accountant });
    }
    findings
}

/// The finding that stating the sampling rate could decide the claim.
fn open_rate(setup: &TrainingSetup, bounds: EpsilonBounds, claimed: f64) -> Option<Finding> {
    let [least, most] = setup.sampling_rates();
    let is_between = bounds.lower.is_some_and(|lower| lower <= claimed)
        && bounds.upper.is_some_and(|upper| upper > claimed);
    let is_poisson = setup.loader.kind().sampler().is_some_and(SamplerKind::draws_each_record);
    let is_open =
        bounds.verdict(claimed) == CheckVerdict::Inconclusive && is_between && least < most;
    (is_open && is_poisson).then_some(Finding::SamplingRateUnknown { least, most })
}

fn about_accountant(
    setup: &TrainingSetup,
    assumed: &AssumedAccounting,
    claimed: Option<f64>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let loader = setup.loader.kind();
    match assumed.sampler {
        // no accountant is needed to ask what ε is
        None if claimed.is_some() => findings.push(Finding::AccountantUnknown),
        None => {}
        Some(accountant) if !covers(accountant, loader) => {
            findings.push(Finding::OtherSampler { accountant, loader });
        }
        Some(_) => {}
    }
    if let Some(accounted) = assumed.sampling_rate {
        let mut rates = setup.sampling_rates().into_iter();
        if !rates.any(|rate| (accounted / rate - 1.0).abs() <= TOLERANCE) {
            let actual = setup.sampling_rate();
            findings.push(Finding::SamplingRateDiffers { accounted, actual });
        }
    }
    if let Some(accounted) = assumed.steps.filter(|&accounted| accounted != setup.steps()) {
        let reading = reading(setup, accounted);
        findings.push(Finding::StepsDiffer { accounted, actual: setup.steps(), reading });
    }
    let (accounted, drawn) = (setup.noise_multiplier, setup.drawn_noise_multiplier());
    let off = drawn / accounted;
    let batch = setup.batch_size as f64;
    if (off - 1.0).abs() > TOLERANCE {
        let by_batch = [off * batch, off / batch].map(|left| (left - 1.0).abs() <= TOLERANCE);
        findings.push(if by_batch.contains(&true) {
            let batch_size = setup.batch_size;
            Finding::NoiseScaledByBatchSize { accounted, drawn, batch_size }
        } else {
            Finding::NoiseDiffers { accounted, drawn }
        });
    }
    findings
}

fn about_data(setup: &TrainingSetup, delta: f64) -> Vec<Finding> {
    let mut findings = Vec::new();
    let TrainingSetup { dataset_size, batch_size, drop_last, .. } = *setup;
    if let Some(buffer_examples) = setup.loader.buffer_examples().filter(|&k| k < dataset_size) {
        findings.push(Finding::BufferBelowData { buffer_examples, dataset_size });
    }
    if delta * dataset_size as f64 >= 1.0 {
        findings.push(Finding::DeltaNotBelowOneRecord { delta, dataset_size });
    }
    if setup.has_noise_of_random_size() {
        findings.push(Finding::NoiseOfRandomSize { batch_size });
    }
    let steps_per_epoch = setup.steps_per_epoch();
    let noise_multiplier = setup.least_noise_multiplier();
    match setup.last_batch() {
        Some(records) if noise_multiplier < setup.drawn_noise_multiplier() => {
            findings.push(Finding::LastBatchHasLessNoise { records, batch_size, noise_multiplier });
        }
        Some(records) => findings.push(Finding::PartialLastBatch { records, steps_per_epoch }),
        None => {}
    }
    let loader = setup.loader.kind();
    let records = match loader.cuts_an_order() {
        true => dataset_size - setup.used(),
        false if drop_last => setup.epoch_records() % batch_size,
        false => 0,
    };
    if records > 0 && !loader.sampler().is_some_and(SamplerKind::has_sampling_rate) {
        findings.push(Finding::RecordsLeftOut { records, steps_per_epoch });
    }
    findings
}

/// Whether the bounds of an accountant for the sampler also hold for the loader.
fn covers(accountant: SamplerKind, loader: LoaderKind) -> bool {
    match loader {
        LoaderKind::Sampler(loader) => {
            accountant == loader
                || (accountant == SamplerKind::Deterministic && !loader.has_sampling_rate())
        }
        LoaderKind::Other(OtherBatches::OncePerEpoch) => accountant == SamplerKind::Deterministic,
        LoaderKind::Other(_) => false,
    }
}

/// A possible explanation of a wrong number of steps.
fn reading(setup: &TrainingSetup, accounted: u64) -> Option<StepsReading> {
    let TrainingSetup { dataset_size, batch_size, epochs, drop_last, .. } = *setup;
    let (dropped, kept) = (dataset_size / batch_size, dataset_size.div_ceil(batch_size));
    let all = u128::from(dataset_size) * u128::from(epochs);
    let batch = u128::from(batch_size);
    let rounded = [all / batch, all.div_ceil(batch)];
    if !drop_last && accounted == dropped.saturating_mul(epochs) {
        Some(StepsReading::LastBatchDropped)
    } else if drop_last && accounted == kept.saturating_mul(epochs) {
        Some(StepsReading::LastBatchKept)
    } else if rounded.contains(&u128::from(accounted)) {
        Some(StepsReading::EpochsRounded)
    } else if accounted == dropped || accounted == kept {
        Some(StepsReading::OneEpoch)
    } else if accounted == epochs {
        Some(StepsReading::Epochs)
    } else {
        None
    }
}

impl AssumedAccounting {
    fn check(&self) -> Result<(), TrainingError> {
        if let Some(rate) = self.sampling_rate {
            within("accounted_sampling_rate", rate, [1e-9, 1.0], "in 1e-9 to 1")?;
        }
        if let Some(steps) = self.steps {
            within("accounted_steps", steps as f64, [1.0, 1e9], "in 1 to 1e9")?;
        }
        Ok(())
    }
}
