//! The drawing of federated trainings: bounds by attack, setting by setting.

use dpscope_core::format::given;
use dpscope_core::math::{log10, powf};

use super::svg::{Anchor, SVG_MARK, Stroke, coordinate, escaped, polyline, text};
use crate::number::{confidence, delta};
use crate::record::{FedAvgComparisonReport, FedAvgRow, MeanDifference, MeanEstimate};
use crate::words::OneShotAttacker;

const WIDTH: f64 = 1200.0;
const TOP: f64 = 76.0;
const LEFT: f64 = 340.0;
const RIGHT: f64 = 1150.0;
/// Right edge of the settings.
const SETTINGS: f64 = 170.0;
const LINE: f64 = 24.0;
/// Between settings.
const GAP: f64 = 18.0;
const TEXT: u32 = 17;
/// The left end of the axis; smaller values lie on it.
const LEAST: f64 = 0.01;

const FRAME: Stroke = Stroke { colour: "#000", width: 1.0, dashes: "" };
const GRID: Stroke = Stroke { colour: "#ddd", width: 1.0, dashes: "" };
const BOUND: Stroke = Stroke { colour: "#0072B2", width: 2.5, dashes: "" };
const ESTIMATE: Stroke = Stroke { colour: "#D55E00", width: 2.0, dashes: "" };
const ACCOUNTED: Stroke = Stroke { colour: "#000", width: 2.0, dashes: "6 4" };

/// Lines of a setting: an attack's bound, or the estimate of the final model.
const LINES: [(&str, OneShotAttacker, bool); 5] = [
    ("known rounds", OneShotAttacker::KnownServerRounds, false),
    ("largest update", OneShotAttacker::AllUpdates, false),
    ("sum of updates", OneShotAttacker::SumOfUpdates, false),
    ("final model", OneShotAttacker::FinalModel, false),
    ("final, estimate", OneShotAttacker::FinalModel, true),
];

const PITCH: f64 = LINE * LINES.len() as f64 + GAP;

/// A logarithmic axis of ε.
struct Axis {
    /// log₁₀ of its right end.
    end: f64,
}

impl Axis {
    fn of(report: &FedAvgComparisonReport) -> Self {
        let bounds = report.rows.iter().flat_map(|row| &row.attacks).map(|found| found.bound);
        let largest = bounds.map(|bound| bound.value + bound.standard_error);
        let accounted = report.rows.iter().filter_map(|row| Some(row.accounted?.epsilon));
        let most = largest.chain(accounted).filter(|value| value.is_finite()).fold(1.0, f64::max);
        Self { end: log10(most).ceil() }
    }

    fn place(&self, value: f64) -> f64 {
        let start = log10(LEAST);
        let share = (log10(value.max(LEAST)) - start) / (self.end - start);
        LEFT + (RIGHT - LEFT) * share.min(1.0)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> + use<> {
        let end = self.end as i32;
        (log10(LEAST).round() as i32..=end).map(|exponent| powf(10.0, exponent.into()))
    }

    /// A mean with its errors; a bound has a bracket that opens to larger values.
    fn mark(&self, of: MeanEstimate, y: f64, is_estimate: bool) -> String {
        let stroke = if is_estimate { ESTIMATE } else { BOUND };
        let errors = MeanDifference::ERRORS * of.standard_error;
        let [low, x, high] = [-errors, 0.0, errors].map(|error| self.place(of.value + error));
        let range = polyline(&[(low, y), (high, y)], Stroke { width: 1.5, ..stroke });
        if is_estimate {
            let (x, y) = (coordinate(x), coordinate(y));
            let colour = stroke.colour;
            return range + &format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"5\" fill=\"{colour}\"/>\n");
        }
        range
            + &polyline(
                &[(x + 6.0, y - 7.0), (x, y - 7.0), (x, y + 7.0), (x + 6.0, y + 7.0)],
                stroke,
            )
    }
}

