//! An audit of PATE-GAN as text.

use dpscope_core::accounting::Kind;
use dpscope_core::format::{given, rounded};

use super::{row, utility_text};
use crate::number::{confidence, counted, delta, plain};
use crate::record::{CheckOutcome, PateGanData, PateGanReport};

/// The result, what was run, and a line per check.
#[must_use]
pub fn pategan_text(report: &PateGanReport) -> String {
    let settings = &report.settings;
    let mut out = format!("{}\n\n", report.headline);
    out += &row("meaning", &report.says);
    let of = format!(
        "{} with the target row and as many without; {}, gamma {}, batches of {}, {}, {}",
        counted(report.runs, "run"),
        counted(settings.teachers.into(), "teacher"),
        given(settings.gamma),
        settings.batch_size,
        counted(settings.iterations.into(), "iteration"),
        counted(settings.rows.into(), "released row")
    );
    out += &row("of", &of);
    if let Some(data) = &report.data {
        out += &row("target", &target(data));
        out += &row(
            "private",
            "this report tells of private data: keep it as they are kept, and release the rows alone",
        );
    }
    let lower = plain(report.epsilon, Kind::Lower, 4);
    out += &row(
        "attack",
        &format!(
            "ε ≥ {lower} at δ = {}, with {} confidence; {} can show at most {}",
            delta(report.delta),
            confidence(report.significance),
            counted(report.evaluated, "evaluated run"),
            plain(report.ceiling, Kind::Lower, 2)
        ),
    );
    let auc = [report.auc.value, report.auc.lower, report.auc.upper].map(|x| rounded(x, 3));
    out += &row("AUC", &format!("{} ({} to {})", auc[0], auc[1], auc[2]));
    out += &row(
        "accounted",
        &format!(
            "ε ≤ {} for the faithful mechanism; ≤ {} by the published moments",
            plain(report.accounted_epsilon, Kind::Upper, 4),
            plain(report.moments_epsilon, Kind::Upper, 4)
        ),
    );
    for fault in &report.faults {
        out += &row("fault", &format!("{} ({}): {}", fault.name, fault.detector, fault.says));
    }
    out += "\n";
    out += &checks(report);
    out += &row(
        "checks",
        &format!(
            "report a fault of a faithful mechanism with probability at most {}",
            given(report.checks_significance)
        ),
    );
    out += &row("seed", &report.seed);
    match &report.utility {
        Some(utility) => out + "\n" + &utility_text(utility),
        None => out,
    }
}

/// A line per check.
fn checks(report: &PateGanReport) -> String {
    let mut out = String::new();
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
                let remedy = check.remedy.unwrap_or_default();
                format!("{}: FAULT {names}: {says}. Remedy: {remedy}", check.name)
            }
        };
        out += &row(check.detector, &text);
    }
    out
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
