//! Audited implementations of PATE-GAN: a row each, with the published ε beside ours.

use super::panel::TEXT;
use super::svg::{Anchor, Place, SVG_MARK, Stroke, coordinate, escaped, polyline, text};
use crate::record::{AuditedImplementation, PateGanTable};
use dpscope_core::format::given;

const WIDTH: f64 = 1200.0;
const LEFT: f64 = 170.0;
const RIGHT: f64 = 900.0;
const TOP: f64 = 80.0;
const PITCH: f64 = 56.0;
/// Distance of the marks of a row.
const APART: f64 = 14.0;

const PUBLISHED: &str = "#000";
const WITH: &str = "#D55E00";
const WITHOUT: &str = "#0072B2";
const GRID: Stroke = Stroke { colour: "#ddd", width: 1.0, dashes: "" };
const CEILING: Stroke = Stroke { colour: "#000", width: 1.5, dashes: "5 4" };
const ACCOUNTED: Stroke = Stroke { colour: "#AA4480", width: 2.0, dashes: "2 3" };

const TITLE: &str = "PATE-GAN, worst case: published ε beside lower bounds of this audit";

/// The drawing of a report.
#[must_use]
pub fn pategan_table_svg(report: &PateGanTable) -> String {
    let rows = &report.implementations;
    let bottom = TOP + PITCH * rows.len() as f64;
    let height = bottom + 150.0;
    let most = rows.iter().filter_map(|row| row.published).fold(report.ceiling, f64::max);
    let across = |epsilon: f64| LEFT + (RIGHT - LEFT) * (epsilon / (1.05 * most)).clamp(0.0, 1.0);
    let leaks =
        |row: &&AuditedImplementation| row.without_harness_fault.epsilon > report.accounted_epsilon;
    let description = format!(
        "One row per implementation. With a public number of released rows, {} of {} show more than is \
         accounted for.",
        rows.iter().filter(leaks).count(),
        rows.len()
    );
    let mut out = format!(
        "{SVG_MARK} viewBox=\"0 0 {WIDTH} {}\" role=\"img\" \
         aria-labelledby=\"dpscope-title dpscope-desc\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" fill=\"#000\">\n\
         <title id=\"dpscope-title\">{TITLE}</title>\n\
         <desc id=\"dpscope-desc\">{}</desc>\n\
         <rect width=\"{WIDTH}\" height=\"{0}\" fill=\"#fff\"/>\n",
        coordinate(height),
        escaped(&description)
    );
    out.push_str(&text((0.5 * WIDTH, 38.0), Anchor::Middle, 26, TITLE));
    for tick in (0_u32..).map(f64::from).take_while(|&tick| tick <= 1.05 * most) {
        let x = across(tick);
        out.push_str(&polyline(&[(x, TOP), (x, bottom)], GRID));
        out.push_str(&text((x, bottom + 24.0), Anchor::Middle, TEXT, &given(tick)));
    }
    out.push_str(&text((0.5 * (LEFT + RIGHT), bottom + 50.0), Anchor::Middle, TEXT, "ε"));
    out.push_str(&text((RIGHT + 24.0, TOP - 14.0), Anchor::Start, TEXT, "fault reported by"));
    for (at, stroke) in [(report.ceiling, CEILING), (report.accounted_epsilon, ACCOUNTED)] {
        out.push_str(&polyline(&[(across(at), TOP), (across(at), bottom)], stroke));
    }
    for (index, row) in rows.iter().enumerate() {
        let y = TOP + PITCH * (index as f64 + 0.5);
        out.push_str(&text((LEFT - 16.0, y + 6.0), Anchor::End, TEXT, row.name));
        if let Some(published) = row.published {
            out.push_str(&square((across(published), y - APART)));
        }
        out.push_str(&dot((across(row.with_harness_fault.epsilon), y), WITH, false));
        out.push_str(&dot((across(row.without_harness_fault.epsilon), y + APART), WITHOUT, true));
        let names = match row.detectors.join(" ") {
            names if names.is_empty() => "none".to_owned(),
            names => names,
        };
        out.push_str(&text((RIGHT + 24.0, y + 6.0), Anchor::Start, TEXT, &names));
    }
    out.push_str(&legend(bottom + 84.0));
    out.push_str("</svg>\n");
    out
}

fn legend(y: f64) -> String {
    let line = |x: f64, y: f64, stroke: Stroke| {
        polyline(&[(x - 10.0, y - 6.0), (x + 10.0, y - 6.0)], stroke)
    };
    let words = |x: f64, y: f64, words: &str| text((x + 20.0, y), Anchor::Start, TEXT, words);
    let (second, columns) = (y + 32.0, [LEFT - 120.0, LEFT + 110.0, LEFT + 610.0]);
    let mut out = square((columns[0], y - 6.0)) + &words(columns[0], y, "published");
    out += &dot((columns[1], y - 6.0), WITH, false);
    out += &words(columns[1], y, "as many rows released as the data have (E1)");
    out += &dot((columns[2], y - 6.0), WITHOUT, true);
    out += &words(columns[2], y, "public number of rows");
    out += &line(columns[1], second, CEILING);
    out += &words(columns[1], second, "most that these runs can show");
    out += &line(columns[2], second, ACCOUNTED);
    out + &words(columns[2], second, "accounted for")
}

fn dot((x, y): Place, colour: &str, is_filled: bool) -> String {
    let fill = if is_filled { colour } else { "#fff" };
    let [x, y] = [x, y].map(coordinate);
    format!(
        "<circle cx=\"{x}\" cy=\"{y}\" r=\"6\" stroke=\"{colour}\" stroke-width=\"2\" fill=\"{fill}\"/>\n"
    )
}

fn square((x, y): Place) -> String {
    let [x, y] = [x - 6.0, y - 6.0].map(coordinate);
    format!(
        "<rect x=\"{x}\" y=\"{y}\" width=\"12\" height=\"12\" stroke=\"{PUBLISHED}\" stroke-width=\"2\" fill=\"#fff\"/>\n"
    )
}
