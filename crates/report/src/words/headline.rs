//! A result in one line.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::{AuditResult, OutcomeKind};

use crate::number::{confidence, delta, plain};

/// What a bound of 0 means.
pub const NO_LEAKAGE: &str = "This attack did not find any leakage. That proves nothing.";

/// The value, its δ and its confidence.
#[must_use]
pub fn headline(result: &AuditResult) -> String {
    let (epsilon, delta) = (result.epsilon(), delta(result.evidence().delta));
    match result.kind() {
        OutcomeKind::Bound => {
            let confidence = confidence(result.significance());
            let shown = plain(epsilon, Kind::Lower, 4);
            format!("ε ≥ {shown} at δ = {delta}, with {confidence} confidence")
        }
        OutcomeKind::Estimate => {
            format!("ε ≈ {epsilon:.4} at δ = {delta}: an estimate, without coverage")
        }
    }
}
