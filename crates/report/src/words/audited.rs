//! A simulated audit beside the claim of Poisson accounting.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::claim::{ClaimVerdict, VerdictReason};
use serde::Serialize;

use super::conclusion::times;
use super::{Subject, claim_sentence};
use crate::number::plain;

/// Whether a simulated audit refutes the claim of Poisson accounting.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditConclusion {
    /// Whether the claim is refuted, and why.
    pub verdict: ClaimVerdict,
    /// For people.
    pub sentence: String,
}

impl AuditConclusion {
    /// From the audit's lower bound on ε, its gain from ten times the observations, and the claim.
    #[must_use]
    pub fn new(bound: f64, gain_at_10x: f64, claimed: f64) -> Self {
        let claim = format!("Poisson accounting claims ε = {}", plain(claimed, Kind::Upper, 2));
        let is_refuted = bound > claimed;
        let reason = if is_refuted {
            VerdictReason::BoundExceedsClaim
        } else {
            VerdictReason::BoundWithinClaim
        };
        let says = claim_sentence(reason, Subject::SimulatedMechanism);
        let sentence = if is_refuted {
            let factor = times(bound, claimed);
            let leaks =
                factor.map_or("more".to_owned(), |it| format!("at least {it} times as much"));
            format!("{claim}, but the mechanism leaks {leaks}. {says}")
        } else {
            let gain = plain(gain_at_10x, Kind::Estimate, 2);
            format!("{claim}. {says} Ten times the observations would add about {gain}.")
        };
        AuditConclusion { verdict: ClaimVerdict::from(reason), sentence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_state_the_claim_and_the_verdict() {
        let refuted = AuditConclusion::new(4.0, 0.2, 0.718_04);
        assert_eq!(refuted.verdict.reason, VerdictReason::BoundExceedsClaim);
        let start = "Poisson accounting claims ε = 0.72, but the mechanism leaks at least 5.5 times \
                     as much. DP-SGD with these parameters";
        assert!(refuted.sentence.starts_with(start), "{}", refuted.sentence);
        let open = AuditConclusion::new(0.718_04, 0.25, 0.718_04);
        assert_eq!(open.verdict.reason, VerdictReason::BoundWithinClaim);
        assert!(open.sentence.contains("proves nothing") && open.sentence.contains("about 0.25"));
        assert!(AuditConclusion::new(0.1, 0.2, 0.0).sentence.contains("leaks more."));
    }
}
