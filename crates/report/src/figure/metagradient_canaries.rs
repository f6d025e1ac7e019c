//! The drawing of kinds of canaries: AUC after SGD, and ε after DP-SGD.

use super::svg::{Anchor, Place, SVG_MARK, Stroke, coordinate, escaped, polyline, text};
use crate::number::{confidence, delta, grouped};
use crate::record::{CanarySetComparison, MeanEstimate, MetagradientCanariesReport};
use crate::words::canary_comparisons;

const WIDTH: f64 = 1200.0;
const TOP: f64 = 104.0;
/// Right edge of the names.
const NAMES: f64 = 200.0;
const PANEL: f64 = 440.0;
const LEFTS: [f64; 2] = [225.0, 715.0];
const LINE: f64 = 46.0;
const TEXT: u32 = 17;
const ERRORS: f64 = CanarySetComparison::ERRORS;

const FRAME: Stroke = Stroke { colour: "#000", width: 1.0, dashes: "" };
const GRID: Stroke = Stroke { colour: "#ddd", width: 1.0, dashes: "" };
const NULL: Stroke = Stroke { colour: "#000", width: 1.5, dashes: "5 4" };
/// Colours of Okabe and Ito; open and filled circles distinguish them in grey.
const RAW: Stroke = Stroke { colour: "#D55E00", width: 2.0, dashes: "" };
const CALIBRATED: Stroke = Stroke { colour: "#0072B2", width: 2.0, dashes: "" };
const BOUND: Stroke = Stroke { colour: "#000", width: 3.0, dashes: "" };

/// A horizontal axis.
struct Axis {
    left: f64,
    range: [f64; 2],
}

impl Axis {
    fn place(&self, value: f64) -> f64 {
        let [low, high] = self.range;
        self.left + PANEL * ((value - low) / (high - low)).clamp(0.0, 1.0)
    }

    fn frame(&self, bottom: f64, title: &str, ticks: &[f64]) -> String {
        let right = self.left + PANEL;
        let middle = self.left + 0.5 * PANEL;
        let mut out = text((middle, TOP - 16.0), Anchor::Middle, TEXT, title);
        for &tick in ticks {
            let x = self.place(tick);
            out.push_str(&polyline(&[(x, TOP), (x, bottom)], GRID));
            let words = coordinate(tick);
            out.push_str(&text((x, bottom + 22.0), Anchor::Middle, TEXT - 2, &words));
        }
        let corners = [(self.left, TOP), (right, TOP), (right, bottom), (self.left, bottom)];
        out + &polyline(&[&corners[..], &corners[..1]].concat(), FRAME)
    }

    /// A mean with the range in which it is compared.
    fn mean(&self, of: MeanEstimate, y: f64, is_calibrated: bool) -> String {
        let stroke = if is_calibrated { CALIBRATED } else { RAW };
        let [low, x, high] =
            [-ERRORS, 0.0, ERRORS].map(|errors| self.place(of.value + errors * of.standard_error));
        let end = |x: f64| polyline(&[(x, y - 5.0), (x, y + 5.0)], stroke);
        polyline(&[(low, y), (high, y)], stroke)
            + &end(low)
            + &end(high)
            + &circle((x, y), is_calibrated)
    }
}

fn circle((x, y): Place, is_calibrated: bool) -> String {
    let (colour, fill) = match is_calibrated {
        true => (CALIBRATED.colour, CALIBRATED.colour),
        false => (RAW.colour, "#fff"),
    };
    let (x, y) = (coordinate(x), coordinate(y));
    format!(
        "<circle cx=\"{x}\" cy=\"{y}\" r=\"5\" fill=\"{fill}\" stroke=\"{colour}\" \
         stroke-width=\"2\"/>\n"
    )
}

/// A bound: everything to its right is possible.
fn bound(x: f64, y: f64) -> String {
    polyline(&[(x, y - 8.0), (x, y + 8.0)], BOUND)
        + &polyline(&[(x, y - 8.0), (x + 7.0, y - 8.0)], BOUND)
        + &polyline(&[(x, y + 8.0), (x + 7.0, y + 8.0)], BOUND)
}

fn line(row: usize) -> f64 {
    TOP + LINE * (row as f64 + 0.5)
}

/// The drawing of a report.
#[must_use]
pub fn metagradient_canaries_svg(report: &MetagradientCanariesReport) -> String {
    let bottom = TOP + LINE * (report.sets.len() + 1) as f64;
    let legend_top = bottom + 66.0;
    let height = legend_top + 27.0 * 5.0;
    let title = "Which canaries reveal the most";
    let mut out = format!(
        "{SVG_MARK} viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"dpscope-title dpscope-desc\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" fill=\"#000\">\n"
    );
    out.push_str(&format!("<title id=\"dpscope-title\">{title}</title>\n"));
    let description = escaped(&description(report));
    out.push_str(&format!("<desc id=\"dpscope-desc\">{description}</desc>\n"));
    out.push_str(&format!("<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n"));
    out.push_str(&text((0.5 * WIDTH, 40.0), Anchor::Middle, 26, title));
    let names = report.sets.iter().map(|one| one.set.name());
    for (row, name) in names.chain(["coins redrawn"]).enumerate() {
        out.push_str(&text((NAMES, line(row) + 6.0), Anchor::End, TEXT, name));
    }
    out.push_str(&areas(report, bottom));
    out.push_str(&epsilons(report, bottom));
    out.push_str(&legend(report, legend_top));
    out.push_str("</svg>\n");
    out
}

