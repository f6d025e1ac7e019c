//! A plan that an audit opened.

use std::path::Path;

use dpscope_recorded::RecordedError;

use super::args::option_of;
use crate::failure::{Exit, Failure};
use crate::federated_plan::{CommittedFederatedPlan, is_second};

/// A plan and its folder.
pub(super) struct OpenPlan<'a> {
    pub(super) folder: &'a Path,
    pub(super) committed: CommittedFederatedPlan,
}

impl OpenPlan<'_> {
    /// Binds the plan to the first model that is audited with it.
    pub(super) fn bind_to_model(&self, digest: &str) -> Result<(), Failure> {
        if !is_second(self.folder, digest)? {
            return Ok(());
        }
        Err(Failure::with(
            Exit::Artefact,
            "another model, or another initial one, was audited with this plan before: a model \
             trained on these canaries has no known null distribution; commit a new plan and train \
             again",
        )
        .about(self.folder))
    }
}

/// What is wrong with a recorded file, or with an option.
pub(super) fn failure_of(error: RecordedError) -> Failure {
    match error {
        RecordedError::File(error) => error.into(),
        RecordedError::OneShot(error) => option_of(error),
        RecordedError::Claim(error) => error.into(),
        error => Failure::input(error),
    }
}
