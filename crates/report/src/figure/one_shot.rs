//! A drawing of canaries of a known null distribution: their normal scores, and the bounds.

use dpscope_core::audit::OutcomeKind;
use dpscope_core::format::{given, rounded};
use dpscope_core::math::exp;
use dpscope_core::special::normal::normal_cdf;

use super::chart::{Axis, BLUE, Chart, GREEN, Mark, Panel, VERMILION};
use super::svg::{Anchor, Stroke};
use super::writer;
use crate::number::bound;
use crate::record::OneShotReport;
use crate::record::page::NormalScoreBin;

const BINS: usize = 40;

const CANARIES: Stroke = Stroke { colour: BLUE, width: 3.0, dashes: "" };
const NULL: Stroke = Stroke { colour: VERMILION, width: 3.0, dashes: "14 5" };
const CLAIM: Stroke = Stroke { colour: GREEN, width: 4.0, dashes: "" };

/// The interval of a histogram of normal scores: at least four standard deviations on each side.
#[must_use]
pub fn normal_score_range(scores: &[f64]) -> [f64; 2] {
    let known = || scores.iter().copied().filter(|score| score.is_finite());
    [known().fold(-4.0, f64::min).floor(), known().fold(4.0, f64::max).ceil()]
}

/// A histogram of normal scores, in 40 equal intervals of a range, beside N(0, 1).
#[must_use]
pub fn normal_score_bins(scores: &[f64], [low, high]: [f64; 2]) -> Vec<NormalScoreBin> {
    let width = (high - low) / BINS as f64;
    let edge = |place: usize| low + width * place as f64;
    let bin = |place: usize| {
        let (from, to) = (edge(place), edge(place + 1));
        let expected = scores.len() as f64 * (normal_cdf(to) - normal_cdf(from));
        NormalScoreBin { from, to, canaries: 0, expected }
    };
    let mut bins: Vec<NormalScoreBin> = (0..BINS).map(bin).collect();
    for score in scores.iter().filter(|score| score.is_finite()) {
        bins[(((score - low) / width) as usize).min(BINS - 1)].canaries += 1;
    }
    bins
}

/// A self-contained SVG; `scores` are the normal scores of seen canaries.
#[must_use]
pub fn one_shot_svg(scores: &[f64], report: &OneShotReport) -> String {
    writer::to_svg(&Chart {
        title: &report.headline,
        description: format!(
            "{}. Left: histogram of the normal scores of the canaries, and the density of canaries that \
             are not in. Right: bounds, each with its assumption.",
            report.headline
        ),
        panels: &[score_panel(scores), bars(report)],
        caption: Vec::new(),
    })
}

fn score_panel(scores: &[f64]) -> Panel {
    let range = normal_score_range(scores);
    let [low, high] = range;
    let bins: Vec<f64> =
        normal_score_bins(scores, range).iter().map(|bin| bin.canaries as f64).collect();
    let total = scores.len() as f64 * (high - low) / BINS as f64;
    let expected = |z: f64| total * exp(-0.5 * z * z) / std::f64::consts::TAU.sqrt();
    let most = bins.iter().copied().fold(expected(0.0), f64::max).max(1.0);
    let mut panel = Panel::new(
        [85.0, 70.0, 420.0, 420.0],
        Axis::linear(range, "normal score z", [low, 0.0, high].map(|z| (z, given(z))).to_vec()),
        Axis::linear([0.0, 1.05 * most], "canaries", Vec::new()),
    );
    panel.histogram(&bins, CANARIES, "seen canaries");
    let steps = (0..=200).map(|step| low + (high - low) * f64::from(step) / 200.0);
    let null = steps.map(|z| (z, expected(z))).collect();
    panel.line(null, NULL, "canaries that are not in: N(0, 1)");
    panel
}

/// A horizontal bar for each bound, with its assumption above.
fn bars(report: &OneShotReport) -> Panel {
    let sign = if report.kind == OutcomeKind::Bound { '≥' } else { '≈' };
    let named = |value: f64| format!("ε {sign} {}", bound(value, false, 2));
    let bounds = &report.bounds;
    let mut rows = vec![
        (bounds.epsilon, "any training algorithm", named(bounds.epsilon), 0.85),
        (
            bounds.independent_epsilon,
            "if canaries do not influence each other",
            named(bounds.independent_epsilon),
            0.5,
        ),
    ];
    if let Some((epsilon, mu)) = report.epsilon_by_gaussian_curve.zip(bounds.independent_gdp_mu) {
        let value = format!("μ {sign} {}", bound(mu, false, 2));
        let words = "… and the training is Gaussian: refutes no (ε, δ) claim";
        rows.push((epsilon, words, value, 0.25));
    }
    for estimate in report.estimates.iter().take(1) {
        let value = format!("ε ≈ {}", rounded(estimate.epsilon, 2));
        rows.push((estimate.epsilon, "estimate by the mean score, no bound", value, 0.0));
    }
    let claimed = report.claim.as_ref().map(|record| record.claim.epsilon);
    let most = rows.iter().map(|row| row.0).chain(claimed).fold(1e-3, f64::max);
    let count = rows.len() as f64;
    // room for the values beside the bars
    let across = [0.0, most / 0.62];
    let mut panel = Panel::unframed([640.0, 70.0, 500.0, 100.0 * count], across, [count, 0.0]);
    for (row, (value, assumption, shown, opacity)) in (0_u32..).zip(&rows) {
        let y = f64::from(row) + 0.3;
        let (high, low) = (y + 0.1, y + 0.42);
        let outline = vec![(0.0, high), (*value, high), (*value, low), (0.0, low), (0.0, high)];
        panel.marks.push(Mark::Area(outline.clone(), CANARIES.colour, *opacity));
        panel.line(outline, Stroke { width: 1.5, ..CANARIES }, "");
        panel.words((0.0, y), (0.0, 0.0), Anchor::Start, assumption);
        panel.words((*value, y), (12.0, 33.0), Anchor::Start, shown);
        if let Some(x) = claimed {
            panel.line(vec![(x, y + 0.04), (x, y + 0.48)], CLAIM, "");
        }
    }
    if let Some(claimed) = claimed {
        let words = format!("claim ε = {}", given(claimed));
        panel.words((claimed, count), (0.0, 26.0), Anchor::Middle, &words);
    }
    panel
}
