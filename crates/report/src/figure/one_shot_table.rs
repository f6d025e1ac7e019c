//! The drawing of published estimates for the Gaussian mechanism beside ours: one panel per ε.

use dpscope_core::format::{given, rounded};

use super::svg::{
    Anchor, Place, SVG_MARK, Stroke, area, coordinate, escaped, polyline, text, upright_text,
};
use crate::number::{delta, grouped};
use crate::record::{EstimateSpread, OneShotTableReport, OneShotTableRow};

const WIDTH: f64 = 1200.0;
const TOP: f64 = 118.0;
const BOTTOM: f64 = 448.0;
const LEFT: f64 = 90.0;
const PANEL: f64 = 330.0;
const STEP: f64 = 375.0;
const LEGEND: f64 = 560.0;
const LINE: f64 = 27.0;
const TEXT: u32 = 17;

/// Ticks of an axis at most.
const TICKS: f64 = 6.0;

const FRAME: Stroke = Stroke { colour: "#000", width: 1.0, dashes: "" };
const GRID: Stroke = Stroke { colour: "#ddd", width: 1.0, dashes: "" };
const TRUTH: Stroke = Stroke { colour: "#000", width: 1.5, dashes: "5 4" };
/// Colours of Okabe and Ito; shapes distinguish them in grey.
const PUBLISHED: Stroke = Stroke { colour: "#000", width: 2.0, dashes: "" };
const FITTED: Stroke = Stroke { colour: "#D55E00", width: 2.0, dashes: "" };
const KNOWN: Stroke = Stroke { colour: "#0072B2", width: 2.0, dashes: "" };

/// The drawing of a report.
#[must_use]
pub fn one_shot_table_svg(report: &OneShotTableReport) -> String {
    let title = "Estimates of ε of the Gaussian mechanism from one run";
    let height = LEGEND + LINE * 5.0 + 20.0;
    let mut out = format!(
        "{SVG_MARK} viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"dpscope-title dpscope-desc\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" fill=\"#000\">\n\
         <title id=\"dpscope-title\">{title}</title>\n\
         <desc id=\"dpscope-desc\">{}</desc>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n",
        escaped(&description(report))
    );
    out.push_str(&text((0.5 * WIDTH, 44.0), Anchor::Middle, 26, title));
    out.push_str(&upright_text((32.0, 0.5 * (TOP + BOTTOM)), TEXT, "estimate of ε"));
    let panels = report.rows.chunk_by(|one, next| one.epsilon.to_bits() == next.epsilon.to_bits());
    for (place, rows) in panels.enumerate() {
        let left = LEFT + STEP * place as f64;
        out.push_str(&Panel::new(left, rows, report).drawn());
    }
    out.push_str(&legend(report));
    out.push_str("</svg>\n");
    out
}

/// The rows of one ε.
struct Panel<'a> {
    left: f64,
    rows: &'a [OneShotTableRow],
    report: &'a OneShotTableReport,
    /// Upper end of its axis.
    most: f64,
}

impl<'a> Panel<'a> {
    fn new(left: f64, rows: &'a [OneShotTableRow], report: &'a OneShotTableReport) -> Self {
        let spreads = rows.iter().flat_map(|row| [row.published, row.fitted_sd.ours]);
        let nulls = report.null_estimates.iter().map(|null| null.fitted_sd[1]);
        let ends = spreads.map(|spread| spread.mean + spread.sd);
        let most = 1.06 * ends.chain(nulls).filter(|end| end.is_finite()).fold(0.5, f64::max);
        Panel { left, rows, report, most }
    }

    fn across(&self, row: usize) -> f64 {
        self.left + PANEL * (row as f64 + 0.5) / self.rows.len() as f64
    }

    fn up(&self, epsilon: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * (epsilon / self.most).clamp(0.0, 1.0)
    }

    fn drawn(&self) -> String {
        let mut out = self.frame();
        for (index, row) in self.rows.iter().enumerate() {
            let x = self.across(index);
            let nulls = &self.report.null_estimates;
            if let Some(null) = nulls.iter().find(|null| null.dimension == row.dimension) {
                out.push_str(&self.null(x, null.fitted_sd, FITTED));
                out.push_str(&self.null(x + 18.0, null.known_sd, KNOWN));
            }
            out.push_str(&self.spread(x - 18.0, row.published, PUBLISHED));
            out.push_str(&self.spread(x, row.fitted_sd.ours, FITTED));
            out.push_str(&self.spread(x + 18.0, row.known_sd.ours, KNOWN));
        }
        out
    }

