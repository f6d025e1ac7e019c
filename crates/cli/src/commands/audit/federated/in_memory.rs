//! Scores of models that a page holds in memory.

use std::path::{Path, PathBuf};

use dpscope_core::audit::one_shot::CosineNull;
use dpscope_recorded::{FederatedScores, model_scores};

use super::open_plan::{OpenPlan, failure_of};
use super::server::UpdateFiles;
use crate::args::DeviceArgs;
use crate::canary_plan::Content;
use crate::failure::Failure;
use crate::federated_plan::CommittedFederatedPlan;
use crate::files::limits;

/// Refuses an update of canary 0 in another direction than that of the plan.
pub(super) fn check_flattening(path: &Path, plan: &CommittedFederatedPlan) -> Result<(), Failure> {
    let limits = limits();
    let update = Content::read(path, limits.max_bytes)?;
    Ok(dpscope_recorded::check_flattening(&update.file(&limits), plan)?)
}

/// Scores of the canaries of a plan from the models before and after the training.
pub(super) fn score_models(
    (initial, last): (&Path, &[PathBuf]),
    null: &CosineNull,
    plan: &OpenPlan<'_>,
    _: (&DeviceArgs, bool),
) -> Result<FederatedScores, Failure> {
    let [last] = last else {
        return Err(Failure::input(
            "--final has several files; the program reads a model in several files",
        ));
    };
    let limits = limits();
    let [initial, last] = [initial, last].map(|path| Content::read(path, limits.max_bytes));
    let (initial, last) = (initial?, last?);
    let models = (initial.file(&limits), last.file(&limits));
    let scores = model_scores(&models.0, &models.1, null, &plan.committed);
    let (scores, digest) = scores.map_err(failure_of)?;
    plan.bind_to_model(&digest)?;
    Ok(scores)
}

/// Refuses updates, which are too large for a page.
pub(super) fn score(
    _: &UpdateFiles<'_>,
    _: &CosineNull,
    _: &OpenPlan<'_>,
    _: bool,
) -> Result<FederatedScores, Failure> {
    Err(Failure::input("--updates and --models are read by the program only, in parts"))
}
