//! What a verdict on a claim means.

use dpscope_core::audit::claim::Verdict;

use super::Subject;

/// What a verdict means; none where the result is an estimate.
#[must_use]
pub fn claim_sentence(verdict: Option<Verdict>, subject: Subject) -> &'static str {
    match verdict {
        Some(Verdict::Refuted) => subject.refutation(),
        Some(Verdict::NotRefuted) => {
            "This audit did not find more leakage than was claimed. That proves nothing about the \
             claim."
        }
        None => "The result is an estimate without coverage: it refutes nothing.",
    }
}
