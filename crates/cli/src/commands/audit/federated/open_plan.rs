//! A plan that an audit opened.

use std::path::Path;

use crate::federated_plan::CommittedFederatedPlan;

/// Directions that no client sent, whose cosines are tested for uniformity.
pub(super) const UNSEEN: u64 = 200;

/// A plan and its folder.
pub(super) struct OpenPlan<'a> {
    pub(super) folder: &'a Path,
    pub(super) committed: CommittedFederatedPlan,
}
