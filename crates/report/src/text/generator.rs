//! An audit of a user's generator as text.

use dpscope_core::accounting::Kind;
use dpscope_core::format::{given, rounded};

use super::row;
use crate::number::{confidence, counted, delta, plain};
use crate::record::GeneratorReport;

/// The result, what was run, and a line per finding.
#[must_use]
pub fn generator_text(report: &GeneratorReport) -> String {
    let mut out = format!("{}\n\n", report.headline);
    out += &row("meaning", &report.says);
    let of = format!(
        "{} per world, {} of {} each",
        counted(report.runs, "run"),
        counted(report.rows, "row"),
        counted(report.columns, "column")
    );
    out += &row("of", &of);
    if let Some(attack) = &report.attack {
        let text = format!(
            "ε ≥ {} at δ = {}, with {} confidence; {} per world can show at most {}",
            plain(attack.epsilon, Kind::Lower, 4),
            delta(report.delta),
            confidence(report.significance),
            counted(attack.evaluated, "evaluated run"),
            plain(attack.ceiling, Kind::Lower, 2)
        );
        out += &row("attack", &text);
        let auc = [attack.auc.value, attack.auc.lower, attack.auc.upper].map(|x| rounded(x, 3));
        out += &row("AUC", &format!("{} ({} to {})", auc[0], auc[1], auc[2]));
    }
    if let Some(figures) = &report.indicative {
        let text = format!(
            "{} of the synthetic rows equal a real one; distance of real rows to the nearest synthetic \
             row: median {}, least {}. Indicative only: none of this certifies an ε",
            rounded(figures.copied_share, 3),
            rounded(figures.median_distance, 4),
            rounded(figures.least_distance, 4)
        );
        out += &row("indicative", &text);
    }
    if let Some(epsilon) = report.claimed_epsilon {
        out += &row("claim", &format!("ε ≤ {}", given(epsilon)));
    }
    let [with, without] = report.failed;
    if with + without > 0 {
        let text = format!("{with} with the target row, {without} without: outcomes like others");
        out += &row("failed", &text);
    }
    for finding in &report.findings {
        let text = format!("{}: {}. Remedy: {}", finding.name, finding.says, finding.remedy);
        out += &row("finding", &text);
    }
    out
}
