//! The report of an audit of a random hold-out.

use std::borrow::Cow;

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::{ClaimError, ClaimVerdict, PrivacyClaim, Verdict, VerdictReason};
use dpscope_core::audit::split::{SplitBounds, SplitError, SplitFinding, SplitGuesses};
use serde::{Deserialize, Serialize};

use super::claim::verdict_of;
use super::{ClaimRecord, ClaimTest, LimitRecord};
use crate::words::{
    split_adjacency_sentence, split_claim_sentence, split_finding_sentence, split_headline,
};

/// The result of an audit of a random hold-out, with what it rests on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SplitReport::SCHEMA)))]
    pub schema: Cow<'static, str>,
    /// Version of the program.
    pub version: Cow<'static, str>,
    /// The result in one line.
    pub headline: String,
    /// On the claim and the limit together; none where nothing was tested.
    pub verdict: Option<ClaimVerdict>,
    /// How the rows were guessed.
    pub guesses: SplitGuesses,
    /// δ of the statement.
    pub delta: f64,
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// Lower bounds on ε.
    pub bounds: SplitBounds,
    /// The bounds if as many guesses as possible were correct.
    pub ceilings: SplitBounds,
    /// The p-value without any leak.
    pub p_value_without_leak: f64,
    /// What the data indicate about protocol and scores.
    pub findings: Vec<SplitFindingRecord>,
    /// The claim that was tested.
    pub claim: Option<ClaimRecord>,
    /// The largest acceptable bound on ε for adding or removing a row, and whether it is exceeded.
    pub fail_above: Option<LimitRecord>,
    /// The files that were read, and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<serde_json::Value>,
    /// Wall-clock time of this audit.
    pub elapsed_ms: f64,
}

/// A finding and its sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitFindingRecord {
    /// Its code and its numbers.
    #[serde(flatten)]
    pub finding: SplitFinding,
    /// What was found and what to do about it.
    pub sentence: String,
}

impl From<SplitFinding> for SplitFindingRecord {
    fn from(finding: SplitFinding) -> Self {
        Self { finding, sentence: split_finding_sentence(&finding) }
    }
}

impl SplitReport {
    /// The `schema` of these reports.
    pub const SCHEMA: &'static str = "dpscope.split/1";

    /// The report of guesses, with what their scores showed.
    ///
    /// # Errors
    /// Counts outside their domains.
    pub fn new(
        guesses: SplitGuesses,
        (delta, significance): (f64, f64),
        of_scores: Vec<SplitFinding>,
        test: &ClaimTest,
    ) -> Result<Self, SplitReportError> {
        let bounds = guesses.bounds(delta, significance)?;
        let ceilings = guesses.ceilings(delta, significance)?;
        let claimed = test.claim.as_ref().map(|claim| (claim.epsilon, bounds.of(claim.adjacency)));
        let far = claimed.filter(|(claimed, bound)| *claimed > 0.0 && *bound > 3.0 * claimed);
        let far = far.map(|(claimed, epsilon)| SplitFinding::FarAboveClaim { epsilon, claimed });
        let findings: Vec<SplitFinding> =
            of_scores.into_iter().chain(all_correct(&guesses)).chain(far).collect();
        let is_reversed =
            findings.iter().any(|it| matches!(it, SplitFinding::ScoresReversed { .. }));
        let verdict = |adjacency: Adjacency, claimed: f64| {
            let (bound, ceiling) = (bounds.of(adjacency), ceilings.of(adjacency));
            let reason = VerdictReason::of_bound(bound, Some(ceiling), claimed);
            ClaimVerdict::from(match reason.verdict() {
                Verdict::Refuted => reason,
                _ if is_reversed => VerdictReason::AttackMismatch,
                _ => reason,
            })
        };
        let of_claim = |claim: PrivacyClaim| -> Result<ClaimRecord, ClaimError> {
            claim.check()?;
            let verdict = verdict(claim.adjacency, claim.epsilon);
            let says = split_claim_sentence(verdict.reason, &guesses);
            let note = split_adjacency_sentence(claim.adjacency).into();
            Ok(ClaimRecord { claim, verdict, says, note })
        };
        let claim = test.claim.map(of_claim).transpose()?;
        let limit =
            |epsilon| LimitRecord { epsilon, verdict: verdict(Adjacency::AddRemove, epsilon) };
        let fail_above = test.fail_above.map(limit);
        Ok(Self {
            schema: Self::SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            headline: split_headline(&bounds, (delta, significance)),
            verdict: verdict_of(
                claim.as_ref().map(|claim| claim.verdict),
                fail_above.map(|limit| limit.verdict),
            ),
            p_value_without_leak: guesses.p_value_without_leak()?,
            guesses,
            delta,
            significance,
            bounds,
            ceilings,
            findings: findings.into_iter().map(Into::into).collect(),
            claim,
            fail_above,
            input: None,
            elapsed_ms: 0.0,
        })
    }

    /// What is tested by this report.
    pub(crate) fn test(&self) -> ClaimTest {
        ClaimTest {
            claim: self.claim.as_ref().map(|record| record.claim),
            fail_above: self.fail_above.map(|limit| limit.epsilon),
        }
    }

    /// The findings that come from the scores, which the report does not have.
    pub(crate) fn findings_of_scores(&self) -> Vec<SplitFinding> {
        let findings = self.findings.iter().map(|record| record.finding);
        let of_scores = |finding: &SplitFinding| {
            matches!(finding, SplitFinding::TiedScores { .. } | SplitFinding::ScoresReversed { .. })
        };
        findings.filter(of_scores).collect()
    }
}

/// All of many guesses correct.
fn all_correct(guesses: &SplitGuesses) -> Option<SplitFinding> {
    let (guessed, correct, possible) = match guesses {
        SplitGuesses::Cut { strata } => strata.iter().fold((0, 0, 0), |sum, counts| {
            (
                sum.0 + counts.guesses_in + counts.guesses_out,
                sum.1 + counts.correct_in + counts.correct_out,
                sum.2 + counts.members + counts.non_members,
            )
        }),
        SplitGuesses::Sets { guesses, correct, members, non_members } => {
            (*guesses, *correct, *members.min(non_members))
        }
    };
    (guessed == correct && 2 * guessed >= possible)
        .then_some(SplitFinding::AllCorrect { guesses: guessed })
}

/// A split without a report.
#[derive(Debug, thiserror::Error)]
pub enum SplitReportError {
    /// Counts, δ or a significance outside their domains.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// A claim that cannot be compared.
    #[error(transparent)]
    Claim(#[from] ClaimError),
}
