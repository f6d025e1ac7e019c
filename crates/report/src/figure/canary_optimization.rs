//! The drawing of an optimisation of canaries: its curves, and canaries before and after.

use super::picture::Picture;
use super::svg::{Anchor, Place, SVG_MARK, Stroke, coordinate, escaped, polyline, text};
use crate::record::{AucEstimate, CanaryOptimizationReport};

const WIDTH: f64 = 1200.0;
const LEFT: f64 = 90.0;
const TOP: f64 = 100.0;
/// Size of a panel of curves, and the left edge of the second.
const PANEL: Place = (470.0, 220.0);
const RIGHT: f64 = 690.0;
/// Top of the canaries.
const SHEET: f64 = TOP + PANEL.1 + 130.0;
const TEXT: u32 = 17;

/// Canaries of a sheet.
const TILES: usize = 24;
const TILES_PER_ROW: usize = 12;
/// Height of a row of a table of features.
const ROW: f64 = 11.0;

const FRAME: Stroke = Stroke { colour: "#000", width: 1.0, dashes: "" };
const GRID: Stroke = Stroke { colour: "#ddd", width: 1.0, dashes: "" };
/// Colours of Okabe and Ito; dashes distinguish them in grey.
const RAW: Stroke = Stroke { colour: "#D55E00", width: 2.5, dashes: "8 5" };
const PER_CANARY: Stroke = Stroke { colour: "#0072B2", width: 2.5, dashes: "" };

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
    let is_image = pictures.shape[1] > 1;
    let (sheet, bottom) = if is_image { images(pictures) } else { tables(pictures) };
    let height = (bottom + 50.0).ceil();
    let title = "Optimised canaries";
    let mut out = format!(
        "{SVG_MARK} viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"dpscope-title dpscope-desc\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" fill=\"#000\">\n"
    );
    out.push_str(&format!("<title id=\"dpscope-title\">{title}</title>\n"));
    let description = escaped(&report.conclusion());
    out.push_str(&format!("<desc id=\"dpscope-desc\">{description}</desc>\n"));
    out.push_str(&format!("<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n"));
    out.push_str(&text((0.5 * WIDTH, 38.0), Anchor::Middle, 26, title));
    out.push_str(&objective(report));
    out.push_str(&areas(report));
    out.push_str(&sheet);
    let caption = format!(
        "{} of {} canaries; metasmoothness {:.2}; seed {}; dpscope {}",
        TILES.min(report.canaries as usize),
        report.canaries,
        report.metasmoothness,
        report.seed,
        report.version
    );
    out.push_str(&text((LEFT - 50.0, bottom + 30.0), Anchor::Start, TEXT - 2, &caption));
    out.push_str("</svg>\n");
    out
}

/// Axes of a panel: metasteps to the right, values upwards.
struct Axes {
    left: f64,
    metasteps: f64,
    range: [f64; 2],
}

impl Axes {
    fn place(&self, metastep: f64, value: f64) -> Place {
        let [low, high] = self.range;
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
        (self.left + PANEL.0 * metastep / self.metasteps, TOP + PANEL.1 * (1.0 - share))
    }

    /// Frame, title, grid lines at some values, and the ends of the axis of metasteps.
    fn frame(&self, title: &str, ticks: &[f64], digits: usize) -> String {
        let (right, bottom) = (self.left + PANEL.0, TOP + PANEL.1);
        let mut out = text((self.left + 0.5 * PANEL.0, TOP - 18.0), Anchor::Middle, TEXT, title);
        for &tick in ticks {
            let (_, y) = self.place(0.0, tick);
            out.push_str(&polyline(&[(self.left, y), (right, y)], GRID));
            let words = format!("{tick:.digits$}").replace('-', "−");
            out.push_str(&text((self.left - 8.0, y + 6.0), Anchor::End, TEXT - 2, &words));
        }
        let corners = [(self.left, TOP), (right, TOP), (right, bottom), (self.left, bottom)];
        out.push_str(&polyline(&[&corners[..], &corners[..1]].concat(), FRAME));
        for (x, words) in [(self.left, 0.0), (right, self.metasteps)] {
            let words = format!("{words:.0}");
            out.push_str(&text((x, bottom + 22.0), Anchor::Middle, TEXT - 2, &words));
        }
        let middle = (self.left + 0.5 * PANEL.0, bottom + 22.0);
        out + &text(middle, Anchor::Middle, TEXT - 2, "metasteps")
    }
}

/// Mean loss of canaries that are IN less that of canaries that are OUT.
fn objective(report: &CanaryOptimizationReport) -> String {
    let points: Vec<Place> = (1..)
        .zip(&report.objectives)
        .filter_map(|(metastep, value)| Some((f64::from(metastep), (*value)?)))
        .collect();
    let low = points.iter().map(|point| point.1).fold(-1e-3, f64::min);
    let high = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let axes = Axes { left: LEFT, metasteps: metasteps(report), range: [1.05 * low, 1.05 * high] };
    let ticks = [low, 0.5 * low, 0.0];
    let mut out = axes.frame("objective: loss IN − loss OUT, per canary", &ticks, 2);
    let line: Vec<Place> = points.iter().map(|&(x, y)| axes.place(x, y)).collect();
    out.push_str(&polyline(&line, PER_CANARY));
    out
}

