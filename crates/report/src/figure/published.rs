//! Published trainings: a row each, with its claim and what shuffled batches leak at least.

use dpscope_core::accounting::Accounted;
use dpscope_core::format::given;
use dpscope_core::math::{log10, powf};

use super::panel::TEXT;
use super::svg::{Anchor, Place, SVG_MARK, Stroke, coordinate, escaped, polyline, text};
use crate::record::{PublishedReport, PublishedRow};

const WIDTH: f64 = 1200.0;
const LEFT: f64 = 470.0;
const RIGHT: f64 = 1160.0;
const TOP: f64 = 70.0;
const PITCH: f64 = 34.0;

const CLAIM: &str = "#D55E00";
const LEAK: &str = "#AA4480";
const GRID: Stroke = Stroke { colour: "#ddd", width: 1.0, dashes: "" };
const EXCESS: Stroke = Stroke { colour: LEAK, width: 3.0, dashes: "" };
const REST: Stroke = Stroke { colour: "#777", width: 2.0, dashes: "4 4" };

const TITLE: &str = "Published trainings: claimed ε, and what shuffled batches leak at least";

/// The drawing of a report, on a logarithmic axis of ε.
#[must_use]
pub fn published_svg(report: &PublishedReport) -> String {
    let rows = &report.rows;
    let axis = Axis::of(rows);
    let bottom = TOP + PITCH * rows.len() as f64;
    let height = bottom + 120.0;
    let exceeded = rows.iter().filter(|row| is_exceeded(row)).count();
    let description = format!(
        "One row per training. The lower bound exceeds the claim in {exceeded} of {} rows.",
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
    out.push_str(&text((0.5 * WIDTH, 36.0), Anchor::Middle, 26, TITLE));
    for tick in axis.ticks() {
        let x = axis.place(tick);
        out.push_str(&polyline(&[(x, TOP), (x, bottom)], GRID));
        out.push_str(&text((x, bottom + 26.0), Anchor::Middle, TEXT, &given(tick)));
    }
    for (index, row) in rows.iter().enumerate() {
        out.push_str(&drawn(row, &axis, TOP + PITCH * (index as f64 + 0.5)));
    }
    out.push_str(&text((0.5 * (LEFT + RIGHT), bottom + 54.0), Anchor::Middle, TEXT, "ε"));
    let y = bottom + 90.0;
    out.push_str(&dot((LEFT, y - 7.0)));
    out.push_str(&text((LEFT + 16.0, y), Anchor::Start, TEXT, "claimed"));
    out.push_str(&head((LEFT + 150.0, y - 7.0)));
    let leak = "shuffled batches leak at least";
    out.push_str(&text((LEFT + 170.0, y), Anchor::Start, TEXT, leak));
    out.push_str("</svg>\n");
    out
}

/// The largest lower bound of shuffled batches.
fn least_leak(row: &PublishedRow) -> Option<&Accounted> {
    let bounds = [row.shuffle_lower.value(), row.pair.as_ref().map(|pair| &pair.lower)];
    bounds.into_iter().flatten().max_by(|one, other| one.epsilon.total_cmp(&other.epsilon))
}

fn is_exceeded(row: &PublishedRow) -> bool {
    row.shuffle_over_claim.is_some_and(|ratio| ratio > 1.0)
}

fn drawn(row: &PublishedRow, axis: &Axis, y: f64) -> String {
    let sigma = given((row.setting.whole.noise_multiplier * 100.0).round() / 100.0);
    let mut out = text((LEFT - 110.0, y + 7.0), Anchor::End, TEXT, &row.name);
    out.push_str(&text((LEFT - 16.0, y + 7.0), Anchor::End, TEXT, &format!("σ = {sigma}")));
    let claimed = (axis.place(row.claimed_epsilon), y);
    if let Some(least) = least_leak(row) {
        let at = (axis.place(least.epsilon), y);
        let stroke = if is_exceeded(row) { EXCESS } else { REST };
        out.push_str(&polyline(&[claimed, at], stroke));
        out.push_str(&head(at));
    }
    out + &dot(claimed)
}

fn dot((x, y): Place) -> String {
    format!(
        "<circle cx=\"{}\" cy=\"{}\" r=\"6\" fill=\"{CLAIM}\"/>\n",
        coordinate(x),
        coordinate(y)
    )
}

/// Points to where the true value may be.
fn head((x, y): Place) -> String {
    let (x, y) = (coordinate(x), coordinate(y));
    format!("<path transform=\"translate({x} {y})\" d=\"M0,-7 l10,7 l-10,7 z\" fill=\"{LEAK}\"/>\n")
}

/// A logarithmic axis of ε.
struct Axis {
    least: f64,
    most: f64,
}

impl Axis {
    fn of(rows: &[PublishedRow]) -> Self {
        let leaks = rows.iter().filter_map(least_leak).map(|leak| leak.epsilon);
        let values = rows.iter().map(|row| row.claimed_epsilon).chain(leaks);
        let values = values.filter(|value| *value > 0.0 && value.is_finite());
        let (least, most) =
            values.fold((f64::MAX, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
        if most > 0.0 {
            Axis { least: 0.8 * least, most: 1.15 * most }
        } else {
            Axis { least: 0.1, most: 10.0 }
        }
    }

    fn place(&self, epsilon: f64) -> f64 {
        let share = log10(epsilon.clamp(self.least, self.most) / self.least)
            / log10(self.most / self.least);
        LEFT + (RIGHT - LEFT) * share
    }

    /// 1, 2 and 5 times powers of ten.
    fn ticks(&self) -> Vec<f64> {
        let (from, to) = (log10(self.least).floor() as i32, log10(self.most).ceil() as i32);
        let all = (from..=to).flat_map(|power| [1.0, 2.0, 5.0].map(|step| (step, power)));
        let tick = |(step, power): (f64, i32)| match power {
            0.. => step * powf(10.0, f64::from(power)).round(),
            _ => step / powf(10.0, f64::from(-power)).round(),
        };
        all.map(tick).filter(|tick| (self.least..=self.most).contains(tick)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_within_the_axis_and_ticks_are_round() {
        let axis = Axis { least: 0.08, most: 130.0 };
        assert_eq!(axis.ticks(), [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!([0.0, 0.08, 130.0, 1e9].map(|it| axis.place(it)), [LEFT, LEFT, RIGHT, RIGHT]);
        let none = Axis::of(&[]);
        assert!(none.place(1.0) > LEFT && none.place(1.0) < RIGHT);
    }
}
