//! Controls of an audit: whether the audited code flattens as the plan does, and whether updates arrive.

use dpscope_core::audit::one_shot::{CosineNull, OneShotError, control_finding};
use dpscope_core::format::rounded;
use dpscope_simulation::{Compared, ReleaseCosines};

use crate::{CommittedFederatedPlan, FederatedScores};

/// The least cosine with the direction of canary 0; half precision has 0.9999999.
const LEAST_COSINE: f64 = 0.999;

/// Parameters that are read together.
const PART: usize = 64 * ReleaseCosines::BLOCK;

/// Why an update is not that of canary 0 as the plan flattens it; `read` returns so many parameters from
/// one on.
///
/// # Errors
/// The errors of `read`.
pub fn flattening_problem<E>(
    plan: &CommittedFederatedPlan,
    mut read: impl FnMut(u64, usize) -> Result<Vec<f64>, E>,
) -> Result<Option<String>, E> {
    let dimension = plan.plan.dimension;
    let canary = [(0, Compared::Each(0..1))];
    let mut cosines = ReleaseCosines::new(plan.direction_seed(), dimension as usize, 1, canary);
    for first in (0..dimension).step_by(PART) {
        let count = (dimension - first).min(PART as u64) as usize;
        let values = read(first, count)?;
        cosines.add(first as usize, &[values.iter().map(|&value| value as f32).collect()]);
    }
    let cosine = cosines.of(0)[0];
    Ok(if cosine >= LEAST_COSINE {
        None
    } else if cosine <= -LEAST_COSINE {
        Some(
            "has the direction of canary 0 with the opposite sign; send clipping norm times \
             direction, and save updates as new minus old parameters"
                .to_owned(),
        )
    } else if cosine.is_nan() {
        Some(
            "has no direction: all of it is 0, or beyond the range of f32; save the update of \
             canary 0 as it is sent"
                .to_owned(),
        )
    } else {
        Some(format!(
            "has cosine {} with the direction of canary 0 instead of 1: flattening or plan differ; \
             flatten arrays in the order of their names, each in C order, as `dpscope canaries \
             direction --like` does",
            rounded(cosine, 4)
        ))
    })
}

impl FederatedScores {
    /// Adds what the control client shows; `stated` is its cosine where only cosines are known. One that
    /// took part and is seen shows that updates arrive.
    ///
    /// # Errors
    /// A cosine outside \[−1, 1\].
    pub fn check_control(
        &mut self,
        null: &CosineNull,
        took_part: bool,
        stated: Option<(f64, u64)>,
    ) -> Result<(), OneShotError> {
        // that with the change, or with the sum of all updates
        let regenerated = self.control.map(|cosine| (cosine, 1));
        let Some((cosine, server_rounds)) = regenerated.or(stated) else { return Ok(()) };
        let finding = control_finding(null, cosine, server_rounds, took_part)?;
        self.is_control_seen = took_part && finding.is_none();
        self.findings.extend(finding);
        Ok(())
    }
}
