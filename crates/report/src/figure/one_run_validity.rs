//! The drawing of shares of bounds above the truth: one panel per training, one line per procedure.

use dpscope_core::format::rounded;

use super::svg::{Anchor, SVG_MARK, Stroke, coordinate, escaped, polyline, text};
use crate::number::{confidence, delta, grouped};
use crate::record::{CoverageFinding, OneRunValidityReport, ValidityResult, ValiditySetting};

const WIDTH: f64 = 1200.0;
const TOP: f64 = 132.0;
/// Right edge of the names.
const NAMES: f64 = 184.0;
const PANEL: f64 = 144.0;
const GAP: f64 = 22.0;
const LINE: f64 = 34.0;
const TEXT: u32 = 17;

const FRAME: Stroke = Stroke { colour: "#000", width: 1.0, dashes: "" };
const GRID: Stroke = Stroke { colour: "#ddd", width: 1.0, dashes: "" };
const NOMINAL: Stroke = Stroke { colour: "#000", width: 1.5, dashes: "5 4" };
/// Colours of Okabe and Ito; filled squares and circles distinguish them in grey.
const EXCEEDED: Stroke = Stroke { colour: "#D55E00", width: 1.5, dashes: "" };
const OTHER: Stroke = Stroke { colour: "#0072B2", width: 1.5, dashes: "" };

/// The drawing of a report.
#[must_use]
pub fn one_run_validity_svg(report: &OneRunValidityReport) -> String {
    let bottom = TOP + LINE * report.procedures.len() as f64;
    let legend = legend(report, bottom + 92.0);
    let height = bottom + 92.0 + 27.0 * 4.0;
    let title = "How often the bound of a one-run audit exceeds the truth";
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
    for (row, procedure) in report.procedures.iter().enumerate() {
        out.push_str(&text((NAMES, line(row) + 6.0), Anchor::End, TEXT, procedure.name));
    }
    for (column, setting) in report.settings.iter().enumerate() {
        let left = NAMES + GAP + column as f64 * (PANEL + GAP);
        out.push_str(&panel(report, setting, left));
    }
    let middle = 0.5 * (NAMES + WIDTH);
    let axis = "runs whose bound exceeds the truth, % (square-root axis)";
    out.push_str(&text((middle, bottom + 52.0), Anchor::Middle, TEXT, axis));
    out.push_str(&legend);
    out.push_str("</svg>\n");
    out
}

fn line(row: usize) -> f64 {
    TOP + LINE * (row as f64 + 0.5)
}

/// Small shares stand apart on an axis of square roots.
fn place(left: f64, share: f64) -> f64 {
    left + PANEL * share.sqrt()
}

fn panel(report: &OneRunValidityReport, setting: &ValiditySetting, left: f64) -> String {
    let bottom = TOP + LINE * report.procedures.len() as f64;
    let middle = left + 0.5 * PANEL;
    let mut out = text((middle, TOP - 34.0), Anchor::Middle, TEXT, setting.name);
    let epsilon = rounded(setting.epsilon, 2);
    let epsilon = epsilon.strip_suffix(".00").unwrap_or(&epsilon);
    let truth = format!("ε = {epsilon}, δ = {}", delta(setting.delta));
    out.push_str(&text((middle, TOP - 12.0), Anchor::Middle, TEXT - 3, &truth));
    for share in [0.25, 0.5, 0.75] {
        let x = place(left, share);
        out.push_str(&polyline(&[(x, TOP), (x, bottom)], GRID));
    }
    let nominal = place(left, report.significance);
    out.push_str(&polyline(&[(nominal, TOP), (nominal, bottom)], NOMINAL));
    let corners = [(left, TOP), (left + PANEL, TOP), (left + PANEL, bottom), (left, bottom)];
    out.push_str(&polyline(&[&corners[..], &corners[..1]].concat(), FRAME));
    for (share, words) in [(0.0, "0"), (0.05, "5"), (0.25, "25"), (0.5, "50"), (1.0, "100")] {
        let at = (place(left, share), bottom + 20.0);
        out.push_str(&text(at, Anchor::Middle, TEXT - 3, words));
    }
    for (row, procedure) in report.procedures.iter().enumerate() {
        let of_it = |result: &&ValidityResult| result.procedure == procedure.procedure;
        match setting.results.iter().find(of_it) {
            Some(result) => out.push_str(&mark(result, left, line(row))),
            None => {
                let at = (place(left, report.significance) + 6.0, line(row) + 5.0);
                out.push_str(&text(at, Anchor::Start, TEXT - 3, "not μ-GDP"));
            }
        }
    }
    out
}

/// The interval of a share and the share itself.
fn mark(result: &ValidityResult, left: f64, y: f64) -> String {
    let is_exceeded = result.coverage == CoverageFinding::Exceeded;
    let stroke = if is_exceeded { EXCEEDED } else { OTHER };
    let [low, high] = [result.share_lower, result.share_upper].map(|share| place(left, share));
    let end = |x: f64| polyline(&[(x, y - 5.0), (x, y + 5.0)], stroke);
    let interval = polyline(&[(low, y), (high, y)], stroke);
    interval + &end(low) + &end(high) + &sign(is_exceeded, place(left, result.share), y)
}

fn sign(is_exceeded: bool, x: f64, y: f64) -> String {
    if is_exceeded {
        let (x, y) = (coordinate(x - 3.5), coordinate(y - 3.5));
        let colour = EXCEEDED.colour;
        return format!("<rect x=\"{x}\" y=\"{y}\" width=\"7\" height=\"7\" fill=\"{colour}\"/>\n");
    }
    let (x, y) = (coordinate(x), coordinate(y));
    let colour = OTHER.colour;
    format!(
        "<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" fill=\"#fff\" stroke=\"{colour}\" stroke-width=\"2\"/>\n"
    )
}

fn legend(report: &OneRunValidityReport, top: f64) -> String {
    let mut out = String::new();
    let left = 40.0;
    let entries: [(&str, &str); 3] = [
        ("square", "share above the nominal one (all findings hold together)"),
        ("circle", "no share above the nominal one was found, which is no proof of coverage"),
        ("dashes", "nominal share"),
    ];
    for (row, (sign_of, words)) in entries.into_iter().enumerate() {
        let y = top + 27.0 * row as f64;
        let at = y - 6.0;
        let ends = [(left, at), (left + 50.0, at)];
        let drawn = match sign_of {
            "square" => polyline(&ends, EXCEEDED) + &sign(true, left + 25.0, at),
            "circle" => polyline(&ends, OTHER) + &sign(false, left + 25.0, at),
            _ => polyline(&ends, NOMINAL),
        };
        out.push_str(&drawn);
        out.push_str(&text((left + 66.0, y), Anchor::Start, TEXT, words));
    }
    let caption = format!(
        "{} audits of {} canaries per training; bounds and findings of {} confidence; 95 % intervals of shares; \
         seed {}; dpscope {}",
        grouped(report.runs),
        grouped(report.canaries),
        confidence(report.significance),
        report.seed,
        report.version
    );
    out.push_str(&text((left, top + 27.0 * 3.0 + 4.0), Anchor::Start, TEXT - 2, &caption));
    out
}

fn description(report: &OneRunValidityReport) -> String {
    let of_setting = |setting: &ValiditySetting| {
        let shares = setting.results.iter().map(|result| {
            format!("{} {:.1} %", result.procedure.record().name, 100.0 * result.share)
        });
        format!("{}: {}.", setting.name, shares.collect::<Vec<_>>().join(", "))
    };
    report.settings.iter().map(of_setting).collect::<Vec<_>>().join(" ")
}
