//! A claim beside the audit that tests it.

use std::borrow::Cow;

use dpscope_core::accounting::Accounted;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::AuditResult;
use dpscope_core::audit::claim::{ClaimError, ClaimVerdict, PrivacyClaim, Verdict, VerdictReason};
use serde::{Deserialize, Serialize};

use crate::words::{Subject, claim_sentence, proven_sentence};

/// What a result is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ClaimTest {
    /// The claim, if there is one.
    pub claim: Option<PrivacyClaim>,
    /// The largest acceptable bound on ε.
    pub fail_above: Option<f64>,
}

/// A claim and the verdict of the audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimRecord {
    #[serde(flatten)]
    claim: PrivacyClaim,
    /// Whether the claim is refuted, and why.
    pub verdict: ClaimVerdict,
    /// What the verdict means.
    pub says: String,
    /// Why a zero-out pair speaks about the claim's adjacency.
    pub note: Cow<'static, str>,
}

impl ClaimRecord {
    /// The verdict on a claim.
    ///
    /// # Errors
    /// A claimed ε that is not a finite number ≥ 0, or another δ than the audit's.
    pub fn new(
        claim: PrivacyClaim,
        result: &AuditResult,
        subject: Subject,
    ) -> Result<Self, ClaimError> {
        let verdict = result.verdict(&claim)?;
        let says = claim_sentence(verdict.reason, subject).to_owned();
        Ok(ClaimRecord { claim, verdict, says, note: claim.adjacency_note().into() })
    }

    /// Refutes the claim if `lower`, which theory proves of the simulated mechanism, exceeds it.
    pub(crate) fn with_proven(self, lower: &Accounted) -> Self {
        if lower.epsilon <= self.claim.epsilon || self.verdict.outcome == Verdict::Refuted {
            return self;
        }
        let verdict = ClaimVerdict::from(VerdictReason::ProvenLowerBound);
        ClaimRecord { verdict, says: proven_sentence(lower), ..self }
    }

    /// The claim.
    #[must_use]
    pub fn claim(&self) -> &PrivacyClaim {
        &self.claim
    }
}

/// The largest acceptable bound on ε, and whether it is exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LimitRecord {
    /// ε, nats.
    pub epsilon: f64,
    /// Refuted where the bound exceeds it.
    pub verdict: ClaimVerdict,
}

impl LimitRecord {
    /// A limit on the bound of a result.
    ///
    /// # Errors
    /// A limit that is not a finite number ≥ 0.
    pub(crate) fn new(epsilon: f64, result: &AuditResult) -> Result<Self, ClaimError> {
        let delta = result.evidence().delta;
        let claim = PrivacyClaim { epsilon, delta, adjacency: Adjacency::ZeroOut };
        Ok(LimitRecord { epsilon, verdict: result.verdict(&claim)? })
    }

    /// A limit on ε, compared with a bound that cannot exceed `ceiling`.
    ///
    /// # Errors
    /// A limit that is not a finite number ≥ 0.
    pub fn of_bound(epsilon: f64, bound: f64, ceiling: f64) -> Result<Self, ClaimError> {
        PrivacyClaim { epsilon, delta: 0.0, adjacency: Adjacency::ZeroOut }.check()?;
        let verdict = VerdictReason::of_bound(bound, Some(ceiling), epsilon).into();
        Ok(LimitRecord { epsilon, verdict })
    }
}

/// The verdict on a claim and a limit: refuted if one is, inconclusive if one of them could not be
/// tested.
pub(super) fn verdict_of(
    claim: Option<ClaimVerdict>,
    limit: Option<ClaimVerdict>,
) -> Option<ClaimVerdict> {
    let weight = |verdict: &ClaimVerdict| match verdict.outcome {
        Verdict::Refuted => 2,
        Verdict::Inconclusive => 1,
        Verdict::NotRefuted => 0,
    };
    // of equals, that on the claim
    [claim, limit].into_iter().flatten().rev().max_by_key(weight)
}
