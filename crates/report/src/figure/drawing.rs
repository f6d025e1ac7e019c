//! The drawing: two panels, a legend, a caption.

use dpscope_core::math::log10;

use super::labels::heights;
use super::panel::{Axes, Panel, SIDE, TEXT};
use super::svg::{Anchor, Place, SVG_MARK, Stroke, area, coordinate, escaped, polyline, text};
use super::{Curve, Curves};
use crate::record::CurveKind;

const WIDTH: f64 = 1200.0;
const TOP: f64 = 70.0;
const LEFT: f64 = 85.0;
/// Left edge of the right panel; the labels of its curves are in the gap.
const RIGHT: f64 = 690.0;
const LINE: f64 = 29.0;

/// Longest line of words, in characters.
const LONGEST: usize = 110;

/// Colours of Okabe and Ito, distinct for colour-blind readers; dashes distinguish them in grey.
const AUDIT: Stroke = Stroke { colour: "#0072B2", width: 3.0, dashes: "" };
const RESULT: Stroke = Stroke { colour: "#000000", width: 2.5, dashes: "2 5" };
const CLAIM: Stroke = Stroke { colour: "#D55E00", width: 3.0, dashes: "16 6" };
const POISSON: Stroke = Stroke { colour: "#E69F00", width: 3.0, dashes: "14 5 3 5" };
const DETERMINISTIC: Stroke = Stroke { colour: "#009E73", width: 3.0, dashes: "7 5" };
const ATTACK: Stroke = Stroke { colour: "#CC79A7", width: 3.0, dashes: "14 4 3 4 3 4" };
const NOTHING: Stroke = Stroke { colour: "#777777", width: 1.5, dashes: "" };
const LEADER: Stroke = Stroke { colour: "#777777", width: 1.0, dashes: "" };

fn stroke(curve: &Curve) -> Stroke {
    match (curve.name, curve.kind) {
        ("audit", _) => AUDIT,
        ("deterministic", _) => DETERMINISTIC,
        (_, CurveKind::Claim) => CLAIM,
        (_, CurveKind::Upper) => POISSON,
        (_, CurveKind::Lower) => ATTACK,
        (_, CurveKind::Bound | CurveKind::Estimate) => RESULT,
    }
}

/// The whole drawing.
#[must_use]
pub fn to_svg(curves: &Curves) -> String {
    let linear = Panel { left: LEFT, top: TOP, axes: Axes::Linear };
    let axes = Axes::Logarithmic(least_exponent(curves));
    let logarithmic = Panel { left: RIGHT, top: TOP, axes };
    let (legend, height) = legend_and_caption(curves);
    let mut out = format!(
        "{SVG_MARK} viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"dpscope-title dpscope-desc\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" fill=\"#000\">\n"
    );
    let title = escaped(&curves.title);
    out.push_str(&format!("<title id=\"dpscope-title\">{title}</title>\n"));
    let description = escaped(&description(curves));
    out.push_str(&format!("<desc id=\"dpscope-desc\">{description}</desc>\n"));
    out.push_str(&format!("<defs>\n{}{}</defs>\n", linear.clip(), logarithmic.clip()));
    out.push_str(&format!("<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n"));
    out.push_str(&text((0.5 * WIDTH, 36.0), Anchor::Middle, 26, &cut(&curves.title)));
    for panel in [linear, logarithmic] {
        out.push_str(&drawn(&panel, curves));
    }
    out.push_str(&side_labels(&logarithmic, curves));
    out.push_str(&legend);
    out.push_str("</svg>\n");
    out
}

fn shown(curves: &Curves) -> impl Iterator<Item = &Curve> {
    curves.curves.iter().filter(|curve| curve.is_drawn)
}

fn rates(curve: &Curve) -> Vec<(f64, f64)> {
    curve.points.iter().map(|point| (point.fpr, point.fnr)).collect()
}

/// The decade below the smallest rate that can be seen.
fn least_exponent(curves: &Curves) -> i32 {
    let least = match curves.zero_out_trials {
        Some(trials) => 1.0 / trials.max(1) as f64,
        None => 0.1 * curves.delta,
    };
    (log10(least.clamp(1e-9, 1e-3)) - 1e-9).floor() as i32
}

fn description(curves: &Curves) -> String {
    let names: Vec<&str> = shown(curves).map(|curve| curve.legend.as_str()).collect();
    format!(
        "{}. Trade-off curves: left, false negative rate against false positive rate; right, true \
         positive rate against false positive rate on logarithmic axes. {}. {}.",
        curves.title,
        names.join(". "),
        curves.caption.join(". ")
    )
}

