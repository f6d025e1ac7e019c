//! Checks that recorded runs are independent, as intervals need.

use dpscope_core::mechanism::BatchSampler;
use dpscope_core::recorded::independence::{IndependenceChecks, RecordedRuns};

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

fn view(outputs: &Outputs) -> Result<RecordedRuns<'_>, Failure> {
    RecordedRuns::new(&outputs.values, outputs.epochs, outputs.steps).map_err(Failure::input)
}
