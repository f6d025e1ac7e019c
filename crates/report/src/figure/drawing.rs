//! Trade-off curves on linear and on logarithmic axes.

use dpscope_core::math::{log10, powi};

use super::chart::{
    Axis, BLACK, BLUE, Chart, Entry, Frame, GREEN, GREY, Mark, ORANGE, PURPLE, Panel, Point, Shape,
    Symbol, VERMILION,
};
use super::svg::Stroke;
use super::{Curve, Curves, writer};
use crate::record::CurveKind;

const TOP: f64 = 70.0;
const LEFT: f64 = 85.0;
/// Left edge of the logarithmic panel; the labels of its curves are in the gap.
const RIGHT: f64 = 690.0;
const SIDE: f64 = 400.0;

const AUDIT: Stroke = Stroke { colour: BLUE, width: 3.0, dashes: "" };
const RESULT: Stroke = Stroke { colour: BLACK, width: 2.5, dashes: "2 5" };
const CLAIM: Stroke = Stroke { colour: VERMILION, width: 3.0, dashes: "16 6" };
const POISSON: Stroke = Stroke { colour: ORANGE, width: 3.0, dashes: "14 5 3 5" };
const DETERMINISTIC: Stroke = Stroke { colour: GREEN, width: 3.0, dashes: "7 5" };
const ATTACK: Stroke = Stroke { colour: PURPLE, width: 3.0, dashes: "14 4 3 4 3 4" };
const NOTHING: Stroke = Stroke { colour: GREY, width: 1.5, dashes: "" };
const BAND_OPACITY: f64 = 0.22;

const RATES: Symbol = Symbol { shape: Shape::Circle, colour: BLACK, is_filled: false };
const LIMITS: Symbol = Symbol { shape: Shape::Square, colour: BLACK, is_filled: true };

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
    let names: Vec<&str> = shown(curves).map(|curve| curve.legend.as_str()).collect();
    writer::to_svg(&Chart {
        title: &curves.title,
        description: format!(
            "{}. Trade-off curves: left, false negative rate against false positive rate; right, true \
             positive rate against false positive rate on logarithmic axes. {}. {}.",
            curves.title,
            names.join(". "),
            curves.caption.join(". ")
        ),
        panels: &[linear(curves), logarithmic(curves)],
        caption: [&curves.caption[..], &curves.notes].concat(),
    })
}

fn linear(curves: &Curves) -> Panel {
    let axis = |title| {
        let ticks = ["0", "0.2", "0.4", "0.6", "0.8", "1"].map(str::to_owned);
        let ticks = (0..).map(|fifth| f64::from(fifth) / 5.0).zip(ticks).collect();
        Axis::linear([0.0, 1.0], title, ticks)
    };
    let place = [LEFT, TOP, SIDE, SIDE];
    let mut panel = Panel::new(place, axis("false positive rate"), axis("false negative rate"));
    push_marks(&mut panel, curves, |rates| rates);
    panel.legend = legend(curves);
    panel
}

fn logarithmic(curves: &Curves) -> Panel {
    let least = least_exponent(curves);
    let every = if least < -5 { 2 } else { 1 };
    let words = |exponent: i32| match exponent {
        _ if exponent % every != 0 => String::new(),
        0 => "1".to_owned(),
        -1 => "0.1".to_owned(),
        _ => format!("10^−{}", -exponent),
    };
    let axis = |title| {
        let ticks = (least..=0).map(|exponent| (powi(10.0, exponent), words(exponent)));
        Axis::logarithmic([powi(10.0, least), 1.0], title, ticks.collect())
    };
    let place = [RIGHT, TOP, SIDE, SIDE];
    let (across, upward) = ("false positive rate (log)", "true positive rate (log)");
    let mut panel = Panel::new(place, axis(across), axis(upward));
    panel.frame = Frame::YRight;
    push_marks(&mut panel, curves, |(fpr, fnr)| (fpr, 1.0 - fnr));
    let ends = shown(curves).map(|curve| (curve.short.clone(), tpr_at(curve, powi(10.0, least))));
    panel.ends = ends.chain([("no leakage".to_owned(), 0.0)]).collect();
    panel
}

/// The decade below the smallest rate that can be seen.
fn least_exponent(curves: &Curves) -> i32 {
    let least = match curves.zero_out_trials {
        Some(trials) => 1.0 / trials.max(1) as f64,
        None => 0.1 * curves.delta,
    };
    (log10(least.clamp(1e-9, 1e-3)) - 1e-9).floor() as i32
}

fn shown(curves: &Curves) -> impl Iterator<Item = &Curve> {
    curves.curves.iter().filter(|curve| curve.is_drawn)
}

/// The true positive rate of a curve at a false positive rate.
fn tpr_at(curve: &Curve, fpr: f64) -> f64 {
    let [from, to] = match curve.points.iter().position(|point| point.fpr >= fpr) {
        None => return 0.0,
        Some(0) => return 1.0 - curve.points[0].fnr,
        Some(next) => [curve.points[next - 1], curve.points[next]],
    };
    1.0 - from.fnr - (fpr - from.fpr) / (to.fpr - from.fpr) * (to.fnr - from.fnr)
}

/// Band, curves and the deciding cut; `view` makes points of the panel of fpr and fnr.
fn push_marks(panel: &mut Panel, curves: &Curves, view: fn(Point) -> Point) {
    if let Some(band) = &curves.band {
        let points = band.most.iter().chain(band.least.iter().rev());
        let outline = points.map(|point| view((point.fpr, point.fnr))).collect();
        panel.marks.push(Mark::Area(outline, AUDIT.colour, BAND_OPACITY));
    }
    panel.line([(0.0, 1.0), (1.0, 0.0)].map(view).to_vec(), NOTHING, "");
    // The audit last: it is what the drawing is about.
    let (audits, others): (Vec<&Curve>, Vec<&Curve>) =
        shown(curves).partition(|curve| curve.name == "audit");
    for curve in others.into_iter().chain(audits) {
        let points = curve.points.iter().map(|point| view((point.fpr, point.fnr)));
        panel.line(points.collect(), stroke(curve), "");
    }
    let [least_x, least_y] = [panel.x.range[0], panel.y.range[0]];
    for point in curves.deciding.iter().flat_map(|deciding| &deciding.points) {
        let at = view((point.fpr, point.fnr));
        // no false positive: at the edge
        if at.1 >= least_y {
            panel.marks.push(Mark::Point(at, RATES));
        }
        let limits = point.fpr_upper.zip(point.fnr_upper).map(view);
        let inside = limits.filter(|(x, y)| *x >= least_x && *y >= least_y);
        panel.marks.extend(inside.map(|at| Mark::Point(at, LIMITS)));
    }
}

fn legend(curves: &Curves) -> Vec<Entry> {
    let entry = |curve: &Curve| {
        let mut entry = Entry::line(stroke(curve), &curve.legend);
        if curve.name == "audit" && curves.band.is_some() {
            let corners = vec![(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)];
            entry.sign.insert(0, Mark::Area(corners, AUDIT.colour, BAND_OPACITY));
        }
        entry
    };
    let deciding = curves.deciding.iter().map(|deciding| Entry {
        sign: vec![Mark::Point((0.26, 0.5), RATES), Mark::Point((0.74, 0.5), LIMITS)],
        words: deciding.legend.clone(),
    });
    let nothing = Entry::line(NOTHING, "no leakage: guessing, fpr + fnr = 1");
    shown(curves).map(entry).chain(deciding).chain([nothing]).collect()
}
