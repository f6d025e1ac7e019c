//! Summaries of what theory says of trainings.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::training_check::CheckVerdict;

use super::{
    ListedFinding, ListedValue, Summary, TestKind, TestedClaim, accounted, claim_name, code,
    outcome_of, title_of,
};
use crate::record::{CheckReport, ComparedValue, Comparison, ComparisonLine, ImportedReport};
use crate::words::check_verdict_in_words;

/// The summary of a check of a described training.
#[must_use]
pub fn check_summary(report: &CheckReport) -> Summary {
    let claim = tested(&report.claim.claim, report.claim.verdict, report.claim.says.to_owned());
    let findings = report.findings.iter().map(|record| ListedFinding {
        code: code(&record.finding),
        severity: record.severity,
        sentence: record.says.clone(),
    });
    let values = [
        ("proven lower bound", report.lower),
        ("proven upper bound", report.upper),
        ("Poisson accounting", report.poisson),
    ];
    Summary {
        title: title_of(&report.schema).to_owned(),
        headline: format!("{}: {}", claim.name, claim.verdict),
        tests: vec![claim],
        findings: findings.collect(),
        values: values
            .iter()
            .filter_map(|(name, value)| Some(accounted(name, value.as_ref()?)))
            .collect(),
    }
}

/// The summary of phases that another accountant recorded.
#[must_use]
pub fn imported_summary(report: &ImportedReport) -> Summary {
    let claim =
        report.claim.map(|found| tested(&found.claim, found.verdict, report.says.to_string()));
    let headline = claim.as_ref().map(|claim| format!("{}: {}", claim.name, claim.verdict));
    Summary {
        title: title_of(&report.schema).to_owned(),
        headline: headline.unwrap_or_else(|| report.says.to_string()),
        tests: claim.into_iter().collect(),
        findings: Vec::new(),
        values: vec![
            accounted("proven lower bound", &report.lower),
            accounted("proven upper bound", &report.upper),
        ],
    }
}

/// The summary of claimed, proven and estimated ε.
#[must_use]
pub fn comparison_summary(report: &Comparison) -> Summary {
    let claim = report.claim.as_ref().map(|claim| TestedClaim {
        kind: TestKind::Claim,
        name: claim_name(claim.epsilon, report.delta),
        outcome: outcome_of(claim.verdict),
        verdict: check_verdict_in_words(claim.verdict),
        sentence: claim.sentence.clone(),
    });
    Summary {
        title: title_of(&report.schema).to_owned(),
        headline: report.headline.clone(),
        tests: claim.into_iter().collect(),
        findings: Vec::new(),
        values: report.rows.iter().filter_map(line).collect(),
    }
}

fn tested(claim: &PrivacyClaim, verdict: CheckVerdict, sentence: String) -> TestedClaim {
    TestedClaim {
        kind: TestKind::Claim,
        name: claim_name(claim.epsilon, claim.delta),
        outcome: outcome_of(verdict),
        verdict: check_verdict_in_words(verdict),
        sentence,
    }
}

fn line(line: &ComparisonLine) -> Option<ListedValue> {
    let name = line.quantity.name();
    match &line.value {
        ComparedValue::Theory(cell) => cell.value().map(|value| accounted(name, value)),
        ComparedValue::Audit(audit) => Some(ListedValue {
            name,
            kind: audit.kind,
            epsilon: audit.epsilon,
            delta: audit.delta,
            significance: (audit.kind == Kind::Lower).then_some(audit.significance),
        }),
    }
}