/// Axes, band, curves and the deciding cut in one panel.
fn drawn(panel: &Panel, curves: &Curves) -> String {
    let mut out = panel.frame();
    out.push_str(&format!("<g clip-path=\"url(#{})\">\n", panel.clip_name()));
    if let Some(band) = &curves.band {
        let stairs = |points: &[dpscope_core::curve::TradeOffPoint]| -> Vec<Place> {
            points.iter().map(|point| panel.place(point.fpr, point.fnr)).collect()
        };
        let (mut outline, mut back) = (stairs(&band.most), stairs(&band.least));
        back.reverse();
        outline.append(&mut back);
        out.push_str(&area(&outline, AUDIT.colour, 0.22));
    }
    out.push_str(&polyline(&panel.line(&[(0.0, 1.0), (1.0, 0.0)]), NOTHING));
    // The audit last: it is what the drawing is about.
    let (audits, others): (Vec<&Curve>, Vec<&Curve>) =
        shown(curves).partition(|curve| curve.name == "audit");
    for curve in others.into_iter().chain(audits) {
        out.push_str(&polyline(&panel.line(&rates(curve)), stroke(curve)));
    }
    out.push_str("</g>\n");
    if let Some(deciding) = &curves.deciding {
        out.push_str(&marks(panel, deciding));
    }
    out
}

/// Circle and square of the deciding cut.
fn marks(panel: &Panel, deciding: &Curve) -> String {
    let mut out = String::new();
    for point in &deciding.points {
        let (x, y) = panel.place(point.fpr, point.fnr);
        let at = (x.max(panel.left), y); // no false positive: at the edge
        if is_inside(panel, at) {
            out.push_str(&circle(at));
        }
        if let (Some(fpr), Some(fnr)) = (point.fpr_upper, point.fnr_upper) {
            let at = panel.place(fpr, fnr);
            if is_inside(panel, at) {
                out.push_str(&square(at));
            }
        }
    }
    out
}

fn is_inside(panel: &Panel, (x, y): Place) -> bool {
    (panel.left..=panel.left + SIDE).contains(&x) && (panel.top..=panel.top + SIDE).contains(&y)
}

fn circle((x, y): Place) -> String {
    let (x, y) = (coordinate(x), coordinate(y));
    format!(
        "<circle cx=\"{x}\" cy=\"{y}\" r=\"6\" fill=\"#fff\" stroke=\"#000\" stroke-width=\"2\"/>\n"
    )
}

fn square((x, y): Place) -> String {
    let (x, y) = (coordinate(x - 5.0), coordinate(y - 5.0));
    format!("<rect x=\"{x}\" y=\"{y}\" width=\"10\" height=\"10\" fill=\"#000\"/>\n")
}

/// Labels at the left ends of the curves in the logarithmic panel.
fn side_labels(panel: &Panel, curves: &Curves) -> String {
    let end = |places: &[Place]| {
        let inside = places.iter().find(|place| place.0 >= panel.left);
        let y = inside.map_or(panel.top + SIDE, |place| place.1);
        y.clamp(panel.top, panel.top + SIDE)
    };
    let mut words: Vec<(String, f64)> =
        shown(curves).map(|curve| (curve.short.clone(), end(&panel.line(&rates(curve))))).collect();
    words.push(("no leakage".to_owned(), panel.top + SIDE));
    let wanted: Vec<f64> = words.iter().map(|word| word.1).collect();
    let found = heights(&wanted, panel.top + 8.0, panel.top + SIDE - 4.0);
    let mut out = String::new();
    for ((words, y), height) in words.iter().zip(found) {
        let leader = [(panel.left - 30.0, height), (panel.left - 4.0, *y)];
        out.push_str(&polyline(&leader, LEADER));
        let at = (panel.left - 34.0, height + 7.0);
        out.push_str(&text(at, Anchor::End, TEXT, words));
    }
    out
}

/// The legend and the caption below it, and the height of the whole drawing.
fn legend_and_caption(curves: &Curves) -> (String, f64) {
    let mut y = TOP + SIDE + 108.0;
    let mut out = String::new();
    let mut entry = |y: &mut f64, sign: &dyn Fn(f64) -> String, words: &str| {
        out.push_str(&sign(*y - 7.0));
        out.push_str(&text((LEFT + 75.0, *y), Anchor::Start, TEXT, &cut(words)));
        *y += LINE;
    };
    for curve in shown(curves) {
        let has_band = curve.name == "audit" && curves.band.is_some();
        let sign = |y: f64| {
            let line = polyline(&[(LEFT, y), (LEFT + 62.0, y)], stroke(curve));
            let corners = [(-9.0, 0.0), (-9.0, 62.0), (9.0, 62.0), (9.0, 0.0)];
            let corners = corners.map(|(down, right)| (LEFT + right, y + down));
            let band = if has_band { area(&corners, AUDIT.colour, 0.22) } else { String::new() };
            band + &line
        };
        entry(&mut y, &sign, &curve.legend);
    }
    if let Some(deciding) = &curves.deciding {
        let sign = |y: f64| circle((LEFT + 16.0, y)) + &square((LEFT + 46.0, y));
        entry(&mut y, &sign, &deciding.legend);
    }
    let sign = |y: f64| polyline(&[(LEFT, y), (LEFT + 62.0, y)], NOTHING);
    entry(&mut y, &sign, "no leakage: guessing, fpr + fnr = 1");
    y += 0.4 * LINE;
    for line in curves.caption.iter().chain(&curves.notes) {
        out.push_str(&text((LEFT, y), Anchor::Start, TEXT - 2, &cut(line)));
        y += LINE - 3.0;
    }
    (out, y.ceil())
}

/// A line that fits the drawing.
fn cut(line: &str) -> String {
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    line.chars().take(LONGEST - 1).chain(['…']).collect()
}
