//! Judges measurements of the first steps of a training.
//!
//! The caller runs the training on D, replays it with the same random numbers on D and on D′, and
//! measures; here a [`StepRecord`] becomes findings.

mod comparison;
mod error;
mod finding;
mod limits;
mod noise;
mod record;
#[cfg(test)]
mod tests;
mod validation;

pub use error::StepRecordError;
pub use finding::{
    Neighbours, NoisePairs, NoiseScope, Place, StepFinding, StepSeverity, ValueChange,
};
pub use limits::{NoiseLimits, kurtosis_score};
pub use noise::NoiseEstimates;
pub use record::{
    AccountedSteps, Correlation, NeighbourReplay, OtherGradient, Probe, ProbeKind, ProbeRun,
    Replay, ReplayedStep, ShapeChange, StateChange, StepRecord, TensorNoise, TrainedTensor,
};

/// What a check of steps says about the training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum StepOutcome {
    /// An assumption of the accountant does not hold.
    Violated,
    /// All comparisons were made, and no assumption was seen to be violated.
    NoViolationFound,
    /// No assumption was seen to be violated, but comparisons are missing.
    Incomplete,
}

/// The result of a check of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct StepCheck {
    /// What it says about the training.
    pub outcome: StepOutcome,
    /// Findings, the most severe first.
    pub findings: Vec<StepFinding>,
    /// Steps of the original.
    pub steps: u64,
    /// Number of the target record.
    pub target: u64,
    /// Standard deviations of the noise; absent if none was measured.
    pub noise: Option<NoiseEstimates>,
    /// The largest change of a sum by the target, in C, where nothing else changes it.
    pub largest_change: Option<f64>,
    /// The largest change of a sum between D and its replay, in C.
    pub control_difference: Option<f64>,
}

/// Compares the runs of a record, and tests its noise.
///
/// A difference between D and D′ counts beyond 10 times that between D and its control, plus 1e-3 C for
/// sums, 1e-3 for norms and 1e-6 for the state, plus what rounding may explain. If two runs on D differ
/// by more than 1e-2 C, nothing is compared. Where add/remove changes what dropout or augmentation
/// draws, differences of sums and of other records are notes, and the target's row has to have a norm of
/// at most C.
///
/// # Guarantee
/// Noise as stated has a finding with probability at most 1e-3, up to the approximation of kurtosis
/// (`crates/core/src/training_check/step/tests/limits_of_noise.rs::correct_noise_rarely_has_a_finding`).
///
/// # Errors
/// [`StepRecordError`] for values outside their domain, lists whose lengths contradict each other, and
/// noise without a stated σ.
pub fn examine(record: &StepRecord) -> Result<StepCheck, StepRecordError> {
    validation::check(record)?;
    let (mut findings, noise) = noise::examine(record)?;
    let original = &record.original;
    let releases = original.steps.len() as u64;
    if let Some(accounted) = record.accountant.and_then(|accountant| accountant.steps)
        && accounted != releases
    {
        findings.push(StepFinding::AccountedStepsDiffer { accounted, releases });
    }
    let comparison = comparison::Comparison::new(record);
    let not_reproducible = comparison.not_reproducible();
    let is_compared = not_reproducible.is_none() && original.failure.is_none();
    match not_reproducible {
        Some(finding) => findings.push(finding),
        None => findings.extend(comparison.findings()),
    }
    if !record.buffers_examined {
        findings.push(StepFinding::BuffersNotExamined);
    }
    findings.sort_by_key(StepFinding::severity);
    let is_complete = is_compared && comparison.is_complete() && noise.is_some();
    let is_violated = findings.iter().any(|it| it.severity() <= StepSeverity::Violates);
    Ok(StepCheck {
        outcome: match (is_violated, is_complete) {
            (true, _) => StepOutcome::Violated,
            (false, true) => StepOutcome::NoViolationFound,
            (false, false) => StepOutcome::Incomplete,
        },
        findings,
        steps: releases,
        target: record.target,
        noise,
        largest_change: comparison.largest_change(),
        control_difference: comparison.control_difference(),
    })
}
