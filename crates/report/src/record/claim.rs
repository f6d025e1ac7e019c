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

impl ClaimTest {
    /// What a report has tested.
    pub(crate) fn of_records(claim: Option<&ClaimRecord>, limit: Option<&LimitRecord>) -> Self {
        ClaimTest {
            claim: claim.map(|record| record.claim),
            fail_above: limit.map(|limit| limit.epsilon),
        }
    }
}

/// A claim and the verdict of the audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimRecord {
    /// What is claimed.
    #[serde(flatten)]
    pub claim: PrivacyClaim,
    /// Whether the claim is refuted, and why.
    pub verdict: ClaimVerdict,
    /// What the verdict means.
    pub says: String,
    /// How the audit speaks about the claim's adjacency.
    pub note: Cow<'static, str>,
}

impl ClaimRecord {
    /// The verdict of an audit of two worlds.
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
        Ok(ClaimRecord {
            claim,
            verdict,
            says,
            note: PrivacyClaim::adjacency_note(claim.adjacency).into(),
        })
    }

    /// What the verdict means: where theory decides, a report has begun with that.
    pub(crate) fn meaning(&self, subject: Subject) -> &str {
        match self.refuted_by_theory() {
            Some(_) => claim_sentence(self.verdict.reason, subject),
            None => &self.says,
        }
    }

    /// Refutes the claim if `lower`, which theory proves of the audited training, exceeds it.
    pub(super) fn with_proven(self, lower: &Accounted, is_simulated: bool) -> Self {
        let verdict = self.verdict.with_proven(Some(lower.epsilon), self.claim.epsilon);
        if verdict == self.verdict {
            return self;
        }
        ClaimRecord { verdict, says: proven_sentence(lower, is_simulated), ..self }
    }

    /// What theory says, if it alone refutes the claim; documents begin with it.
    pub(super) fn refuted_by_theory(&self) -> Option<&str> {
        (self.verdict.reason == VerdictReason::ProvenLowerBound).then_some(&self.says)
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
