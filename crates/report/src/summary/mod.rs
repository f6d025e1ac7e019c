//! What reports of all kinds have in common: what was tested, found and measured.

mod audits;
mod generators;
mod trainings;

pub(crate) use audits::tested_limit;
pub use audits::{one_run_summary, one_shot_summary, report_summary};
pub use generators::{generator_summary, pategan_summary};
pub use trainings::{check_summary, comparison_summary, imported_summary};

use dpscope_core::accounting::{Accounted, Kind};
use dpscope_core::audit::OutcomeKind;
use dpscope_core::audit::claim::Verdict;
use dpscope_core::format::given;
use dpscope_core::training_check::{CheckVerdict, Severity};
use serde::Serialize;

use crate::number;

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
#[derive(Debug, Clone, PartialEq)]
pub struct TestedClaim {
    /// What it is.
    pub kind: TestKind,
    /// Its numbers.
    pub name: String,
    /// The verdict.
    pub outcome: Verdict,
    /// The verdict in a few words.
    pub verdict: &'static str,
    /// What the verdict means.
    pub sentence: String,
}

/// What was tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq)]
pub struct ListedFinding {
    /// Its code, the same in all reports.
    pub code: String,
    /// What it means for the result.
    pub severity: Severity,
    /// What was found, and what to do about it.
    pub sentence: String,
}

/// A value of ε at δ.
#[derive(Debug, Clone, PartialEq)]
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
}

impl ListedValue {
    fn audited(kind: OutcomeKind, epsilon: f64, delta: f64, significance: f64) -> Self {
        let (name, kind, significance) = match kind {
            OutcomeKind::Bound => ("audited lower bound", Kind::Lower, Some(significance)),
            OutcomeKind::Estimate => ("audited estimate", Kind::Estimate, None),
        };
        ListedValue { name, kind, epsilon, delta, significance }
    }
}

/// A value of theory.
fn accounted(name: &'static str, value: &Accounted) -> ListedValue {
    let Accounted { kind, epsilon, delta, significance, .. } = *value;
    ListedValue { name, kind, epsilon, delta, significance }
}

/// What a report of this schema is; of two worlds, the subject follows.
fn title_of(schema: &str) -> &'static str {
    match schema {
        "dpscope.report/2" => "Privacy audit of ",
        "dpscope.one_run/1" => "Privacy audit of one run with canaries",
        "dpscope.one_shot/1" => "Privacy audit of canaries of a known null distribution",
        "dpscope.pategan/1" => "Privacy audit of PATE-GAN",
        "dpscope.generator/1" => "Privacy audit of a generator of synthetic rows",
        "dpscope.check/1" => "Check of a described training",
        "dpscope.imported/1" => "Check of the record of an accountant",
        "dpscope.comparison/1" => "Claimed, proven and estimated ε of a training",
        _ => "",
    }
}

/// The numbers of a claim.
fn claim_name(epsilon: f64, delta: f64) -> String {
    format!("claim ε = {} at δ = {}", given(epsilon), number::delta(delta))
}

fn limit_name(epsilon: f64) -> String {
    format!("limit ε = {}", given(epsilon))
}

/// The code of a finding, as in its record.
fn code(finding: &impl Serialize) -> String {
    let value = serde_json::to_value(finding).ok();
    let code = value.as_ref().and_then(|value| value.get("code")?.as_str());
    code.unwrap_or("finding").replace('_', "-")
}

/// Severity of a finding, by whether it leaves only an estimate.
fn severity(costs_coverage: bool) -> Severity {
    if costs_coverage { Severity::Warning } else { Severity::Note }
}

const fn outcome_of(verdict: CheckVerdict) -> Verdict {
    match verdict {
        CheckVerdict::Refuted => Verdict::Refuted,
        CheckVerdict::HoldsAsDescribed => Verdict::NotRefuted,
        CheckVerdict::Inconclusive => Verdict::Inconclusive,
    }
}
