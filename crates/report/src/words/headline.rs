//! A result in one line.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::{AuditResult, OutcomeKind};

use crate::number::{confidence, decimals, delta, plain};

/// What a bound of 0 means.
pub const NO_LEAKAGE: &str = "This attack did not find any leakage. That proves nothing.";

/// The value, its δ and its confidence, with as many decimals as show a bound above each of the `claims`
/// that it exceeds.
#[must_use]
pub fn headline(result: &AuditResult, claims: impl IntoIterator<Item = f64>) -> String {
    let (epsilon, delta) = (result.epsilon(), delta(result.evidence().delta));
    match result.kind() {
        OutcomeKind::Bound => {
            let confidence = confidence(result.significance());
            let digits = claims.into_iter().map(|claim| decimals(claim, epsilon, 4)).max();
            let shown = plain(epsilon, Kind::Lower, digits.unwrap_or(4));
            format!("ε ≥ {shown} at δ = {delta}, with {confidence} confidence")
        }
        OutcomeKind::Estimate => {
            format!("ε ≈ {epsilon:.4} at δ = {delta}: an estimate, without coverage")
        }
    }
}
