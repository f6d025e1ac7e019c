//! The report of an audit of two worlds that may be looked at after every run.

use std::borrow::Cow;

use dpscope_core::accounting::Kind;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::Finding;
use dpscope_core::audit::claim::{ClaimError, ClaimVerdict, PrivacyClaim, VerdictReason};
use serde::{Deserialize, Serialize};

use super::claim::verdict_of;
use super::{ClaimRecord, ClaimTest, FindingRecord, LimitRecord};
use crate::number::{confidence, delta, plain};

/// The result of bets on pairs of runs, one of each world.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnytimeReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = AnytimeReport::SCHEMA)))]
    pub schema: Cow<'static, str>,
    /// Version of the program.
    pub version: Cow<'static, str>,
    /// The result in one line.
    pub headline: String,
    /// On the claim and the limit together; none where nothing was tested.
    pub verdict: Option<ClaimVerdict>,
    /// δ of the statement.
    pub delta: f64,
    /// Chance that the bound is wrong at any number of runs.
    pub significance: f64,
    /// Lower bound on ε.
    pub epsilon: f64,
    /// Pairs of runs on which was bet.
    pub pairs: u64,
    /// Pairs of runs before them, which chose the thresholds.
    pub pilot_pairs: u64,
    /// Pairs of the bets after which the bound was reached; none if it is 0.
    pub reached_after: Option<u64>,
    /// What the test of a fixed number of runs shows of the same scores; it holds if this number was fixed
    /// beforehand and the scores are looked at once.
    pub fixed_epsilon: f64,
    /// The bound if every bet won: no result can exceed it.
    pub ceiling: f64,
    /// What the scores indicate.
    pub findings: Vec<FindingRecord>,
    /// The claim that was tested.
    pub claim: Option<ClaimRecord>,
    /// The largest acceptable bound on ε, and whether it is exceeded.
    pub fail_above: Option<LimitRecord>,
    /// The files that were read, and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<serde_json::Value>,
    /// Wall-clock time of this audit.
    pub elapsed_ms: f64,
}

/// What bets on pairs of runs show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnytimeEvidence {
    /// δ of the statement.
    pub delta: f64,
    /// Chance that the bound is wrong at any number of runs.
    pub significance: f64,
    /// Lower bound on ε.
    pub epsilon: f64,
    /// Pairs of runs on which was bet.
    pub pairs: u64,
    /// Pairs of runs before them.
    pub pilot_pairs: u64,
    /// Pairs of the bets after which the bound was reached.
    pub reached_after: Option<u64>,
    /// What the test of a fixed number of runs shows.
    pub fixed_epsilon: f64,
    /// The bound if every bet won.
    pub ceiling: f64,
}

/// What a verdict means.
const fn claim_sentence(reason: VerdictReason) -> &'static str {
    match reason {
        VerdictReason::BoundExceedsClaim => {
            "The procedure behind these scores is not (ε, δ)-DP for any ε below the bound, if its runs were \
             independent of each other. It does not matter when the test was ended."
        }
        VerdictReason::CeilingWithinClaim => {
            "Even if every bet had won, so few runs could not refute the claim: it was not tested. Add runs at the \
             end of the files."
        }
        VerdictReason::AttackMismatch => {
            "The bound does not exceed the claim, but the scores are not what the attack assumes: see the notes."
        }
        _ => {
            "The bound does not exceed the claim, which proves nothing about it. More runs may be added at the end \
             of the files, and the test be looked at again."
        }
    }
}

impl AnytimeReport {
    /// The `schema` of these reports.
    pub const SCHEMA: &'static str = "dpscope.anytime/1";

    /// The report of a bound.
    ///
    /// # Errors
    /// A claim or limit that cannot be compared.
    pub fn new(
        found: &AnytimeEvidence,
        findings: &[Finding],
        test: &ClaimTest,
    ) -> Result<Self, ClaimError> {
        let is_open = findings.iter().any(Finding::leaves_claims_open);
        let reason_of = |claimed: f64| {
            VerdictReason::of_bound(found.epsilon, Some(found.ceiling), claimed)
                .or_mismatch(is_open)
        };
        let of_claim = |claim: PrivacyClaim| -> Result<ClaimRecord, ClaimError> {
            claim.check()?;
            let reason = reason_of(claim.epsilon);
            let says = claim_sentence(reason).to_owned();
            let note = PrivacyClaim::adjacency_note(claim.adjacency).into();
            Ok(ClaimRecord { claim, verdict: reason.into(), says, note })
        };
        let claim = test.claim.map(of_claim).transpose()?;
        let limit = |epsilon: f64| -> Result<LimitRecord, ClaimError> {
            PrivacyClaim { epsilon, delta: found.delta, adjacency: Adjacency::ZeroOut }.check()?;
            Ok(LimitRecord { epsilon, verdict: reason_of(epsilon).into() })
        };
        let fail_above = test.fail_above.map(limit).transpose()?;
        Ok(Self {
            schema: Self::SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            headline: format!(
                "ε ≥ {} at δ = {}, with {} confidence after any number of runs",
                plain(found.epsilon, Kind::Lower, 4),
                delta(found.delta),
                confidence(found.significance)
            ),
            verdict: verdict_of(
                claim.as_ref().map(|claim| claim.verdict),
                fail_above.map(|limit| limit.verdict),
            ),
            delta: found.delta,
            significance: found.significance,
            epsilon: found.epsilon,
            pairs: found.pairs,
            pilot_pairs: found.pilot_pairs,
            reached_after: found.reached_after,
            fixed_epsilon: found.fixed_epsilon,
            ceiling: found.ceiling,
            findings: findings.iter().copied().map(Into::into).collect(),
            claim,
            fail_above,
            input: None,
            elapsed_ms: 0.0,
        })
    }

    /// What was found and what is tested by this report.
    pub(crate) fn evidence(&self) -> (AnytimeEvidence, ClaimTest) {
        let found = AnytimeEvidence {
            delta: self.delta,
            significance: self.significance,
            epsilon: self.epsilon,
            pairs: self.pairs,
            pilot_pairs: self.pilot_pairs,
            reached_after: self.reached_after,
            fixed_epsilon: self.fixed_epsilon,
            ceiling: self.ceiling,
        };
        (found, ClaimTest::of_records(self.claim.as_ref(), self.fail_above.as_ref()))
    }
}
