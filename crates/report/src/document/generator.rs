//! The report of an audit of a user's generator.

use dpscope_core::format::{given, rounded};

use super::run_attack::RunAttack;
use super::{Document, Section};
use crate::number::counted;
use crate::record::{GeneratorReport, PrivacyUnit};
use crate::words::unit_in_words;

/// The result, what was run, and a line per finding.
#[must_use]
pub fn generator_document(report: &GeneratorReport) -> Document {
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
