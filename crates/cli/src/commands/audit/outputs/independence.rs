//! Checks that recorded runs are independent, as intervals need.

use dpscope_core::audit::Finding;
use dpscope_core::mechanism::BatchSampler;
use dpscope_core::recorded::StepEffect;
use dpscope_core::recorded::independence::{Dependence, IndependenceChecks, RecordedRuns};

use super::hypotheses::Hypothesis;
use super::load::Outputs;
use crate::failure::Failure;

/// All checks on the outputs and their scores.
pub(super) fn checks(
    sampler: Option<BatchSampler>,
    [target, zero_out]: [&Outputs; 2],
    hypothesis: &Hypothesis,
) -> Result<IndependenceChecks, Failure> {
    let target = (view(target)?, &hypothesis.target[..]);
    let zero_out = (view(zero_out)?, &hypothesis.zero_out[..]);
    IndependenceChecks::of(sampler, target, zero_out).map_err(Failure::input)
}

/// One finding for each cause: outputs without noise explain everything else, copies of runs explain
/// findings about the noise, and a fixed order explains repeated positions.
pub(super) fn causes(
    noise: &[Finding],
    checks: &IndependenceChecks,
    [target, zero_out]: [&Outputs; 2],
) -> Result<Vec<Finding>, Failure> {
    let has_noise = !noise.iter().any(|finding| matches!(finding, Finding::NoNoise { .. }));
    if !has_noise {
        return Ok(noise.to_vec());
    }
    let mut found: Vec<Finding> = Finding::of_checks(checks).collect();
    let dependence = |finding: &Finding| match finding {
        Finding::Dependence { dependence, .. } => Some(*dependence),
        _ => None,
    };
    let is_copy = |finding: &Finding| {
        matches!(
            dependence(finding),
            Some(Dependence::DuplicatedRuns { .. } | Dependence::IdenticalRuns { .. })
        )
    };
    let fixed = found.iter().find_map(|finding| match dependence(finding) {
        Some(Dependence::RepeatedPositionsOverRuns { step, .. }) => Some(step),
        _ => None,
    });
    let (target, zero_out) = (view(target)?, view(zero_out)?);
    let effect = |step: u64| StepEffect::at(target, zero_out, usize::try_from(step).ok()?);
    let fixed = fixed.filter(|&step| effect(step).is_none_or(StepEffect::may_be_fixed));
    if found.iter().any(is_copy) {
        found.retain(is_copy);
        return Ok(found);
    }
    if let Some(step) = fixed {
        found.retain(|finding| {
            !matches!(
                dependence(finding),
                Some(
                    Dependence::RepeatedPositionsOverRuns { .. }
                        | Dependence::RepeatedPositionsOverEpochs { .. }
                )
            )
        });
        found.push(Finding::OrderFixed { step });
    }
    Ok(noise.iter().copied().chain(found).collect())
}

fn view(outputs: &Outputs) -> Result<RecordedRuns<'_>, Failure> {
    RecordedRuns::new(&outputs.values, outputs.epochs, outputs.steps).map_err(Failure::input)
}
