//! Whether scores follow what the plan declared about canaries.

use dpscope_core::audit::one_run::{CanaryClass, OneRunFinding};
use dpscope_core::audit::one_shot::{CosineNull, class_score_finding};

use super::args::option_of;
use crate::failure::Failure;
use crate::federated_plan::CommittedFederatedPlan;

/// What a plan may declare about canaries.
pub(super) const CLASSES: [CanaryClass; 2] = [CanaryClass::Weight, CanaryClass::Loudness];

/// Scores that follow a class of the plan, from canaries and their cosines.
pub(super) fn score_findings(
    null: &CosineNull,
    plan: &CommittedFederatedPlan,
    cosines: impl Iterator<Item = (u64, f64)> + Clone,
) -> Result<Vec<OneRunFinding>, Failure> {
    let mut findings = Vec::new();
    for class in CLASSES {
        // -1 stands for a canary that took no part
        let known = cosines.clone().filter(|&(_, cosine)| cosine > -1.0);
        let declared =
            known.filter_map(|(canary, cosine)| Some((cosine, plan.declared(class, canary)?)));
        let (cosines, declared): (Vec<f64>, Vec<f64>) = declared.unzip();
        let found = class_score_finding(null, class, &cosines, &declared);
        findings.extend(found.map_err(option_of)?);
    }
    Ok(findings)
}
