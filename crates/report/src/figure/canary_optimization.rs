//! The drawing of an optimisation of canaries: its curves, and canaries before and after.

use super::chart::{Axis, BLUE, Chart, Frame, Mark, Panel, Point, Shape, Symbol, VERMILION};
use super::picture::Picture;
use super::svg::{Anchor, Stroke};
use super::writer;
use crate::record::{AucEstimate, CanaryOptimizationReport, CanaryValidation};

const LEFTS: [f64; 2] = [90.0, 690.0];
const TOP: f64 = 90.0;
/// Size of a panel of curves.
const PANEL: [f64; 2] = [470.0, 220.0];
/// Top of the canaries, below the legend.
const SHEET: f64 = TOP + PANEL[1] + 200.0;

/// Canaries of a sheet.
const TILES: usize = 24;
const TILES_PER_ROW: usize = 12;
/// From a picture to the next, and the space between them.
const TILE: f64 = 90.0;
const GAP: f64 = 8.0;
/// Height of a row of a table of features.
const ROW: f64 = 11.0;

const RAW: Stroke = Stroke { colour: VERMILION, width: 2.5, dashes: "8 5" };
const PER_CANARY: Stroke = Stroke { colour: BLUE, width: 2.5, dashes: "" };

/// Canaries as pictures.
#[derive(Debug, Clone, Copy)]
pub struct CanaryPictures<'a> {
    /// Channels, height and width of a canary.
    pub shape: [usize; 3],
    /// Smallest and largest value of all features.
    pub range: [f32; 2],
    /// Features before the optimisation, canary by canary.
    pub start: &'a [f32],
    /// Features in the file.
    pub optimised: &'a [f32],
}

/// The drawing of a report.
#[must_use]
pub fn canary_optimization_svg(
    report: &CanaryOptimizationReport,
    pictures: &CanaryPictures<'_>,
) -> String {
    let mut panels = vec![objective(report), areas(report)];
    match pictures.shape[1] {
        0..=1 => panels.extend(tables(pictures)),
        _ => panels.push(images(pictures)),
    }
    let caption = format!(
        "{} of {} canaries; metasmoothness {:.2}; seed {}; dpscope {}",
        TILES.min(report.canaries as usize),
        report.canaries,
        report.metasmoothness,
        report.seed,
        report.version
    );
    writer::to_svg(&Chart {
        title: "Optimised canaries",
        description: report.conclusion(),
        panels: &panels,
        caption: vec![caption],
    })
}

/// A panel of curves over metasteps, with ticks at some values.
fn curves(
    report: &CanaryOptimizationReport,
    left: f64,
    title: &str,
    range: [f64; 2],
    ticks: [f64; 3],
) -> Panel {
    let last = (report.objectives.len() as f64).max(1.0);
    let ticks = ticks.map(|tick| (tick, format!("{tick:.2}").replace('-', "−")));
    let ends = [0.0, last].map(|metasteps| (metasteps, format!("{metasteps:.0}")));
    let mut panel = Panel::new(
        [left, TOP, PANEL[0], PANEL[1]],
        Axis::linear([0.0, last], "metasteps", ends.to_vec()),
        Axis::linear(range, "", ticks.to_vec()),
    );
    panel.title = title.to_owned();
    panel
}

/// Mean loss of canaries that are IN less that of canaries that are OUT.
fn objective(report: &CanaryOptimizationReport) -> Panel {
    let points: Vec<Point> = (1..)
        .zip(&report.objectives)
        .filter_map(|(metastep, value)| Some((f64::from(metastep), (*value)?)))
        .collect();
    let low = points.iter().map(|point| point.1).fold(-1e-3, f64::min);
    let high = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let title = "objective: loss IN − loss OUT, per canary";
    let range = [1.05 * low, 1.05 * high];
    let mut panel = curves(report, LEFTS[0], title, range, [low, 0.5 * low, 0.0]);
    panel.line(points, PER_CANARY, "");
    panel
}

