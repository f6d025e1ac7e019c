//! What reports of all kinds have in common: what was tested, found and measured.

use dpscope_core::accounting::{Accounted, Cell, Kind};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::OutcomeKind;
use dpscope_core::audit::claim::{PrivacyClaim, Verdict, VerdictReason};
use dpscope_core::format::given;
use dpscope_core::training_check::{CheckVerdict, Severity};
use serde::Serialize;

use crate::number;
use crate::record::{ClaimRecord, LimitRecord, OneRunFindingRecord, TheoryComparison};
use crate::words::{check_verdict_in_words, verdict_in_words};

/// The name of what theory proves from below, in lists of values.
pub(crate) const PROVEN_LOWER: &str = "proven lower bound";

/// A report in short.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// What was done.
    pub title: String,
    /// The result in one sentence.
    pub headline: String,
    /// Claims and limits with their verdicts.
    pub tests: Vec<TestedClaim>,
    /// What was found.
    pub findings: Vec<ListedFinding>,
    /// Values of ε.
    pub values: Vec<ListedValue>,
}

/// A claim or a limit that was tested.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TestedClaim {
    /// What it is.
    pub kind: TestKind,
    /// Its numbers.
    pub name: String,
    /// The ε that is claimed, or the largest acceptable one; none for a training as a whole.
    pub epsilon: Option<f64>,
    /// The verdict.
    pub outcome: Verdict,
    /// Why, for a claim about ε that an audit tested.
    pub reason: Option<VerdictReason>,
    /// The verdict in a few words.
    pub verdict: &'static str,
    /// What the verdict means.
    pub sentence: String,
}

/// What was tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TestKind {
    /// A claim about ε at δ.
    Claim,
    /// The largest acceptable bound.
    Limit,
    /// A training as a whole.
    Training,
}

impl TestKind {
    /// A name for machines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            TestKind::Claim => "claim",
            TestKind::Limit => "limit",
            TestKind::Training => "training",
        }
    }
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedFinding {
    /// Its code, the same in all reports.
    pub code: String,
    /// What it means for the result.
    pub severity: Severity,
    /// What was found, and what to do about it.
    pub sentence: String,
}

/// A value of ε at δ.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedValue {
    /// What it is.
    pub name: &'static str,
    /// On which side of the truth it lies.
    pub kind: Kind,
    /// ε, nats.
    pub epsilon: f64,
    /// Privacy parameter δ.
    pub delta: f64,
    /// Chance that a bound is wrong; none for what is proven or estimated.
    pub significance: Option<f64>,
    /// What the neighbouring data sets of an audit differ in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adjacency: Option<Adjacency>,
    /// The largest ε that an audit of this size could have shown, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<f64>,
}

impl ListedValue {
    pub(crate) fn new(
        name: &'static str,
        kind: Kind,
        (epsilon, delta): (f64, f64),
        significance: Option<f64>,
    ) -> Self {
        let (adjacency, ceiling) = (None, None);
        ListedValue { name, kind, epsilon, delta, significance, adjacency, ceiling }
    }

    pub(crate) fn audited(kind: OutcomeKind, epsilon: f64, delta: f64, significance: f64) -> Self {
        let (name, kind, significance) = match kind {
            OutcomeKind::Bound => ("audited lower bound", Kind::Lower, Some(significance)),
            OutcomeKind::Estimate => ("audited estimate", Kind::Estimate, None),
        };
        ListedValue::new(name, kind, (epsilon, delta), significance)
    }

    /// With its neighbours, where the audit states them, and with what it could have shown.
    pub(crate) fn of_audit(
        self,
        adjacency: impl Into<Option<Adjacency>>,
        ceiling: impl Into<Option<f64>>,
    ) -> Self {
        ListedValue { adjacency: adjacency.into(), ceiling: ceiling.into(), ..self }
    }
}

/// A value of theory.
pub(crate) fn accounted(name: &'static str, value: &Accounted) -> ListedValue {
    let Accounted { kind, epsilon, delta, significance, .. } = *value;
    ListedValue::new(name, kind, (epsilon, delta), significance)
}

/// The numbers of a claim.
pub(crate) fn claim_name(epsilon: f64, delta: f64) -> String {
    format!("claim ε = {} at δ = {}", given(epsilon), number::delta(delta))
}

fn limit_name(epsilon: f64) -> String {
    format!("limit ε = {}", given(epsilon))
}

