//! A result in one line.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::{AuditResult, OutcomeKind};

use crate::number::{bound, confidence, decimals, delta, plain};

/// What a bound of 0 means.
pub const NO_LEAKAGE: &str = "This attack did not find any leakage. That proves nothing.";

/// The value, its δ and its confidence, with as many decimals as show a bound above each of the `claims`
/// that it exceeds.
#[must_use]
pub fn headline(result: &AuditResult, claims: impl IntoIterator<Item = f64>) -> String {
    let values = (result.epsilon(), result.evidence().delta, result.significance());
    headline_of(result.kind(), values, claims)
}

/// The headline of a result from its ε, δ and significance.
pub(crate) fn headline_of(
    kind: OutcomeKind,
    (epsilon, at, significance): (f64, f64, f64),
    claims: impl IntoIterator<Item = f64>,
) -> String {
    let delta = delta(at);
    match kind {
        OutcomeKind::Bound => {
            let confidence = confidence(significance);
            let digits = claims.into_iter().map(|claim| decimals(claim, epsilon, 4)).max();
            let shown = plain(epsilon, Kind::Lower, digits.unwrap_or(4));
            format!("ε ≥ {shown} at δ = {delta}, with {confidence} confidence")
        }
        OutcomeKind::Estimate => {
            format!("ε ≈ {epsilon:.4} at δ = {delta}: an estimate, without coverage")
        }
    }
}

/// The headline, after the theory that refutes the claim.
pub(crate) fn headline_after(refuted_by_theory: Option<&str>, headline: &str) -> String {
    match refuted_by_theory {
        Some(proven) => format!("{proven} This audit: {headline}"),
        None => headline.to_owned(),
    }
}

/// The headline of an audit of canaries, with what neighbours are.
pub(crate) fn canary_headline(
    kind: OutcomeKind,
    (epsilon, at, significance): (f64, f64, f64),
    neighbours: &str,
) -> String {
    let (value, delta) = (bound(epsilon, false, 4), delta(at));
    match kind {
        OutcomeKind::Bound => {
            let confidence = confidence(significance);
            format!(
                "ε ≥ {value} at δ = {delta}, with {confidence} confidence ({neighbours} adjacency)"
            )
        }
        OutcomeKind::Estimate => {
            format!(
                "ε ≈ {value} at δ = {delta}: an estimate, without coverage ({neighbours} adjacency)"
            )
        }
    }
}
