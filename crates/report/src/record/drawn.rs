//! The report of an audit by something that was drawn: a random hold-out, secrets, labels.

use std::borrow::Cow;

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::AdjacencyBounds;
use dpscope_core::audit::claim::{ClaimError, ClaimVerdict, PrivacyClaim, VerdictReason};
use dpscope_core::audit::drawn::{DrawnError, DrawnFinding, DrawnGuesses};
use serde::{Deserialize, Serialize};

use super::claim::verdict_of;
use super::{ClaimRecord, ClaimTest, LimitRecord};
use crate::words::{
    drawn_adjacency_sentence, drawn_claim_sentence, drawn_finding_sentence, drawn_headline,
};

/// The result of an audit by something that was drawn at random, with what it rests on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DrawnReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = DrawnReport::SCHEMA)))]
    pub schema: Cow<'static, str>,
    /// Version of the program.
    pub version: Cow<'static, str>,
    /// The result in one line.
    pub headline: String,
    /// On the claim and the limit together; none where nothing was tested.
    pub verdict: Option<ClaimVerdict>,
    /// What was drawn, and how it was guessed.
    pub guesses: DrawnGuesses,
    /// δ of the statement.
    pub delta: f64,
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// Lower bounds on ε.
    pub bounds: AdjacencyBounds,
    /// The bounds if as many guesses as possible were correct.
    pub ceilings: AdjacencyBounds,
    /// The p-value without any leak.
    pub p_value_without_leak: f64,
    /// For guesses with known odds: the factor by which the odds would have to be wrong, if training did not
    /// leak at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub odds_factor_without_leak: Option<f64>,
    /// What the data indicate about protocol and scores.
    pub findings: Vec<DrawnFindingRecord>,
    /// The claim that was tested.
    pub claim: Option<ClaimRecord>,
    /// The largest acceptable bound on ε for adding or removing a record, and whether it is exceeded.
    pub fail_above: Option<LimitRecord>,
    /// SHA-256 of a plan that was committed, and its seed, hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commitment: Option<String>,
    /// The files that were read, and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<serde_json::Value>,
    /// Wall-clock time of this audit.
    pub elapsed_ms: f64,
}

/// A finding and its sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DrawnFindingRecord {
    /// Its code and its numbers.
    #[serde(flatten)]
    pub finding: DrawnFinding,
    /// What was found and what to do about it.
    pub sentence: String,
}

impl DrawnFindingRecord {
    fn new(finding: DrawnFinding, guesses: &DrawnGuesses) -> Self {
        Self { finding, sentence: drawn_finding_sentence(&finding, guesses) }
    }
}

impl DrawnReport {
    /// The `schema` of these reports.
    pub const SCHEMA: &'static str = "dpscope.drawn/1";

    /// The report of guesses, with what their scores showed.
    ///
    /// # Errors
    /// Counts outside their domains.
    pub fn new(
        guesses: DrawnGuesses,
        (delta, significance): (f64, f64),
        of_scores: Vec<DrawnFinding>,
        test: &ClaimTest,
    ) -> Result<Self, DrawnReportError> {
        let bounds = guesses.bounds(delta, significance)?;
        let ceilings = guesses.ceilings(delta, significance)?;
        let claimed = test.claim.as_ref().map(|claim| (claim.epsilon, bounds.of(claim.adjacency)));
        let far = claimed.filter(|(claimed, bound)| *claimed > 0.0 && *bound > 3.0 * claimed);
        let far = far.map(|(claimed, epsilon)| DrawnFinding::FarAboveClaim { epsilon, claimed });
        let findings: Vec<DrawnFinding> =
            of_scores.into_iter().chain(guesses.all_correct_finding()).chain(far).collect();
        let is_reversed =
            findings.iter().any(|it| matches!(it, DrawnFinding::ScoresReversed { .. }));
        let assumed = matches!(&guesses, DrawnGuesses::Odds(odds) if odds.odds_factor > 1.0);
        let verdict = |adjacency: Adjacency, claimed: f64| {
            if assumed {
                return ClaimVerdict::from(VerdictReason::BoundAssumesMore);
            }
            let (bound, ceiling) = (bounds.of(adjacency), ceilings.of(adjacency));
            let reason = VerdictReason::of_bound(bound, Some(ceiling), claimed);
            ClaimVerdict::from(reason.or_mismatch(is_reversed))
        };
        let of_claim = |claim: PrivacyClaim| -> Result<ClaimRecord, ClaimError> {
            claim.check()?;
            let verdict = verdict(claim.adjacency, claim.epsilon);
            let says = drawn_claim_sentence(verdict.reason, &guesses, claim.adjacency);
            let note = drawn_adjacency_sentence(claim.adjacency, &guesses).into();
            Ok(ClaimRecord { claim, verdict, says, note })
        };
        let claim = test.claim.map(of_claim).transpose()?;
        let limit =
            |epsilon| LimitRecord { epsilon, verdict: verdict(Adjacency::AddRemove, epsilon) };
        let fail_above = test.fail_above.map(limit);
        let of_guesses =
            findings.into_iter().map(|it| DrawnFindingRecord::new(it, &guesses)).collect();
        Ok(Self {
            schema: Self::SCHEMA.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            headline: drawn_headline(&guesses, &bounds, (delta, significance)),
            verdict: verdict_of(
                claim.as_ref().map(|claim| claim.verdict),
                fail_above.map(|limit| limit.verdict),
            ),
            p_value_without_leak: guesses.p_value_without_leak()?,
            odds_factor_without_leak: match &guesses {
                DrawnGuesses::Odds(odds) => {
                    Some(odds.factor_without_leak(significance).map_err(DrawnError::from)?)
                }
                _ => None,
            },
            guesses,
            delta,
            significance,
            bounds,
            ceilings,
            findings: of_guesses,
            claim,
            fail_above,
            commitment: None,
            input: None,
            elapsed_ms: 0.0,
        })
    }

    /// What is tested by this report.
    pub(crate) fn test(&self) -> ClaimTest {
        ClaimTest::of_records(self.claim.as_ref(), self.fail_above.as_ref())
    }

    /// The findings that come from the scores, which the report does not have.
    pub(crate) fn findings_of_scores(&self) -> Vec<DrawnFinding> {
        let findings = self.findings.iter().map(|record| record.finding);
        let of_scores = |finding: &DrawnFinding| {
            matches!(finding, DrawnFinding::TiedScores { .. } | DrawnFinding::ScoresReversed { .. })
        };
        findings.filter(of_scores).collect()
    }
}

/// Guesses without a report.
#[derive(Debug, thiserror::Error)]
pub enum DrawnReportError {
    /// Counts, δ or a significance outside their domains.
    #[error(transparent)]
    Guesses(#[from] DrawnError),
    /// A claim that cannot be compared.
    #[error(transparent)]
    Claim(#[from] ClaimError),
}
