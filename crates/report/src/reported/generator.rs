//! The report of an audit of a user's generator.

use dpscope_core::audit::OutcomeKind;
use dpscope_core::format::{given, rounded};
use dpscope_core::training_check::Severity;
use serde_json::Value;

use super::Reported;
use crate::document::{Document, Hints, RunAttack, Section};
use crate::number::counted;
use crate::recompute::run_attack::run_attack;
use crate::recompute::{Checker, OpenValues, RecomputeError, open};
use crate::record::{GeneratorReport, PrivacyUnit};
use crate::summary::{ListedFinding, ListedValue, Summary, TestKind, TestedClaim, claim_name};
use crate::words::{CONSTANT_ROWS, GeneratorResult, unit_in_words, verdict_in_words};

impl Reported for GeneratorReport {
    const OPEN: OpenValues = OpenValues {
        reasons: &[("/delta", open::INPUT), ("", open::RUNS)],
        findings: Some("/findings"),
    };

    fn summary(&self) -> Summary {
        let claim = self.verdict.zip(self.claimed_epsilon).map(|(outcome, epsilon)| TestedClaim {
            kind: TestKind::Claim,
            name: claim_name(epsilon, self.delta),
            epsilon: Some(epsilon),
            outcome,
            reason: None,
            verdict: verdict_in_words(outcome),
            sentence: self.says.clone(),
        });
        let findings = self.findings.iter().map(|finding| ListedFinding {
            code: finding.name.replace(' ', "-"),
            severity: Severity::Warning,
            sentence: finding.sentence(),
        });
        let GeneratorReport { delta, significance, .. } = *self;
        let values = self.attack.iter().map(|attack| {
            ListedValue::audited(OutcomeKind::Bound, attack.epsilon, delta, significance)
                .of_audit(None, attack.ceiling)
        });
        Summary {
            title: "Privacy audit of a generator of synthetic rows".to_owned(),
            headline: self.headline.clone(),
            tests: claim.into_iter().collect(),
            findings: findings.collect(),
            values: values.collect(),
        }
    }

    fn document(&self, _: Hints) -> Document {
        document(self)
    }

    fn recompute(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
        run_attack(report, "/attack/counts")?;
        if !report.has("/attack") {
            if report.has("/indicative") {
                report.expect("/verdict", Value::Null); // nothing certifies an ε
                report.leave("/headline", open::TEXT);
            }
            return Ok(());
        }
        let number = |pointer: &str| report.parsed::<f64>(pointer, "a number");
        let failed: [u64; 2] = report.parsed("/failed", "two counts")?;
        let found = GeneratorResult {
            claimed: report.compared("/claimed_epsilon"),
            epsilon: number("/attack/epsilon")?,
            ceiling: number("/attack/ceiling")?,
            significance: number("/significance")?,
            runs: report.parsed("/runs", "a count")?,
            failed: failed[0].max(failed[1]),
            is_constant: (0..report.len("/findings"))
                .any(|index| report.is(&format!("/findings/{index}/name"), CONSTANT_ROWS)),
        };
        report.expect("/verdict", found.verdict());
        report.expect("/headline", found.headline());
        report.expect("/says", found.meaning());
        Ok(())
    }
}

/// The result, what was run, and a line per finding.
fn document(report: &GeneratorReport) -> Document {
    let mut document = Document::new(&report.headline);
    document.gap();
    document.open(Section::Meaning);
    document.row("meaning", &report.says);
    let of = format!(
        "{} per world, {} of {} each",
        counted(report.runs, "run"),
        counted(report.rows, "row"),
        counted(report.columns, "column")
    );
    document.open(Section::Subject);
    document.row("of", &of);
    document.detail("unit", unit_in_words(PrivacyUnit::Record));
    document.open(Section::Evidence);
    if let Some(attack) = &report.attack {
        RunAttack {
            epsilon: attack.epsilon,
            delta: report.delta,
            significance: report.significance,
            evaluated: &format!("{} per world", counted(attack.evaluated, "evaluated run")),
            ceiling: attack.ceiling,
            auc: &attack.auc,
        }
        .add_to(&mut document);
    }
    if let Some(figures) = &report.indicative {
        let text = format!(
            "{} of the synthetic rows equal a real one; distance of real rows to the nearest synthetic \
             row: median {}, least {}. Indicative only: none of this certifies an ε",
            rounded(figures.copied_share, 3),
            rounded(figures.median_distance, 4),
            rounded(figures.least_distance, 4)
        );
        document.row("indicative", &text);
    }
    if let Some(epsilon) = report.claimed_epsilon {
        document.row("claim", &format!("ε ≤ {}", given(epsilon)));
    }
    let [with, without] = report.failed;
    if with > 0 || without > 0 {
        let text = format!("{with} with the target row, {without} without: outcomes like others");
        document.row("failed", &text);
    }
    document.open(Section::Findings);
    for finding in &report.findings {
        document.row("finding", &finding.sentence());
    }
    document
}
