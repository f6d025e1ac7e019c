//! A simulated audit beside a claim: the reader's own, or that of Poisson accounting.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::claim::{ClaimVerdict, VerdictReason};
use serde::Serialize;

use super::conclusion::times;
use super::{Subject, claim_sentence};
use crate::number::{bound as shown_bound, decimals, plain};

/// Who claims an ε.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claimant {
    /// Poisson accounting with the parameters of the training.
    PoissonAccounting,
    /// The reader.
    Reader,
}

/// What a conclusion about a simulated audit rests on.
#[derive(Debug, Clone, Copy)]
pub struct AuditBound {
    /// Lower bound on ε.
    pub epsilon: f64,
    /// What ten times the observations would add at the same error rates.
    pub gain_at_10x: f64,
    /// The largest bound that as many observations can show.
    pub ceiling: f64,
}

/// Whether a simulated audit refutes a claim.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditConclusion {
    /// The claimed ε.
    pub claimed: f64,
    /// Whether the claim is refuted, and why.
    pub verdict: ClaimVerdict,
    /// For people.
    pub sentence: String,
}

impl AuditConclusion {
    /// The verdict on a claim, and its sentence.
    #[must_use]
    pub fn new(bound: AuditBound, claimant: Claimant, claimed: f64) -> Self {
        let AuditBound { epsilon, gain_at_10x, ceiling } = bound;
        let who = match claimant {
            Claimant::PoissonAccounting => "Poisson accounting claims",
            Claimant::Reader => "You claim",
        };
        let digits = decimals(claimed, epsilon, 2);
        let claim = format!("{who} ε = {}", shown_bound(claimed, true, digits));
        let reason = VerdictReason::of_bound(epsilon, Some(ceiling), claimed);
        let says = claim_sentence(reason, Subject::SimulatedMechanism);
        let sentence = match reason {
            VerdictReason::BoundExceedsClaim => {
                let factor = times(epsilon, claimed);
                let leaks =
                    factor.map_or("more".to_owned(), |it| format!("at least {it} times as much"));
                format!("{claim}, but this audit shows {leaks}. {says}")
            }
            VerdictReason::CeilingWithinClaim => format!("{claim}. {says}"),
            _ => {
                let gain = plain(gain_at_10x, Kind::Estimate, 2);
                format!("{claim}. {says} Ten times the observations would add about {gain}.")
            }
        };
        AuditConclusion { claimed, verdict: ClaimVerdict::from(reason), sentence }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_state_the_claim_and_the_verdict() {
        let bound = |epsilon, gain_at_10x| AuditBound { epsilon, gain_at_10x, ceiling: 5.0 };
        let poisson = |epsilon, gain, claimed| {
            AuditConclusion::new(bound(epsilon, gain), Claimant::PoissonAccounting, claimed)
        };
        let refuted = poisson(4.0, 0.2, 0.718_04);
        assert_eq!(refuted.verdict.reason, VerdictReason::BoundExceedsClaim);
        let start = "Poisson accounting claims ε = 0.72, but this audit shows at least 5.5 times as \
                     much. DP-SGD with these parameters";
        assert!(refuted.sentence.starts_with(start), "{}", refuted.sentence);
        let open = poisson(0.718_04, 0.25, 0.718_04);
        assert_eq!(open.verdict.reason, VerdictReason::BoundWithinClaim);
        assert!(open.sentence.contains("proves nothing") && open.sentence.contains("about 0.25"));
        let own = AuditConclusion::new(bound(4.0, 0.2), Claimant::Reader, 3.999_9).sentence;
        assert!(own.starts_with("You claim ε = 3.9999, but this audit shows more."), "{own}");
        assert!(poisson(0.1, 0.2, 0.0).sentence.contains("shows more."));
        let untested = poisson(4.0, 0.2, 5.0);
        assert_eq!(untested.verdict.reason, VerdictReason::CeilingWithinClaim);
        assert!(
            untested.sentence.ends_with("it was not tested. Plan more."),
            "{}",
            untested.sentence
        );
    }
}
