//! A drawing of an audit of PATE-GAN: scores of both worlds, and the checks.

use dpscope_core::format::rounded;

use super::scores::{BINS, score_bins};
use super::svg::{Anchor, Place, SVG_MARK, Stroke, area, escaped, polyline, text};
use crate::record::{CheckOutcome, PateGanReport};

const WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 620.0;
const TOP: f64 = 80.0;
const SIDE: f64 = 420.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 580.0;

const FRAME: Stroke = Stroke { colour: "#000", width: 1.5, dashes: "" };
const WITH: Stroke = Stroke { colour: "#D55E00", width: 3.0, dashes: "" };
const WITHOUT: Stroke = Stroke { colour: "#0072B2", width: 3.0, dashes: "14 5" };

/// A self-contained SVG; `scores` are those of evaluated runs with the target and without.
#[must_use]
pub fn pategan_svg(scores: [&[f64]; 2], report: &PateGanReport) -> String {
    let title = escaped(&report.headline);
    let mut out = format!(
        "{SVG_MARK} viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-labelledby=\"dpscope-title dpscope-desc\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" fill=\"#000\">\n\
         <title id=\"dpscope-title\">{title}</title>\n\
         <desc id=\"dpscope-desc\">{title}. Left: histograms of the scores of runs with the target and \
         without. Right: what each check found.</desc>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
    );
    out.push_str(&text((0.5 * WIDTH, 36.0), Anchor::Middle, 20, &report.headline));
    out.push_str(&histograms(scores));
    let auc = [report.auc.value, report.auc.lower, report.auc.upper].map(|x| rounded(x, 3));
    let words = format!("AUC {} ({} to {})", auc[0], auc[1], auc[2]);
    out.push_str(&text((LEFT, TOP + SIDE + 100.0), Anchor::Start, 18, &words));
    for (line, check) in report.checks.iter().enumerate() {
        let y = TOP + 20.0 + 40.0 * line as f64;
        let (mark, colour) = match check.outcome {
            CheckOutcome::Clear => ("clear".to_owned(), "#009E73"),
            CheckOutcome::Untestable => ("not testable".to_owned(), "#999"),
            CheckOutcome::Fired => (format!("FAULT {}", check.faults.join(", ")), "#D55E00"),
        };
        let (low, high) = (RIGHT, RIGHT + 18.0);
        let corners = [(low, y - 15.0), (high, y - 15.0), (high, y + 3.0), (low, y + 3.0)];
        out.push_str(&area(&corners, colour, 1.0));
        let words = format!("{} {}: {mark}", check.detector, check.name);
        out.push_str(&text((RIGHT + 30.0, y), Anchor::Start, 18, &words));
    }
    out.push_str("</svg>\n");
    out
}

pub(super) fn histograms(scores: [&[f64]; 2]) -> String {
    let bins = score_bins(scores);
    let (low, high) =
        (bins.first().map_or(0.0, |bin| bin.from), bins.last().map_or(0.0, |bin| bin.to));
    let shares = [0, 1].map(|world: usize| {
        let runs = scores[world].len().max(1) as f64;
        bins.iter().map(|bin| bin.runs[world] as f64 / runs).collect::<Vec<f64>>()
    });
    let most = shares.iter().flatten().copied().fold(1e-9, f64::max);
    let place = |edge: usize, share: f64| -> Place {
        (LEFT + SIDE * edge as f64 / BINS as f64, TOP + SIDE * (1.0 - share / (1.05 * most)))
    };
    let mut out = String::new();
    for (bins, stroke) in shares.iter().zip([WITH, WITHOUT]) {
        let tops = bins.iter().enumerate();
        let tops = tops.flat_map(|(bin, share)| [place(bin, *share), place(bin + 1, *share)]);
        let outline: Vec<Place> =
            [place(0, 0.0)].into_iter().chain(tops).chain([place(BINS, 0.0)]).collect();
        out.push_str(&area(&outline, stroke.colour, 0.15));
        out.push_str(&polyline(&outline, stroke));
    }
    let (right, bottom) = (LEFT + SIDE, TOP + SIDE);
    let corners = [(LEFT, TOP), (right, TOP), (right, bottom), (LEFT, bottom), (LEFT, TOP)];
    out.push_str(&polyline(&corners, FRAME));
    for (edge, value) in [(0, low), (BINS, high)] {
        let at = (place(edge, 0.0).0, bottom + 24.0);
        out.push_str(&text(at, Anchor::Middle, 18, &rounded(value, 2)));
    }
    out.push_str(&text((LEFT + 0.5 * SIDE, bottom + 24.0), Anchor::Middle, 18, "score"));
    for (line, (stroke, words)) in
        [(WITH, "runs with the target"), (WITHOUT, "runs without it")].into_iter().enumerate()
    {
        let x = LEFT + 230.0 * line as f64;
        let y = bottom + 58.0;
        out.push_str(&polyline(&[(x, y), (x + 40.0, y)], stroke));
        out.push_str(&text((x + 48.0, y + 6.0), Anchor::Start, 18, words));
    }
    out
}