/// The code of a finding, as in its record.
pub(crate) fn code(finding: &impl Serialize) -> String {
    let value = serde_json::to_value(finding).ok();
    let code = value.as_ref().and_then(|value| value.get("code")?.as_str());
    code.unwrap_or("finding").replace('_', "-")
}

/// Severity of a finding, by whether it leaves only an estimate.
pub(crate) fn severity(costs_coverage: bool) -> Severity {
    if costs_coverage { Severity::Warning } else { Severity::Note }
}

pub(crate) const fn outcome_of(verdict: CheckVerdict) -> Verdict {
    match verdict {
        CheckVerdict::Refuted => Verdict::Refuted,
        CheckVerdict::HoldsAsDescribed => Verdict::NotRefuted,
        CheckVerdict::Inconclusive => Verdict::Inconclusive,
    }
}

/// Values that an accountant claims, and that theory proves.
pub(crate) fn theory_values(theory: &TheoryComparison) -> Vec<ListedValue> {
    let value = |name, cell: Option<&Cell>| Some(accounted(name, cell?.value()?));
    let values = [
        value("Poisson accounting", Some(&theory.poisson)),
        value(PROVEN_LOWER, theory.lower.as_ref()),
        value("proven upper bound", theory.upper.as_ref()),
    ];
    values.into_iter().flatten().collect()
}

/// A limit, and the verdict on it in a few words.
pub(crate) fn tested_limit(limit: &LimitRecord) -> TestedClaim {
    let verdict = limit_verdict(limit.verdict.reason);
    TestedClaim {
        kind: TestKind::Limit,
        name: limit_name(limit.epsilon),
        epsilon: Some(limit.epsilon),
        outcome: limit.verdict.outcome,
        reason: Some(limit.verdict.reason),
        verdict,
        sentence: verdict.to_owned(),
    }
}

/// The verdict on a limit, in a few words.
const fn limit_verdict(reason: VerdictReason) -> &'static str {
    match reason {
        VerdictReason::NoNoise => "EXCEEDED, since the outputs contain no noise",
        VerdictReason::BoundExceedsClaim | VerdictReason::ProvenLowerBound => {
            "EXCEEDED by the bound"
        }
        VerdictReason::BoundWithinClaim => "not exceeded by the bound",
        VerdictReason::AttackMismatch => {
            "inconclusive, since the data are not what the attack assumes"
        }
        VerdictReason::CeilingWithinClaim => "inconclusive, since no result could have exceeded it",
        VerdictReason::EstimateOnly
        | VerdictReason::CoverageLost
        | VerdictReason::BoundAssumesMore => "inconclusive, since there is no valid bound",
    }
}

/// A claim that an audit tested.
pub(crate) fn tested_claim(record: &ClaimRecord) -> TestedClaim {
    TestedClaim {
        kind: TestKind::Claim,
        name: claim_name(record.claim.epsilon, record.claim.delta),
        epsilon: Some(record.claim.epsilon),
        outcome: record.verdict.outcome,
        reason: Some(record.verdict.reason),
        verdict: verdict_in_words(record.verdict.outcome),
        sentence: record.says.clone(),
    }
}

/// Verdicts of an audit of one training.
pub(crate) fn canary_tests<'a>(
    claim: Option<&'a ClaimRecord>,
    limit: Option<&'a LimitRecord>,
) -> impl Iterator<Item = TestedClaim> + 'a {
    claim.map(tested_claim).into_iter().chain(limit.map(tested_limit))
}

/// Findings of an audit with canaries.
pub(crate) fn canary_findings(records: &[OneRunFindingRecord]) -> Vec<ListedFinding> {
    let finding = |record: &OneRunFindingRecord| ListedFinding {
        code: code(&record.finding),
        severity: severity(record.costs_coverage),
        sentence: record.sentence.clone(),
    };
    records.iter().map(finding).collect()
}

/// A claim that theory decides.
pub(crate) fn tested(claim: &PrivacyClaim, verdict: CheckVerdict, sentence: String) -> TestedClaim {
    TestedClaim {
        kind: TestKind::Claim,
        name: claim_name(claim.epsilon, claim.delta),
        epsilon: Some(claim.epsilon),
        outcome: outcome_of(verdict),
        reason: None,
        verdict: check_verdict_in_words(verdict),
        sentence,
    }
}
