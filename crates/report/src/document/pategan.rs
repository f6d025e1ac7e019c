//! The report of an audit of PATE-GAN.

use dpscope_core::accounting::Kind;
use dpscope_core::format::given;

use super::run_attack::RunAttack;
use super::utility::add_utility;
use super::{Document, Section};
use crate::number::{counted, plain};
use crate::record::{CheckOutcome, PateGanData, PateGanReport, PrivacyUnit};
use crate::summary::tested_limit;
use crate::words::unit_in_words;

/// The result, what was run, and a line per check.
#[must_use]
pub fn pategan_document(report: &PateGanReport) -> Document {
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
