//! Whether the audited code flattens parameters in the order of the plan's directions.

use std::path::Path;

use dpscope_core::format::rounded;
use dpscope_simulation::{Compared, ReleaseCosines};

use super::files::Release;
use crate::failure::Failure;
use crate::federated_plan::CommittedFederatedPlan;

/// The least cosine with the direction of canary 0; half precision has 0.9999999.
const LEAST_COSINE: f64 = 0.999;

/// Parameters that are read together.
const PART: usize = 64 * ReleaseCosines::BLOCK;

/// Refuses an update of canary 0 in another direction than that of the plan.
pub(in super::super) fn check_flattening(
    path: &Path,
    plan: &CommittedFederatedPlan,
) -> Result<(), Failure> {
    let dimension = plan.plan.dimension;
    let release = Release::open(path)?;
    release.check_dimension(dimension)?;
    let canary = [(0, Compared::Each(0..1))];
    let mut cosines = ReleaseCosines::new(plan.direction_seed(), dimension as usize, 1, canary);
    for first in (0..dimension).step_by(PART) {
        let count = (dimension - first).min(PART as u64) as usize;
        let values = release.read(first, count)?;
        cosines.add(first as usize, &[values.iter().map(|&value| value as f32).collect()]);
    }
    let cosine = cosines.of(0)[0];
    if cosine >= LEAST_COSINE {
        return Ok(());
    }
    let problem = if cosine <= -LEAST_COSINE {
        "has the direction of canary 0 with the opposite sign; send clipping norm times direction, \
         and save updates as new minus old parameters"
            .to_owned()
    } else if cosine.is_nan() {
        "has no direction: all of it is 0, or beyond the range of f32; save the update of canary 0 \
         as it is sent"
            .to_owned()
    } else {
        format!(
            "has cosine {} with the direction of canary 0 instead of 1: flattening or plan differ; \
             flatten arrays in the order of their names, each in C order, as `dpscope canaries \
             direction --like` does",
            rounded(cosine, 4)
        )
    };
    Err(Failure::input(problem).about(path))
}
