//! The report of an audit of a user's generator.

use dpscope_core::accounting::Kind;
use dpscope_core::format::{given, rounded};

use super::{Document, Section};
use crate::number::{confidence, counted, delta, plain};
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
        let text = format!(
            "ε ≥ {} at δ = {}, with {} confidence; {} per world can show at most {}",
            plain(attack.epsilon, Kind::Lower, 4),
            delta(report.delta),
            confidence(report.significance),
            counted(attack.evaluated, "evaluated run"),
            plain(attack.ceiling, Kind::Lower, 2)
        );
        document.row("attack", &text);
        let auc = [attack.auc.value, attack.auc.lower, attack.auc.upper].map(|x| rounded(x, 3));
        document.row("AUC", &format!("{} ({} to {})", auc[0], auc[1], auc[2]));
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
    if with + without > 0 {
        let text = format!("{with} with the target row, {without} without: outcomes like others");
        document.row("failed", &text);
    }
    document.open(Section::Findings);
    for finding in &report.findings {
        let text = format!("{}: {}. Remedy: {}", finding.name, finding.says, finding.remedy);
        document.row("finding", &text);
    }
    document
}