/// AUCs of the validations, with two standard errors on each side.
fn areas(report: &CanaryOptimizationReport) -> Panel {
    let all = report.validations.iter().flat_map(|one| [one.raw.value, one.per_canary.value]);
    let low = (10.0 * all.fold(0.5, f64::min)).floor() / 10.0;
    let title = "AUC of validations on fresh splits";
    let mut panel = curves(report, LEFTS[1], title, [low, 1.0], [low, 0.5 * (low + 1.0), 1.0]);
    type Pick = fn(&CanaryValidation) -> AucEstimate;
    let picks: [(Pick, Stroke, &str); 2] =
        [(|one| one.per_canary, PER_CANARY, "per canary"), (|one| one.raw, RAW, "pooled")];
    for (pick, stroke, name) in picks {
        let place = |one: &CanaryValidation, errors: f64| {
            let AucEstimate { value, standard_error } = pick(one);
            (one.metasteps as f64, value + errors * standard_error)
        };
        let line = report.validations.iter().map(|one| place(one, 0.0)).collect();
        panel.line(line, stroke, name);
        for one in &report.validations {
            let error = Stroke { width: 1.5, dashes: "", ..stroke };
            let symbol = Symbol { shape: Shape::Circle, colour: stroke.colour, is_filled: true };
            panel.line(vec![place(one, -2.0), place(one, 2.0)], error, "");
            panel.marks.push(Mark::Point(place(one, 0.0), symbol));
        }
    }
    panel
}

/// Pairs of pictures: above at the start, below optimised.
fn images(pictures: &CanaryPictures<'_>) -> Panel {
    let [channels, height, width] = pictures.shape;
    let features = channels * height * width;
    let canaries = (pictures.optimised.len() / features.max(1)).min(TILES);
    let wide = TILE - GAP;
    let high = wide * height as f64 / width as f64;
    let block = 2.0 * high + 30.0;
    let size = [TILE * TILES_PER_ROW as f64, block * canaries.div_ceil(TILES_PER_ROW) as f64];
    let place = [100.0, SHEET - 20.0, size[0], size[1]];
    // a unit of the axes is one of the drawing
    let mut panel = Panel::unframed(place, [0.0, size[0]], [size[1], 0.0]);
    for at in 0..canaries {
        let (row, column) = ((at / TILES_PER_ROW) as f64, (at % TILES_PER_ROW) as f64);
        let own = at * features..(at + 1) * features;
        let pair = [("start", pictures.start), ("optimised", pictures.optimised)];
        for ((name, values), line) in pair.into_iter().zip([0.0, 1.0]) {
            let (x, y) = (TILE * column, row * block + line * (high + 4.0));
            let picture = Picture::new(pictures.shape, pictures.range, &values[own.clone()]);
            panel.marks.push(Mark::Picture(picture, [(x, y), (x + wide, y + high)]));
            if at % TILES_PER_ROW == 0 {
                panel.words((0.0, y + 0.5 * high), (-8.0, 6.0), Anchor::End, name);
            }
        }
    }
    panel
}

/// One row per canary, features to the right: at the start, and optimised.
fn tables(pictures: &CanaryPictures<'_>) -> [Panel; 2] {
    let features: usize = pictures.shape.iter().product();
    let canaries = (pictures.optimised.len() / features.max(1)).min(TILES);
    let columns = [(40.0, "start", pictures.start), (640.0, "optimised", pictures.optimised)];
    columns.map(|(left, name, values)| {
        let place = [left, SHEET, 540.0, ROW * canaries as f64];
        let table = Picture::table(features, pictures.range, &values[..canaries * features]);
        let mut panel = Panel::unframed(place, [0.0, 1.0], [0.0, 1.0]);
        panel.frame = Frame::YLeft;
        panel.title = format!("{name}: a row per canary, a column per feature");
        panel.marks.push(Mark::Picture(table, [(0.0, 1.0), (1.0, 0.0)]));
        panel
    })
}
