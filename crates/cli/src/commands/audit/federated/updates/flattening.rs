//! Whether the audited code flattens parameters in the order of the plan's directions.

use std::path::Path;

use dpscope_recorded::flattening_problem;

use super::files::Release;
use crate::failure::Failure;
use crate::federated_plan::CommittedFederatedPlan;

/// Refuses an update of canary 0 in another direction than that of the plan.
pub(in super::super) fn check_flattening(
    path: &Path,
    plan: &CommittedFederatedPlan,
) -> Result<(), Failure> {
    let release = Release::open(path)?;
    release.check_dimension(plan.plan.dimension)?;
    let problem = flattening_problem(plan, |first, count| release.read(first, count))?;
    problem.map_or(Ok(()), |problem| Err(Failure::input(problem).about(path)))
}
