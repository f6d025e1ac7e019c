//! Audited implementations of PATE-GAN: a row each, with the published ε beside ours, in one panel per
//! case.

use super::panel::TEXT;
use super::svg::{Anchor, Place, SVG_MARK, Stroke, coordinate, escaped, polyline, text};
use crate::number::grouped;
use crate::record::{
    AuditedImplementation, AverageCase, AverageImplementation, PateGanTable, UtilityFigures,
};
use dpscope_core::format::{given, rounded};

const WIDTH: f64 = 1200.0;
const LEFT: f64 = 170.0;
const RIGHT: f64 = 900.0;
/// Above the first panel, and within a panel above and below its rows.
const HEAD: f64 = 60.0;
const TOP: f64 = 64.0;
const BELOW: f64 = 76.0;
const PITCH: f64 = 56.0;
/// Distance of the marks of a row.
const APART: f64 = 14.0;

const PUBLISHED: &str = "#000";
const WITH: &str = "#D55E00";
const WITHOUT: &str = "#0072B2";
const GRID: Stroke = Stroke { colour: "#ddd", width: 1.0, dashes: "" };
const CEILING: Stroke = Stroke { colour: "#000", width: 1.5, dashes: "5 4" };
const ACCOUNTED: Stroke = Stroke { colour: "#AA4480", width: 2.0, dashes: "2 3" };

const TITLE: &str = "PATE-GAN: published ε beside lower bounds of this audit";

/// One of the cases: a row per implementation, on a common axis.
struct Panel {
    title: String,
    /// Above the words of rows.
    about: &'static str,
    ceiling: f64,
    accounted: f64,
    rows: Vec<PanelRow>,
}

struct PanelRow {
    name: &'static str,
    published: Option<f64>,
    with: f64,
    without: f64,
    words: String,
}

impl Panel {
    fn worst_case(report: &PateGanTable) -> Self {
        let row = |row: &AuditedImplementation| PanelRow {
            name: row.name,
            published: row.published,
            with: row.with_harness_fault.epsilon,
            without: row.without_harness_fault.epsilon,
            words: match row.detectors.join(" ") {
                names if names.is_empty() => "none".to_owned(),
                names => names,
            },
        };
        Panel {
            title: format!("worst case, {} runs of each world", grouped(report.runs)),
            about: "fault reported by",
            ceiling: report.ceiling,
            accounted: report.accounted_epsilon,
            rows: report.implementations.iter().map(row).collect(),
        }
    }

    fn average_case(found: &AverageCase) -> Self {
        let row = |row: &AverageImplementation| PanelRow {
            name: row.name,
            published: row.published,
            with: row.with_harness_fault.epsilon,
            without: row.without_harness_fault.epsilon,
            words: utility(&row.utility),
        };
        let source =
            if found.data.is_some() { "your rows" } else { "rows of our own distribution" };
        Panel {
            title: format!(
                "average case, {} {source}, {} runs of each world; AUROC of real rows {}",
                grouped(found.rows),
                grouped(found.runs),
                rounded(found.real.auroc.mean, 2)
            ),
            about: "utility: AUROC, AUPRC",
            ceiling: found.ceiling,
            accounted: found.accounted_epsilon,
            rows: found.implementations.iter().map(row).collect(),
        }
    }

    fn height(&self) -> f64 {
        TOP + PITCH * self.rows.len() as f64 + BELOW
    }

    fn leaking(&self) -> usize {
        self.rows.iter().filter(|row| row.without > self.accounted).count()
    }

    /// Its marks, on an axis that ends at this ε.
    fn drawing(&self, top: f64, most: f64) -> String {
        let first = top + TOP;
        let bottom = first + PITCH * self.rows.len() as f64;
        let across = |epsilon: f64| LEFT + (RIGHT - LEFT) * (epsilon / most).clamp(0.0, 1.0);
        let mut out = text((24.0, top + 24.0), Anchor::Start, TEXT, &self.title);
        for tick in (0_u32..).map(f64::from).take_while(|&tick| tick <= most) {
            let x = across(tick);
            out.push_str(&polyline(&[(x, first), (x, bottom)], GRID));
            out.push_str(&text((x, bottom + 24.0), Anchor::Middle, TEXT, &given(tick)));
        }
        out.push_str(&text((0.5 * (LEFT + RIGHT), bottom + 50.0), Anchor::Middle, TEXT, "ε"));
        out.push_str(&text((RIGHT + 24.0, first - 10.0), Anchor::Start, TEXT, self.about));
        for (at, stroke) in [(self.ceiling, CEILING), (self.accounted, ACCOUNTED)] {
            out.push_str(&polyline(&[(across(at), first), (across(at), bottom)], stroke));
        }
        for (index, row) in self.rows.iter().enumerate() {
            let y = first + PITCH * (index as f64 + 0.5);
            out.push_str(&text((LEFT - 16.0, y + 6.0), Anchor::End, TEXT, row.name));
            if let Some(published) = row.published {
                out.push_str(&square((across(published), y - APART)));
            }
            out.push_str(&dot((across(row.with), y), WITH, false));
            out.push_str(&dot((across(row.without), y + APART), WITHOUT, true));
            out.push_str(&text((RIGHT + 24.0, y + 6.0), Anchor::Start, TEXT, &row.words));
        }
        out
    }
}

fn utility(figures: &UtilityFigures) -> String {
    let [auroc, auprc] = [figures.auroc, figures.auprc].map(|figure| rounded(figure.mean, 2));
    format!("{auroc}, {auprc}")
}

/// The drawing of a report.
#[must_use]
pub fn pategan_table_svg(report: &PateGanTable) -> String {
    let panels: Vec<Panel> = std::iter::once(Panel::worst_case(report))
        .chain(report.average.as_ref().map(Panel::average_case))
        .collect();
    let published = panels.iter().flat_map(|panel| &panel.rows).filter_map(|row| row.published);
    let ceilings = panels.iter().map(|panel| panel.ceiling);
    let most = 1.05 * published.chain(ceilings).fold(1.0, f64::max);
    let bottom = HEAD + panels.iter().map(Panel::height).sum::<f64>();
    let height = bottom + 90.0;
    let description = format!(
        "One row per implementation. With a public number of released rows, {} of {} show more than is \
         accounted for in the worst case.",
        panels[0].leaking(),
        panels[0].rows.len()
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
    let mut top = HEAD;
    for panel in &panels {
        out.push_str(&panel.drawing(top, most));
        top += panel.height();
    }
    out.push_str(&legend(bottom + 24.0));
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