fn areas(report: &MetagradientCanariesReport, bottom: f64) -> String {
    let all = report.sets.iter().flat_map(|one| [one.sgd_raw, one.sgd_calibrated]);
    let null = [report.null.sgd_raw, report.null.sgd_calibrated];
    let least = all.chain(null).map(|of| of.value - ERRORS * of.standard_error);
    let low = (10.0 * least.fold(0.5, f64::min)).floor() / 10.0;
    let axis = Axis { left: LEFTS[0], range: [low, 1.0] };
    let ticks: Vec<f64> = (0..=10).map(|tenth| f64::from(tenth) / 10.0).collect();
    let ticks: Vec<f64> = ticks.into_iter().filter(|tick| *tick >= low - 1e-9).collect();
    let mut out = axis.frame(bottom, "AUC after SGD", &ticks);
    let half = axis.place(0.5);
    out.push_str(&polyline(&[(half, TOP), (half, bottom)], NULL));
    let pairs = report.sets.iter().map(|one| [one.sgd_raw, one.sgd_calibrated]);
    for (row, [raw, calibrated]) in pairs.chain([null]).enumerate() {
        out.push_str(&axis.mean(raw, line(row) - 9.0, false));
        out.push_str(&axis.mean(calibrated, line(row) + 9.0, true));
    }
    out
}

fn epsilons(report: &MetagradientCanariesReport, bottom: f64) -> String {
    let both = report.sets.iter().flat_map(|one| [&one.dpsgd_raw, &one.dpsgd_calibrated]);
    let most = both
        .flat_map(|of| [of.estimate.value + ERRORS * of.estimate.standard_error, of.joint_bound]);
    let high = (most.fold(report.null.estimate_quantile_95, f64::max) * 1.05).max(0.5);
    let axis = Axis { left: LEFTS[1], range: [0.0, high] };
    let step = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0].into_iter().find(|step| high / step <= 6.0);
    let step = step.unwrap_or(10.0);
    let ticks: Vec<f64> =
        (0..).map(|at| f64::from(at) * step).take_while(|tick| *tick <= high).collect();
    let mut out = axis.frame(bottom, "ε after DP-SGD", &ticks);
    let null = axis.place(report.null.estimate_quantile_95);
    out.push_str(&polyline(&[(null, TOP), (null, bottom)], NULL));
    for (row, one) in report.sets.iter().enumerate() {
        for (of, y) in [(&one.dpsgd_raw, -11.0), (&one.dpsgd_calibrated, 11.0)] {
            let y = line(row) + y;
            out.push_str(&bound(axis.place(of.joint_bound), y));
            out.push_str(&axis.mean(of.estimate, y, y > line(row)));
        }
    }
    out + &axis.mean(report.null.estimate, line(report.sets.len()), true)
}

fn legend(report: &MetagradientCanariesReport, top: f64) -> String {
    let left = 40.0;
    let mut out = String::new();
    let dashes =
        "AUC of a guess; on the right, 95 % of the estimates with redrawn coins are below it";
    let bounds = format!(
        "lower bound on ε from all repeats as one game, {} confidence, δ = {}",
        confidence(report.dpsgd.significance),
        delta(report.dpsgd.delta)
    );
    let entries: [(String, &str); 4] = [
        (
            circle((left + 25.0, top - 6.0), false),
            "mean ± 3 standard errors; by the loss. Of ε: an \
           uncorrected estimate, as published, and no bound",
        ),
        (
            circle((left + 25.0, top + 21.0), true),
            "the same by the loss less the canary's mean loss \
           in other trainings without it",
        ),
        (bound(left + 22.0, top + 48.0), &bounds),
        (polyline(&[(left, top + 75.0), (left + 50.0, top + 75.0)], NULL), dashes),
    ];
    for (row, (sign, words)) in entries.into_iter().enumerate() {
        out.push_str(&sign);
        let at = (left + 66.0, top + 27.0 * row as f64);
        out.push_str(&text(at, Anchor::Start, TEXT, words));
    }
    let caption = format!(
        "{} on {}; {} canaries of each kind; {} repeats; seed {}; dpscope {}",
        report.model,
        report.data,
        grouped(report.canaries),
        report.runs,
        report.seed,
        report.version
    );
    out + &text((left, top + 27.0 * 4.0 + 6.0), Anchor::Start, TEXT - 2, &caption)
}

fn description(report: &MetagradientCanariesReport) -> String {
    let found = canary_comparisons(report.runs, &report.comparisons);
    let sentences = found.iter().map(|(label, words)| format!("{label}: {words}."));
    sentences.collect::<Vec<_>>().join(" ")
}