    fn frame(&self) -> String {
        let (left, right) = (self.left, self.left + PANEL);
        let middle = left + 0.5 * PANEL;
        let truth = self.rows.first().map_or(0.0, |row| row.epsilon);
        let title = format!("ε = {}", given(truth));
        let mut out = text((middle, TOP - 18.0), Anchor::Middle, TEXT + 3, &title);
        let steps = [0.5, 1.0, 2.0, 5.0, 10.0].into_iter();
        let step = steps.clone().find(|step| self.most / step <= TICKS).unwrap_or(20.0);
        let ticks = (0..).map(|tick| f64::from(tick) * step);
        for tick in ticks.take_while(|&tick| tick <= self.most) {
            let y = self.up(tick);
            out.push_str(&polyline(&[(left, y), (right, y)], GRID));
            let words = coordinate(tick);
            out.push_str(&text((left - 8.0, y + 6.0), Anchor::End, TEXT - 2, &words));
        }
        for (index, row) in self.rows.iter().enumerate() {
            let x = self.across(index);
            let [dimension, canaries] = [row.dimension, row.canaries].map(grouped);
            out.push_str(&text((x, BOTTOM + 24.0), Anchor::Middle, TEXT - 3, &dimension));
            out.push_str(&text((x, BOTTOM + 44.0), Anchor::Middle, TEXT - 3, &canaries));
        }
        let axis = "dimension, and canaries below it";
        out.push_str(&text((middle, BOTTOM + 68.0), Anchor::Middle, TEXT - 2, axis));
        let y = self.up(truth);
        out.push_str(&polyline(&[(left, y), (right, y)], TRUTH));
        let corners = [(left, TOP), (right, TOP), (right, BOTTOM), (left, BOTTOM), (left, TOP)];
        out + &polyline(&corners, FRAME)
    }

    /// A mean, and one standard deviation to both sides.
    fn spread(&self, x: f64, of: EstimateSpread, stroke: Stroke) -> String {
        let [low, y, high] = [-1.0, 0.0, 1.0].map(|sds| self.up(of.mean + sds * of.sd));
        let end = |y: f64| polyline(&[(x - 5.0, y), (x + 5.0, y)], stroke);
        polyline(&[(x, low), (x, high)], stroke) + &end(low) + &end(high) + &mark((x, y), stroke)
    }

    fn null(&self, x: f64, [low, high]: [f64; 2], stroke: Stroke) -> String {
        null_bar([x - 8.0, x + 8.0], [low, high].map(|end| self.up(end)), stroke)
    }
}

fn null_bar([left, right]: [f64; 2], [low, high]: [f64; 2], stroke: Stroke) -> String {
    area(&[(left, low), (right, low), (right, high), (left, high)], stroke.colour, 0.25)
}

/// An open square, an open or a filled circle.
fn mark((x, y): Place, stroke: Stroke) -> String {
    let colour = stroke.colour;
    if colour == PUBLISHED.colour {
        let (x, y) = (coordinate(x - 4.5), coordinate(y - 4.5));
        return format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"9\" height=\"9\" fill=\"#fff\" stroke=\"{colour}\" \
             stroke-width=\"2\"/>\n"
        );
    }
    let fill = if colour == KNOWN.colour { colour } else { "#fff" };
    let (x, y) = (coordinate(x), coordinate(y));
    format!(
        "<circle cx=\"{x}\" cy=\"{y}\" r=\"5\" fill=\"{fill}\" stroke=\"{colour}\" \
         stroke-width=\"2\"/>\n"
    )
}

fn legend(report: &OneShotTableReport) -> String {
    let left = 40.0;
    let sign = |row: usize, stroke: Stroke| {
        let y = LEGEND + LINE * row as f64 - 6.0;
        polyline(&[(left, y), (left + 50.0, y)], stroke) + &mark((left + 25.0, y), stroke)
    };
    let bars_at = LEGEND + LINE * 3.0 - 6.0;
    let bars = [(FITTED, left + 4.0), (KNOWN, left + 27.0)]
        .map(|(stroke, x)| null_bar([x, x + 19.0], [bars_at + 8.0, bars_at - 8.0], stroke));
    let entries = [
        (
            sign(0, PUBLISHED),
            "published; mean ± standard deviation of the estimate of a run, here and below",
        ),
        (sign(1, FITTED), "the published algorithm: standard deviation of the cosines fitted"),
        (sign(2, KNOWN), "standard deviation of the cosines known, 1/√d: our estimate"),
        (bars.concat(), "90 % of the estimates of runs without any leak, for each algorithm"),
        (
            polyline(
                &[(left, LEGEND + LINE * 4.0 - 6.0), (left + 50.0, LEGEND + LINE * 4.0 - 6.0)],
                TRUTH,
            ),
            "ε of the mechanism; all marks are estimates, none is a bound",
        ),
    ];
    let mut out = String::new();
    for (row, (sign, words)) in entries.iter().enumerate() {
        out.push_str(sign);
        let at = (left + 66.0, LEGEND + LINE * row as f64);
        out.push_str(&text(at, Anchor::Start, TEXT, words));
    }
    let drawn = match report.full_dimension_device {
        Some(_) => "every coordinate drawn",
        None => "cosines drawn by their joint distribution",
    };
    let caption = format!(
        "{} runs per setting (paper: {}), {drawn}; δ = {}; seed {}; dpscope {}",
        grouped(report.runs),
        report.published_runs,
        delta(report.delta),
        report.seed,
        report.version
    );
    out + &text((left, LEGEND + LINE * 5.0 + 2.0), Anchor::Start, TEXT - 2, &caption)
}

fn description(report: &OneShotTableReport) -> String {
    let sentences = report.rows.iter().map(|row| {
        let [published, fitted, known] =
            [row.published, row.fitted_sd.ours, row.known_sd.ours].map(|of| rounded(of.mean, 2));
        format!(
            "ε = {}, dimension {}: published {published}, fitted {fitted}, known {known}.",
            given(row.epsilon),
            grouped(row.dimension)
        )
    });
    sentences.collect::<Vec<_>>().join(" ")
}
