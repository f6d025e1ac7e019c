//! How far into an epoch a shuffle reaches, in words.

use dpscope_core::mechanism::ShuffleReach;
use serde::Serialize;

/// What recorded outputs say of the shuffle.
#[derive(Debug, Serialize)]
pub(crate) struct ReachFields {
    #[serde(flatten)]
    found: ShuffleReach,
    is_shown: bool,
    pub(crate) says: String,
}

impl From<ShuffleReach> for ReachFields {
    fn from(found: ShuffleReach) -> Self {
        let ShuffleReach { prefix, steps_per_epoch, ln_evidence, ln_needed, significance } = found;
        let is_shown = found.is_shown();
        let says = if is_shown {
            format!(
                "outputs look like a shuffle within the first {prefix} of {steps_per_epoch} batches: \
                 their likelihood ratio against a shuffle over all of them is e^{ln_evidence:.1}, where \
                 such a shuffle exceeds e^{ln_needed:.1} with chance {significance} at most, whatever \
                 else moves a step's outputs in all runs of both worlds alike"
            )
        } else {
            format!(
                "nothing in the outputs speaks against a shuffle over all {steps_per_epoch} batches, \
                 which proves nothing (largest likelihood ratio e^{ln_evidence:.1}, for the first {prefix})"
            )
        };
        ReachFields { found, is_shown, says }
    }
}
