//! A plan that an audit opened.

use std::path::Path;

use dpscope_recorded::RecordedError;

use super::args::option_of;
use crate::failure::Failure;
use crate::federated_plan::CommittedFederatedPlan;

/// A plan and its folder.
pub(super) struct OpenPlan<'a> {
    pub(super) folder: &'a Path,
    pub(super) committed: CommittedFederatedPlan,
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
