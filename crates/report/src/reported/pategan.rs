//! The report of an audit of PATE-GAN.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::OutcomeKind;
use dpscope_core::format::given;
use dpscope_core::training_check::Severity;

use super::Reported;
use crate::document::{Document, Hints, RunAttack, Section, add_utility};
use crate::number::{counted, plain};
use crate::recompute::run_attack::run_attack;
use crate::recompute::verdict::Coverage;
use crate::recompute::{Checker, OpenValues, RecomputeError, open};
use crate::record::{CheckOutcome, PateGanData, PateGanReport, PrivacyUnit};
use crate::summary::{
    ListedFinding, ListedValue, Summary, TestKind, TestedClaim, claim_name, tested_limit,
};
use crate::words::{PateGanFinding, unit_in_words, verdict_in_words};

impl Reported for PateGanReport {
    const OPEN: OpenValues = OpenValues {
        reasons: &[
            ("/delta", open::INPUT),
            ("/settings", open::SETTING),
            ("/data", open::SETTING),
            ("/accounted_epsilon", open::ACCOUNTED),
            ("/moments_epsilon", open::ACCOUNTED),
            ("", open::RUNS),
        ],
        findings: Some("/checks"),
    };

    fn summary(&self) -> Summary {
        let PateGanReport { delta, significance, verdict, .. } = *self;
        let claim = TestedClaim {
            kind: TestKind::Claim,
            name: claim_name(self.accounted_epsilon, delta),
            epsilon: Some(self.accounted_epsilon),
            outcome: verdict,
            reason: None,
            verdict: verdict_in_words(verdict),
            sentence: self.says.clone(),
        };
        let fired = self.checks.iter().filter(|check| check.outcome == CheckOutcome::Fired);
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
        let accounted = findings.is_empty().then(|| {
            let value = (self.accounted_epsilon, delta);
            ListedValue::new("accounted upper bound", Kind::Upper, value, None)
        });
        let audited = ListedValue::audited(OutcomeKind::Bound, self.epsilon, delta, significance);
        let audited = audited.of_audit(None, self.ceiling);
        Summary {
            title: "Privacy audit of PATE-GAN".to_owned(),
            headline: self.headline.clone(),
            tests: [claim].into_iter().chain(self.fail_above.as_ref().map(tested_limit)).collect(),
            findings,
            values: [audited].into_iter().chain(accounted).collect(),
        }
    }

    fn document(&self, _: Hints) -> Document {
        document(self)
    }

    fn recompute(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
        run_attack(report, "/counts")?;
        if !report.has("/counts") && !report.has("/epsilon") {
            return Ok(());
        }
        let number = |pointer: &str| report.parsed::<f64>(pointer, "a number");
        let (epsilon, ceiling) = (number("/epsilon")?, number("/ceiling")?);
        let (accounted, significance) = (number("/accounted_epsilon")?, number("/significance")?);
        let has_fired = |index: &usize| report.is(&format!("/checks/{index}/outcome"), "fired");
        let fired = (0..report.len("/checks")).filter(has_fired).count();
        let found = PateGanFinding { epsilon, ceiling, accounted, fired, significance };
        report.expect("/verdict", found.verdict());
        report.expect_verdict("/fail_above", Coverage::default(), (epsilon, Some(ceiling)));
        report.expect("/headline", found.headline());
        report.expect("/says", found.meaning());
        Ok(())
    }
}

/// The result, what was run, and a line per check.
fn document(report: &PateGanReport) -> Document {
    let settings = &report.settings;
    let mut document = Document::new(&report.headline);
    report.fail_above.iter().for_each(|limit| document.tests(&[tested_limit(limit)]));
    document.gap();
    document.open(Section::Meaning);
    document.row("meaning", &report.says);
    let of = format!(
        "{} with the target row and as many without; {}, gamma {}, batches of {}, {}, {}",
        counted(report.runs, "run"),
        counted(settings.teachers.into(), "teacher"),
        given(settings.gamma),
        settings.batch_size,
        counted(settings.iterations.into(), "iteration"),
        counted(settings.rows.into(), "released row")
    );
    document.open(Section::Subject);
    document.row("of", &of);
    document.detail("unit", unit_in_words(PrivacyUnit::Record));
    if let Some(data) = &report.data {
        document.row("target", &target(data));
        document.row(
            "private",
            "this report depends on private data: protect it like the data, and release only the rows",
        );
    }
    document.open(Section::Evidence);
    RunAttack {
        epsilon: report.epsilon,
        delta: report.delta,
        significance: report.significance,
        evaluated: &counted(report.evaluated, "evaluated run"),
        ceiling: report.ceiling,
        auc: &report.auc,
    }
    .add_to(&mut document);
    document.open(Section::Theory);
    document.row(
        "accounted",
        &format!(
            "ε ≤ {} for the faithful mechanism; ≤ {} by the published moments",
            plain(report.accounted_epsilon, Kind::Upper, 4),
            plain(report.moments_epsilon, Kind::Upper, 4)
        ),
    );
    document.open(Section::Findings);
    for fault in &report.faults {
        document.row("fault", &format!("{} ({}): {}", fault.name, fault.detector, fault.says));
    }
    document.gap();
    add_checks(&mut document, report);
    document.row(
        "checks",
        &format!(
            "report a fault of a faithful mechanism with probability at most {}",
            given(report.checks_significance)
        ),
    );
    document.open(Section::Reproduction);
    document.row("seed", &report.seed);
    if let Some(utility) = &report.utility {
        document.open(Section::Evidence);
        document.gap();
        add_utility(&mut document, utility);
    }
    document
}

/// A line per check.
fn add_checks(document: &mut Document, report: &PateGanReport) {
    for check in &report.checks {
        let says = check.says.as_deref().unwrap_or_default();
        let text = match check.outcome {
            CheckOutcome::Clear => {
                let says = check.says.as_deref().unwrap_or("nothing found");
                format!("{}: {says}", check.name)
            }
            CheckOutcome::Untestable => format!("{}: not testable; {says}", check.name),
            CheckOutcome::Fired => {
                let names = match check.faults.join(", ") {
                    names if names.is_empty() => "no known fault".to_owned(),
                    names => names,
                };
                let remedy = check.remedy.as_deref().unwrap_or_default();
                format!("{}: FAULT {names}: {says}. Remedy: {remedy}", check.name)
            }
        };
        document.row(&check.detector, &text);
    }
}

fn target(data: &PateGanData) -> String {
    let row = data.target_row;
    match (data.candidates, data.candidate_runs) {
        (Some(candidates), Some(runs)) => format!(
            "row {row} of the data, the most exposed of {} by {} of each world that this audit does not \
             use",
            counted(candidates.into(), "candidate"),
            counted(runs, "run")
        ),
        _ => format!("row {row} of the data, as stated"),
    }
}
