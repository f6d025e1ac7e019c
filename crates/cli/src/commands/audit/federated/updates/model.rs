//! Scores of canaries from the models before and after a training.

use std::path::{Path, PathBuf};

use dpscope_core::audit::one_shot::CosineNull;
use dpscope_engine::FloatMode;
use dpscope_recorded::{FederatedScores, ReleaseSummary, UNSEEN};
use dpscope_simulation::{CanaryDirections, ModelChange, cosines};

use super::series::UpdateSeries;
use crate::args::DeviceArgs;
use crate::commands::audit::federated::open_plan::{OpenPlan, failure_of};
use crate::device::backend;
use crate::failure::Failure;
use crate::federated_plan::CONTROL;
use crate::progress::Terminal;

/// Parameters that are read together.
const PART: usize = 1 << 18;

/// Scores of the canaries of a plan; memory holds the change in f32.
pub(in super::super) fn score_models(
    (initial, last): (&Path, &[PathBuf]),
    null: &CosineNull,
    plan: &OpenPlan<'_>,
    (device, quiet): (&DeviceArgs, bool),
) -> Result<FederatedScores, Failure> {
    let backend = backend(device, FloatMode::Exact)?;
    let terminal = Terminal::of_files(quiet, "reading models");
    let dimension = plan.committed.plan.dimension;
    let series = UpdateSeries::of_models(initial, last, dimension)?;
    let summaries = series.summaries(&terminal)?;
    plan.bind_to_model(&ReleaseSummary::digest_of(&summaries, "FinalModel"))?;
    let unit = summaries[0].unit;
    let mut scaled = Vec::with_capacity(dimension as usize);
    for first in (0..dimension).step_by(PART) {
        let count = (dimension - first).min(PART as u64) as usize;
        let change = series.read(0, first, count)?;
        scaled.extend(change.iter().map(|entry| (entry / unit) as f32));
    }
    let Some(change) = ModelChange::of_scaled(scaled) else {
        return Err(Failure::input(
            "differs from --initial by more than f64 holds: pass models that did not diverge",
        ));
    };
    let inserted = plan.committed.inserted();
    let seed = plan.committed.direction_seed();
    let found = cosines(&backend, seed, 0..inserted + UNSEEN, &change, &terminal)?;
    let control = CanaryDirections::new(seed, dimension as usize).cosine(CONTROL, &change);
    let scores = FederatedScores::of_directions(&found, control, null, &plan.committed);
    scores.map_err(failure_of)
}
