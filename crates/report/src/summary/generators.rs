//! Summaries of audits of generators.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::OutcomeKind;
use dpscope_core::training_check::Severity;

use super::{
    ListedFinding, ListedValue, Summary, TestKind, TestedClaim, claim_name, tested_limit, title_of,
};
use crate::record::{CheckOutcome, GeneratorReport, PateGanReport};
use crate::words::verdict_in_words;

/// The summary of an audit of PATE-GAN: its claim is the accounted ε.
#[must_use]
pub fn pategan_summary(report: &PateGanReport) -> Summary {
    let PateGanReport { delta, significance, verdict, .. } = *report;
    let claim = TestedClaim {
        kind: TestKind::Claim,
        name: claim_name(report.accounted_epsilon, delta),
        outcome: verdict,
        verdict: verdict_in_words(verdict),
        sentence: report.says.clone(),
    };
    let fired = report.checks.iter().filter(|check| check.outcome == CheckOutcome::Fired);
    let findings: Vec<ListedFinding> = fired
        .map(|check| ListedFinding {
            code: check.detector.to_lowercase(),
            severity: Severity::Refutes,
            sentence: format!(
                "{}: {}. Remedy: {}",
                check.name,
                check.says.as_deref().unwrap_or_default(),
                check.remedy.as_deref().unwrap_or_default()
            ),
        })
        .collect();
    // a fault voids what is accounted for
    let accounted = findings.is_empty().then_some(ListedValue {
        name: "accounted upper bound",
        kind: Kind::Upper,
        epsilon: report.accounted_epsilon,
        delta,
        significance: None,
    });
    let audited = ListedValue::audited(OutcomeKind::Bound, report.epsilon, delta, significance);
    Summary {
        title: title_of(&report.schema).to_owned(),
        headline: report.headline.clone(),
        tests: [claim].into_iter().chain(report.fail_above.as_ref().map(tested_limit)).collect(),
        findings,
        values: [audited].into_iter().chain(accounted).collect(),
    }
}

/// The summary of an audit of a user's generator.
#[must_use]
pub fn generator_summary(report: &GeneratorReport) -> Summary {
    let claim = report.verdict.zip(report.claimed_epsilon).map(|(outcome, epsilon)| TestedClaim {
        kind: TestKind::Claim,
        name: claim_name(epsilon, report.delta),
        outcome,
        verdict: verdict_in_words(outcome),
        sentence: report.says.clone(),
    });
    let findings = report.findings.iter().map(|finding| ListedFinding {
        code: finding.name.replace(' ', "-"),
        severity: Severity::Warning,
        sentence: finding.sentence(),
    });
    let GeneratorReport { delta, significance, .. } = *report;
    let values = report.attack.iter().map(|attack| {
        ListedValue::audited(OutcomeKind::Bound, attack.epsilon, delta, significance)
    });
    Summary {
        title: title_of(&report.schema).to_owned(),
        headline: report.headline.clone(),
        tests: claim.into_iter().collect(),
        findings: findings.collect(),
        values: values.collect(),
    }
}
