//! A drawing of an audit of a user's generator: scores of both worlds, and what they show.

use dpscope_core::accounting::Kind;
use dpscope_core::format::{given, rounded};

use super::chart::Chart;
use super::pategan::{list, score_panel};
use super::writer;
use crate::number::plain;
use crate::record::GeneratorReport;

/// A self-contained SVG; `scores` are those of evaluated runs with the target and without.
#[must_use]
pub fn generator_svg(scores: [&[f64]; 2], report: &GeneratorReport) -> String {
    let facts: Vec<_> = facts(report).into_iter().map(|fact| (None, fact)).collect();
    let mut panels = vec![list(&facts)];
    if scores.iter().all(|world| !world.is_empty()) {
        panels.insert(0, score_panel(scores));
    }
    writer::to_svg(&Chart {
        title: &report.headline,
        description: format!(
            "{}. Left: histograms of the scores of runs with the target and without. Right: what they \
             show.",
            report.headline
        ),
        panels: &panels,
        caption: Vec::new(),
    })
}

fn facts(report: &GeneratorReport) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(attack) = &report.attack {
        facts.push(format!("shown: ε ≥ {}", plain(attack.epsilon, Kind::Lower, 2)));
        facts.push(format!("so many runs can show: ε ≥ {}", plain(attack.ceiling, Kind::Lower, 2)));
        let auc = [attack.auc.value, attack.auc.lower, attack.auc.upper].map(|x| rounded(x, 3));
        facts.push(format!("AUC {} ({} to {})", auc[0], auc[1], auc[2]));
    }
    facts.extend(report.claimed_epsilon.map(|epsilon| format!("claimed: ε ≤ {}", given(epsilon))));
    facts.push(format!("runs per world: {}, rows per run: {}", report.runs, report.rows));
    let [with, without] = report.failed;
    facts.push(format!("failed runs: {with} with the target, {without} without"));
    facts.extend(report.findings.iter().map(|finding| format!("finding: {}", finding.name)));
    facts
}
