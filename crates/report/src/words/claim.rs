//! What a verdict on a claim means.

use dpscope_core::accounting::Accounted;
use dpscope_core::audit::claim::{Verdict, VerdictReason};

use super::Subject;
use crate::number::plain;

/// A verdict in a word or two.
#[must_use]
pub const fn verdict_in_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Refuted => "REFUTED",
        Verdict::NotRefuted => "not refuted",
        Verdict::Inconclusive => "inconclusive",
    }
}

/// A verdict as a name.
#[must_use]
pub const fn outcome_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Refuted => "refuted",
        Verdict::NotRefuted => "not-refuted",
        Verdict::Inconclusive => "inconclusive",
    }
}

/// What a verdict means.
#[must_use]
pub fn claim_sentence(reason: VerdictReason, subject: Subject) -> &'static str {
    match reason {
        VerdictReason::BoundExceedsClaim => subject.refutation(),
        VerdictReason::ProvenLowerBound => "This audit alone does not refute the claim.",
        VerdictReason::NoNoise => {
            "The recorded outputs contain no noise: the code that recorded them is not \
             (epsilon, delta)-DP for any epsilon."
        }
        VerdictReason::BoundWithinClaim => {
            "This audit did not find more leakage than was claimed. That proves nothing about the \
             claim."
        }
        VerdictReason::EstimateOnly | VerdictReason::CoverageLost => {
            "The result is an estimate without coverage: it refutes nothing."
        }
        VerdictReason::AttackMismatch => {
            "The bound does not exceed the claim, but the data are not what its attack assumes (see \
             the notes): another attack may see more."
        }
        VerdictReason::CeilingWithinClaim => {
            "Even an attack without errors could not refute the claim with so few observations: it was \
             not tested. Plan more."
        }
        VerdictReason::BoundAssumesMore => {
            "The bound holds under an assumption only: it refutes nothing."
        }
    }
}

/// What a verdict on a limit means.
#[must_use]
pub fn limit_sentence(reason: VerdictReason, subject: Subject) -> &'static str {
    match reason {
        VerdictReason::BoundWithinClaim => {
            "This audit did not find more leakage than the limit. That does not prove that there is \
             none."
        }
        VerdictReason::CeilingWithinClaim => {
            "Even with an attack without errors, the bound could not exceed the limit with so few \
             observations: plan more."
        }
        reason => claim_sentence(reason, subject),
    }
}

/// A claim below what is proven of the simulated mechanism, or of a training as it is described.
#[must_use]
pub fn proven_sentence(lower: &Accounted, is_simulated: bool) -> String {
    let epsilon = plain(lower.epsilon, lower.kind, 4);
    let (whose, whatever) = match is_simulated {
        true => ("this mechanism", "was simulated"),
        false => ("a training as described here", "this audit shows"),
    };
    format!("Theory proves ε ≥ {epsilon} of {whose}, more than was claimed, whatever {whatever}.")
}
