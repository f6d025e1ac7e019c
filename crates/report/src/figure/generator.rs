//! A drawing of an audit of a user's generator: scores of both worlds, and what they show.

use dpscope_core::accounting::Kind;
use dpscope_core::format::{given, rounded};

use super::pategan::histograms;
use super::svg::{Anchor, SVG_MARK, escaped, text};
use crate::number::plain;
use crate::record::GeneratorReport;

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 620.0;
const RIGHT: f64 = 580.0;

/// A self-contained SVG; `scores` are those of evaluated runs with the target and without.
#[must_use]
pub fn generator_svg(scores: [&[f64]; 2], report: &GeneratorReport) -> String {
    let title = escaped(&report.headline);
    let mut out = format!(
        "{SVG_MARK} viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-labelledby=\"dpscope-title dpscope-desc\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" fill=\"#000\">\n\
         <title id=\"dpscope-title\">{title}</title>\n\
         <desc id=\"dpscope-desc\">{title}. Left: histograms of the scores of runs with the target and \
         without. Right: what they show.</desc>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
    );
    out.push_str(&text((0.5 * WIDTH, 36.0), Anchor::Middle, 20, &report.headline));
    if scores.iter().all(|world| !world.is_empty()) {
        out.push_str(&histograms(scores));
    }
    for (line, words) in facts(report).iter().enumerate() {
        let y = 100.0 + 40.0 * line as f64;
        out.push_str(&text((RIGHT, y), Anchor::Start, 18, words));
    }
    out.push_str("</svg>\n");
    out
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
