//! How well models reveal canaries of one kind.

use serde_json::{Value, json};

use super::audits::AuditedCanaries;
use super::sets::CanarySetKind;
use crate::commands::reproduce::mean::MeanEstimate;

/// How well models reveal canaries of a kind.
pub(super) struct CanarySetResult {
    pub(super) set: CanarySetKind,
    /// Metasteps before these canaries; none where nothing was optimised.
    pub(super) best_metasteps: Option<u64>,
    /// Metasteps without effect, because a training diverged.
    pub(super) skipped: u64,
    /// AUC after SGD, by the loss of the final model.
    pub(super) sgd_raw: MeanEstimate,
    /// AUC after SGD, by the loss less the canary's mean loss in other trainings without it.
    pub(super) sgd_calibrated: MeanEstimate,
    /// After DP-SGD, by the loss of the final model.
    pub(super) dpsgd_raw: AuditedCanaries,
    /// After DP-SGD, by the loss less the canary's mean loss in reference models without it.
    pub(super) dpsgd_calibrated: AuditedCanaries,
}

impl CanarySetResult {
    pub(super) fn row(&self) -> Value {
        let Self { set, dpsgd_raw: raw, dpsgd_calibrated: calibrated, .. } = self;
        json!({
            "set": set, "set_text": set.name(), "best_metasteps": self.best_metasteps,
            "skipped": self.skipped, "sgd_raw": self.sgd_raw,
            "sgd_calibrated": self.sgd_calibrated, "dpsgd_raw": raw.auc,
            "dpsgd_calibrated": calibrated.auc, "estimate": raw.estimate,
            "median_bound": raw.median_bound, "joint_bound": raw.joint_bound,
            "calibrated_estimate": calibrated.estimate,
            "calibrated_median_bound": calibrated.median_bound,
            "calibrated_joint_bound": calibrated.joint_bound, "estimates": raw.estimates,
            "bounds": raw.bounds, "calibrated_estimates": calibrated.estimates,
            "calibrated_bounds": calibrated.bounds,
        })
    }
}