/// The drawing of a report.
#[must_use]
pub fn fedavg_comparison_svg(report: &FedAvgComparisonReport) -> String {
    let axis = Axis::of(report);
    let bottom = TOP + PITCH * report.rows.len() as f64;
    let height = bottom + 186.0;
    let title = report.what.title();
    let sentences =
        report.differences.iter().map(|one| format!("{}: {}.", one.setting, one.sentence()));
    let description = escaped(&sentences.collect::<Vec<_>>().join(" "));
    let mut out = format!(
        "{SVG_MARK} viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"dpscope-title dpscope-desc\" \
         font-family=\"Helvetica, Arial, 'Liberation Sans', sans-serif\" fill=\"#000\">\n\
         <title id=\"dpscope-title\">{title}</title>\n\
         <desc id=\"dpscope-desc\">{description}</desc>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    out.push_str(&text((0.5 * WIDTH, 40.0), Anchor::Middle, 26, title));
    for tick in axis.ticks() {
        let x = axis.place(tick);
        out.push_str(&polyline(&[(x, TOP), (x, bottom)], GRID));
        let words = if tick <= LEAST { "0".to_owned() } else { given(tick) };
        out.push_str(&text((x, bottom + 24.0), Anchor::Middle, TEXT - 2, &words));
    }
    for (row, index) in report.rows.iter().zip(0..) {
        out.push_str(&setting(row, &axis, TOP + PITCH * f64::from(index)));
    }
    let corners = [(LEFT, TOP), (RIGHT, TOP), (RIGHT, bottom), (LEFT, bottom), (LEFT, TOP)];
    out.push_str(&polyline(&corners, FRAME));
    let middle = 0.5 * (LEFT + RIGHT);
    out.push_str(&text(
        (middle, bottom + 48.0),
        Anchor::Middle,
        TEXT,
        "ε (logarithmic; the left edge is 0 to 0.01)",
    ));
    out.push_str(&legend(report, &axis, bottom + 82.0));
    out.push_str("</svg>\n");
    out
}

fn setting(row: &FedAvgRow, axis: &Axis, top: f64) -> String {
    let height = LINE * LINES.len() as f64;
    let middle = top + 0.5 * (GAP + height);
    let mut out = text((SETTINGS, middle + 6.0), Anchor::End, TEXT, &row.setting);
    for ((name, attacker, is_estimate), index) in LINES.into_iter().zip(0..) {
        let y = top + 0.5 * GAP + LINE * (f64::from(index) + 0.5);
        out.push_str(&text((LEFT - 10.0, y + 5.0), Anchor::End, TEXT - 3, name));
        let found = row.attacks.iter().find(|attack| attack.attacker == attacker);
        let value =
            found.and_then(|found| if is_estimate { found.estimate } else { Some(found.bound) });
        out.push_str(&value.map_or_else(String::new, |value| axis.mark(value, y, is_estimate)));
    }
    if let Some(accounted) = row.accounted {
        let x = axis.place(accounted.epsilon);
        out.push_str(&polyline(&[(x, top + 0.5 * GAP), (x, top + 0.5 * GAP + height)], ACCOUNTED));
    }
    out
}

fn legend(report: &FedAvgComparisonReport, axis: &Axis, top: f64) -> String {
    let none = MeanEstimate { value: 0.0, standard_error: 0.0 };
    let at = |index: i32| top + 26.0 * f64::from(index);
    // marks of the axis, moved to the margin
    let moved = |mark: String| {
        format!(
            "<g transform=\"translate({} 0)\">\n{mark}</g>\n",
            coordinate(66.0 - axis.place(0.0))
        )
    };
    let bound = format!(
        "lower bound on ε for any training algorithm: mean of {} audits, each with {} confidence at δ = {}",
        report.runs,
        confidence(report.significance),
        delta(report.delta)
    );
    let entries = [
        (moved(axis.mark(none, at(0) - 6.0, false)), bound.as_str()),
        (
            moved(axis.mark(none, at(1) - 6.0, true)),
            "estimate by the mean score, without coverage; lines are three standard errors",
        ),
        (
            polyline(&[(50.0, at(2) - 6.0), (84.0, at(2) - 6.0)], ACCOUNTED),
            "accounted for an attacker who sees every update",
        ),
    ];
    let mut out = String::new();
    for ((sign, words), index) in entries.into_iter().zip(0..) {
        out.push_str(&sign);
        out.push_str(&text((100.0, at(index)), Anchor::Start, TEXT, words));
    }
    let caption = format!(
        "{} parameters on {}; seed {}; dpscope {}",
        report.parameters, report.data, report.seed, report.version
    );
    out + &text((50.0, at(3) + 4.0), Anchor::Start, TEXT - 2, &caption)
}
