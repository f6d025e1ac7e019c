//! Summaries of audits.

use dpscope_core::accounting::{Cell, Schedule};
use dpscope_core::audit::claim::VerdictReason;
use dpscope_core::mechanism::SamplerKind;

use super::{
    ListedFinding, ListedValue, Summary, TestKind, TestedClaim, accounted, claim_name, code,
};
use super::{limit_name, severity, title_of};
use crate::record::{
    LimitRecord, OneRunClaim, OneRunFindingRecord, OneRunReport, OneShotReport, Report,
    TheoryComparison,
};
use crate::words::{claimed_training_in_words, limit_sentence, verdict_in_words};

/// The summary of an audit with two worlds.
#[must_use]
pub fn report_summary(report: &Report) -> Summary {
    let result = &report.result;
    let claim = report.claim.as_ref().map(|record| TestedClaim {
        kind: TestKind::Claim,
        name: claim_name(record.claim().epsilon, record.claim().delta),
        outcome: record.verdict.outcome,
        verdict: verdict_in_words(record.verdict.outcome),
        sentence: record.says.clone(),
    });
    let limit = report.fail_above.as_ref().map(|limit| TestedClaim {
        sentence: limit_sentence(limit.verdict.reason, report.subject).to_owned(),
        ..tested_limit(limit)
    });
    let findings = report.findings.iter().map(|record| ListedFinding {
        code: code(&record.finding),
        severity: severity(record.costs_coverage),
        sentence: record.sentence.clone(),
    });
    let audited =
        ListedValue::audited(result.kind, result.epsilon, result.delta, result.significance);
    let theory = report.theory.as_ref().map_or(Vec::new(), theory_values);
    Summary {
        title: title_of(&report.schema).to_owned() + report.subject.name(),
        headline: report.headline.clone(),
        tests: claim.into_iter().chain(limit).collect(),
        findings: findings.collect(),
        values: [audited].into_iter().chain(theory).collect(),
    }
}

/// Values that an accountant claims, and that theory proves.
fn theory_values(theory: &TheoryComparison) -> Vec<ListedValue> {
    let value = |name, cell: Option<&Cell>| Some(accounted(name, cell?.value()?));
    let values = [
        value("Poisson accounting", Some(&theory.poisson)),
        value("proven lower bound", theory.lower.as_ref()),
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
        outcome: limit.verdict.outcome,
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

/// A training that is claimed as a whole.
fn training_name(sampler: SamplerKind, schedule: &Schedule) -> String {
    format!("training {}", claimed_training_in_words(sampler, schedule))
}

/// The summary of an audit of one run.
#[must_use]
pub fn one_run_summary(report: &OneRunReport) -> Summary {
    let training = report.claimed_training.as_ref().map(|claimed| TestedClaim {
        kind: TestKind::Training,
        name: training_name(claimed.sampler, &claimed.schedule),
        outcome: claimed.test.verdict.outcome,
        verdict: verdict_in_words(claimed.test.verdict.outcome),
        sentence: claimed.says.clone(),
    });
    let values = report.bounds.iter().map(|bound| {
        ListedValue::audited(report.kind, bound.epsilon, bound.delta, report.significance)
    });
    let theory = report.training.as_ref().map(|training| theory_values(&training.theory));
    Summary {
        title: title_of(&report.schema).to_owned(),
        headline: report.headline.clone(),
        tests: canary_tests(report.claim.as_ref(), report.fail_above.as_ref())
            .chain(training)
            .collect(),
        findings: canary_findings(&report.findings),
        values: values.chain(theory.into_iter().flatten()).collect(),
    }
}

/// The summary of an audit with canaries of a known null distribution.
#[must_use]
pub fn one_shot_summary(report: &OneShotReport) -> Summary {
    let OneShotReport { kind, bounds, delta, significance, .. } = *report;
    Summary {
        title: title_of(&report.schema).to_owned(),
        headline: report.headline.clone(),
        tests: canary_tests(report.claim.as_ref(), report.fail_above.as_ref()).collect(),
        findings: canary_findings(&report.findings),
        values: vec![ListedValue::audited(kind, bounds.epsilon, delta, significance)],
    }
}

fn canary_tests<'a>(
    claim: Option<&'a OneRunClaim>,
    limit: Option<&'a LimitRecord>,
) -> impl Iterator<Item = TestedClaim> + 'a {
    let claim = claim.map(|record| TestedClaim {
        kind: TestKind::Claim,
        name: claim_name(record.claim.epsilon, record.claim.delta),
        outcome: record.verdict.outcome,
        verdict: verdict_in_words(record.verdict.outcome),
        sentence: record.says.clone(),
    });
    claim.into_iter().chain(limit.map(tested_limit))
}

fn canary_findings(records: &[OneRunFindingRecord]) -> Vec<ListedFinding> {
    let finding = |record: &OneRunFindingRecord| ListedFinding {
        code: code(&record.finding),
        severity: severity(record.costs_coverage),
        sentence: record.sentence.clone(),
    };
    records.iter().map(finding).collect()
}
