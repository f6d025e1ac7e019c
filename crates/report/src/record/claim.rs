//! A claim beside the audit that tests it.

use dpscope_core::audit::AuditResult;
use dpscope_core::audit::claim::{ClaimError, ClaimVerdict, PrivacyClaim, Verdict, VerdictReason};
use serde::Serialize;

use crate::words::{Subject, claim_sentence};

/// What a result is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ClaimTest {
    /// The claim, if there is one.
    pub claim: Option<PrivacyClaim>,
    /// The largest acceptable bound on ε.
    pub fail_above: Option<f64>,
}

/// A claim and what the audit says of it.
#[derive(Debug, Serialize)]
pub struct ClaimRecord {
    #[serde(flatten)]
    claim: PrivacyClaim,
    /// Whether the claim is refuted.
    pub verdict: Verdict,
    /// Why it is that.
    pub reason: VerdictReason,
    /// What the verdict means.
    pub says: String,
    /// Why a zero-out pair speaks about the claim's adjacency.
    pub note: &'static str,
}

impl ClaimRecord {
    /// The verdict on a claim.
    ///
    /// # Errors
    /// A claimed ε that is not a finite number ≥ 0, or another δ than the audit's.
    pub(crate) fn new(
        test: &ClaimTest,
        result: &AuditResult,
        subject: Subject,
    ) -> Result<Option<Self>, ClaimError> {
        let Some(claim) = test.claim else { return Ok(None) };
        let ClaimVerdict { outcome: verdict, reason } = result.verdict(&claim)?;
        let says = claim_sentence(reason, subject).to_owned();
        Ok(Some(ClaimRecord { claim, verdict, reason, says, note: claim.adjacency_note() }))
    }

    /// The claim.
    #[must_use]
    pub fn claim(&self) -> &PrivacyClaim {
        &self.claim
    }
}
