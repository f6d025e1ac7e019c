//! A drawing of an audit of PATE-GAN: scores of both worlds, and the checks.

use dpscope_core::format::rounded;

use super::chart::{Axis, BLUE, Chart, GREEN, GREY, Mark, Panel, Shape, Symbol, VERMILION};
use super::scores::score_bins;
use super::svg::{Anchor, Stroke};
use super::writer;
use crate::record::{CheckOutcome, PateGanReport};

const TOP: f64 = 80.0;
const SIDE: f64 = 420.0;

const WITH: Stroke = Stroke { colour: VERMILION, width: 3.0, dashes: "" };
const WITHOUT: Stroke = Stroke { colour: BLUE, width: 3.0, dashes: "14 5" };

/// A self-contained SVG; `scores` are those of evaluated runs with the target and without.
#[must_use]
pub fn pategan_svg(scores: [&[f64]; 2], report: &PateGanReport) -> String {
    let auc = [report.auc.value, report.auc.lower, report.auc.upper].map(|x| rounded(x, 3));
    let checks = report.checks.iter().map(|check| {
        let (outcome, colour) = match check.outcome {
            CheckOutcome::Clear => ("clear".to_owned(), GREEN),
            CheckOutcome::Untestable => ("not testable".to_owned(), GREY),
            CheckOutcome::Fired => (format!("FAULT {}", check.faults.join(", ")), VERMILION),
        };
        (Some(colour), format!("{} {}: {outcome}", check.detector, check.name))
    });
    writer::to_svg(&Chart {
        title: &report.headline,
        description: format!(
            "{}. Left: histograms of the scores of runs with the target and without. Right: what each \
             check found.",
            report.headline
        ),
        panels: &[score_panel(scores), list(&checks.collect::<Vec<_>>())],
        caption: vec![format!("AUC {} ({} to {})", auc[0], auc[1], auc[2])],
    })
}

/// Lines of words right of a histogram, each with a square of its colour, if it has one.
pub(super) fn list(lines: &[(Option<&'static str>, String)]) -> Panel {
    let rows = lines.len() as f64;
    let mut panel = Panel::unframed([580.0, TOP, 600.0, 40.0 * rows], [0.0, 1.0], [rows, 0.0]);
    for (line, (colour, words)) in (0_u32..).zip(lines) {
        let at = (0.0, f64::from(line) + 0.5);
        if let Some(colour) = *colour {
            let symbol = Symbol { shape: Shape::Square, colour, is_filled: true };
            panel.marks.push(Mark::Point(at, symbol));
        }
        panel.words(at, (if colour.is_some() { 20.0 } else { 0.0 }, 6.0), Anchor::Start, words);
    }
    panel
}

/// Histograms of the shares of runs with the target and without.
pub(super) fn score_panel(scores: [&[f64]; 2]) -> Panel {
    let bins = score_bins(scores);
    let low = bins.first().map_or(0.0, |bin| bin.from);
    let high = bins.last().map_or(1.0, |bin| bin.to);
    let shares = [0, 1].map(|world: usize| {
        let runs = scores[world].len().max(1) as f64;
        bins.iter().map(|bin| bin.runs[world] as f64 / runs).collect::<Vec<f64>>()
    });
    let most = shares.iter().flatten().copied().fold(1e-9, f64::max);
    let ends = [low, high].map(|score| (score, rounded(score, 2)));
    let mut panel = Panel::new(
        [70.0, TOP, SIDE, SIDE],
        Axis::linear([low, high], "score", ends.to_vec()),
        Axis::linear([0.0, 1.05 * most], "", Vec::new()),
    );
    panel.histogram(&shares[0], WITH, "runs with the target");
    panel.histogram(&shares[1], WITHOUT, "runs without it");
    panel
}
