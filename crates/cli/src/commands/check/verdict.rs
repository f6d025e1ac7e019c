//! Verdicts as they are printed.

use dpscope_core::training_check::CheckVerdict;

pub(super) fn in_capitals(verdict: CheckVerdict) -> &'static str {
    match verdict {
        CheckVerdict::Refuted => "REFUTED",
        CheckVerdict::HoldsAsDescribed => "holds for the training as described",
        CheckVerdict::Inconclusive => "inconclusive",
    }
}
