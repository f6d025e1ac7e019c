//! Whether scores follow what the plan declared about canaries.

use dpscope_core::audit::one_run::{CanaryClass, OneRunFinding};
use dpscope_core::audit::one_shot::{CosineNull, OneShotError, class_score_finding};

use crate::CommittedFederatedPlan;

/// Scores that follow a class of the plan, from canaries and their cosines.
///
/// # Errors
/// A cosine outside \[−1, 1\].
pub fn class_findings(
    null: &CosineNull,
    plan: &CommittedFederatedPlan,
    cosines: impl Iterator<Item = (u64, f64)> + Clone,
) -> Result<Vec<OneRunFinding>, OneShotError> {
    let mut findings = Vec::new();
    for class in CanaryClass::ALL {
        // a canary that took no part has no cosine
        let known = cosines.clone().filter(|(_, cosine)| !cosine.is_nan());
        let declared =
            known.filter_map(|(canary, cosine)| Some((cosine, plan.declared(class, canary)?)));
        let (cosines, declared): (Vec<f64>, Vec<_>) = declared.unzip();
        findings.extend(class_score_finding(null, class, &cosines, &declared)?);
    }
    Ok(findings)
}
