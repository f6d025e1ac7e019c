//! A drawing of canaries of a known null distribution: their normal scores, and the bounds.

use dpscope_core::audit::OutcomeKind;
use dpscope_core::format::{given, rounded};
use dpscope_core::math::exp;
use dpscope_core::special::normal::normal_cdf;

use super::svg::{Anchor, Place, SVG_MARK, Stroke, area, escaped, polyline, text, upright_text};
use crate::number::bound;
use crate::record::OneShotReport;
use crate::record::page::NormalScoreBin;

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 620.0;
const TOP: f64 = 70.0;
const SIDE: f64 = 420.0;
const LEFT: f64 = 85.0;
const RIGHT: f64 = 640.0;
const ACROSS: f64 = 500.0;
const TEXT: u32 = 20;
const BINS: usize = 40;

const CANARIES: Stroke = Stroke { colour: "#0072B2", width: 3.0, dashes: "" };
const NULL: Stroke = Stroke { colour: "#D55E00", width: 3.0, dashes: "14 5" };
const CLAIM: Stroke = Stroke { colour: "#009E73", width: 4.0, dashes: "" };
const FRAME: Stroke = Stroke { colour: "#000", width: 1.5, dashes: "" };

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
    let title = escaped(&report.headline);
    let mut out = format!(
        "{SVG_MARK} viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-labelledby=\"dpscope-title dpscope-desc\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" fill=\"#000\">\n\
         <title id=\"dpscope-title\">{title}</title>\n\
         <desc id=\"dpscope-desc\">{title}. Left: histogram of the normal scores of the canaries, and \
         the density of canaries that are not in. Right: bounds, each with its assumption.</desc>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
    );
    out.push_str(&text((0.5 * WIDTH, 36.0), Anchor::Middle, 24, &report.headline));
    out.push_str(&histogram(scores));
    out.push_str(&bars(report));
    out.push_str("</svg>\n");
    out
}

fn histogram(scores: &[f64]) -> String {
    let found = normal_score_bins(scores, normal_score_range(scores));
    let (low, high) = (found[0].from, found[BINS - 1].to);
    let width = (high - low) / BINS as f64;
    let bins: Vec<f64> = found.iter().map(|bin| bin.canaries as f64).collect();
    let density = |z: f64| exp(-0.5 * z * z) / std::f64::consts::TAU.sqrt();
    let total = scores.len() as f64 * width;
    let most = bins.iter().copied().fold(density(0.0) * total, f64::max).max(1.0);
    let place = |z: f64, count: f64| -> Place {
        let across = (z - low) / (high - low);
        (LEFT + SIDE * across, TOP + SIDE * (1.0 - count / (1.05 * most)))
    };
    let tops = bins.iter().enumerate().flat_map(|(bin, &count)| {
        [bin, bin + 1].map(|edge| place(low + width * edge as f64, count))
    });
    let outline: Vec<Place> =
        [place(low, 0.0)].into_iter().chain(tops).chain([place(high, 0.0)]).collect();
    let steps = (0..=200).map(|step| low + (high - low) * f64::from(step) / 200.0);
    let null: Vec<Place> = steps.map(|z| place(z, density(z) * total)).collect();
    let (right, bottom) = (LEFT + SIDE, TOP + SIDE);
    let corners = [(LEFT, TOP), (right, TOP), (right, bottom), (LEFT, bottom), (LEFT, TOP)];
    let mut out = area(&outline, CANARIES.colour, 0.2);
    out.push_str(&polyline(&outline, CANARIES));
    out.push_str(&polyline(&null, NULL));
    out.push_str(&polyline(&corners, FRAME));
    for z in [low, 0.0, high] {
        let at = (place(z, 0.0).0, bottom + 28.0);
        out.push_str(&text(at, Anchor::Middle, TEXT, &given(z)));
    }
    out.push_str(&text((LEFT + 0.5 * SIDE, bottom + 58.0), Anchor::Middle, TEXT, "normal score z"));
    out.push_str(&upright_text((LEFT - 30.0, TOP + 0.5 * SIDE), TEXT, "canaries"));
    let lines = [(CANARIES, "seen canaries"), (NULL, "canaries that are not in: N(0, 1)")];
    for (line, (stroke, words)) in lines.into_iter().enumerate() {
        let y = bottom + 90.0 + 28.0 * line as f64;
        out.push_str(&polyline(&[(LEFT, y), (LEFT + 50.0, y)], stroke));
        out.push_str(&text((LEFT + 62.0, y + 6.0), Anchor::Start, 18, words));
    }
    out
}

/// A horizontal bar for each bound, with its assumption above.
fn bars(report: &OneShotReport) -> String {
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
    // room for the values beside the bars
    let scale = 0.62 * ACROSS / most;
    let mut out = String::new();
    for (line, (value, assumption, words, opacity)) in rows.iter().enumerate() {
        let y = TOP + 30.0 + 100.0 * line as f64;
        let (end, low) = (RIGHT + scale * value, y + 42.0);
        let corners =
            [(RIGHT, y + 10.0), (end, y + 10.0), (end, low), (RIGHT, low), (RIGHT, y + 10.0)];
        out.push_str(&text((RIGHT, y), Anchor::Start, TEXT, assumption));
        out.push_str(&area(&corners, CANARIES.colour, *opacity));
        out.push_str(&polyline(&corners, Stroke { width: 1.5, ..CANARIES }));
        out.push_str(&text((end + 12.0, y + 33.0), Anchor::Start, TEXT, words));
        if let Some(x) = claimed.map(|claimed| RIGHT + scale * claimed) {
            out.push_str(&polyline(&[(x, y + 4.0), (x, y + 48.0)], CLAIM));
        }
    }
    if let Some(claimed) = claimed {
        let (x, bottom) = (RIGHT + scale * claimed, TOP + 100.0 * rows.len() as f64);
        let words = format!("claim ε = {}", given(claimed));
        out.push_str(&text((x, bottom + 26.0), Anchor::Middle, TEXT, &words));
    }
    out
}