fn metasteps(report: &CanaryOptimizationReport) -> f64 {
    (report.objectives.len() as f64).max(1.0)
}

/// AUCs of the validations, with two standard errors on each side.
fn areas(report: &CanaryOptimizationReport) -> String {
    let all = report.validations.iter().flat_map(|one| [one.raw.value, one.per_canary.value]);
    let low = (10.0 * all.fold(0.5, f64::min)).floor() / 10.0;
    let axes = Axes { left: RIGHT, metasteps: metasteps(report), range: [low, 1.0] };
    let ticks = [low, 0.5 * (low + 1.0), 1.0];
    let mut out = axes.frame("AUC of validations on fresh splits", &ticks, 2);
    type Pick = fn(&crate::record::CanaryValidation) -> AucEstimate;
    let curves: [(Pick, Stroke, &str); 2] =
        [(|one| one.per_canary, PER_CANARY, "per canary"), (|one| one.raw, RAW, "pooled")];
    for (row, (pick, stroke, name)) in curves.into_iter().enumerate() {
        let place = |one: &crate::record::CanaryValidation, errors: f64| {
            let AucEstimate { value, standard_error } = pick(one);
            axes.place(one.metasteps as f64, value + errors * standard_error)
        };
        let line: Vec<Place> = report.validations.iter().map(|one| place(one, 0.0)).collect();
        out.push_str(&polyline(&line, stroke));
        for one in &report.validations {
            let error = Stroke { width: 1.5, dashes: "", ..stroke };
            out.push_str(&polyline(&[place(one, -2.0), place(one, 2.0)], error));
            let (x, y) = place(one, 0.0);
            out.push_str(&format!(
                "<circle cx=\"{}\" cy=\"{}\" r=\"3.5\" fill=\"{}\"/>\n",
                coordinate(x),
                coordinate(y),
                stroke.colour
            ));
        }
        let (x, y) = (RIGHT + 200.0 * row as f64, TOP + PANEL.1 + 52.0);
        out.push_str(&polyline(&[(x, y - 6.0), (x + 40.0, y - 6.0)], stroke));
        out.push_str(&text((x + 50.0, y), Anchor::Start, TEXT, name));
    }
    out
}

/// Pairs of pictures: above at the start, below optimised. Returns the lower edge too.
fn images(pictures: &CanaryPictures<'_>) -> (String, f64) {
    let [channels, height, width] = pictures.shape;
    let features = channels * height * width;
    let canaries = (pictures.optimised.len() / features).min(TILES);
    let tile = (WIDTH - LEFT - 30.0) / TILES_PER_ROW as f64 - 8.0;
    let high = tile * height as f64 / width as f64;
    let block = 2.0 * high + 4.0 + 26.0;
    let mut out = String::new();
    for at in 0..canaries {
        let (row, column) = ((at / TILES_PER_ROW) as f64, (at % TILES_PER_ROW) as f64);
        let (x, y) = (LEFT + column * (tile + 8.0), SHEET + row * block);
        let own = at * features..(at + 1) * features;
        for (line, values) in [pictures.start, pictures.optimised].into_iter().enumerate() {
            let picture = Picture::new(pictures.shape, pictures.range, &values[own.clone()]);
            out.push_str(&picture.drawn((x, y + line as f64 * (high + 4.0)), (tile, high)));
        }
        if at % TILES_PER_ROW == 0 {
            for (line, words) in ["start", "optimised"].into_iter().enumerate() {
                let middle = y + (line as f64 + 0.5) * (high + 4.0) + 4.0;
                out.push_str(&text((LEFT - 8.0, middle), Anchor::End, TEXT - 2, words));
            }
        }
    }
    let rows = canaries.div_ceil(TILES_PER_ROW) as f64;
    (out, SHEET + rows * block - 20.0)
}

/// One row per canary, features to the right: at the start, and optimised.
fn tables(pictures: &CanaryPictures<'_>) -> (String, f64) {
    let features: usize = pictures.shape.iter().product();
    let canaries = (pictures.optimised.len() / features).min(TILES);
    let (wide, high) = (PANEL.0 + 70.0, ROW * canaries as f64);
    let mut out = String::new();
    let columns =
        [(LEFT - 50.0, "start", pictures.start), (RIGHT - 50.0, "optimised", pictures.optimised)];
    for (left, name, values) in columns {
        let title = format!("{name}: a row per canary, a column per feature");
        out.push_str(&text((left, SHEET - 12.0), Anchor::Start, TEXT, &title));
        let table = Picture::table(features, pictures.range, &values[..canaries * features]);
        out.push_str(&table.drawn((left, SHEET), (wide, high)));
        let (right, bottom) = (left + wide, SHEET + high);
        let corners =
            [(left, SHEET), (right, SHEET), (right, bottom), (left, bottom), (left, SHEET)];
        out.push_str(&polyline(&corners, FRAME));
    }
    (out, SHEET + high)
}
