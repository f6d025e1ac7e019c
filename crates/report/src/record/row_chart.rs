//! The data of a drawing with one row per setting.

use dpscope_core::format::given;
use dpscope_core::math::{log10, powf};
use serde::{Deserialize, Serialize};

/// Panels with a horizontal axis, and a named row for each setting.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowChart {
    /// What is shown.
    pub title: String,
    /// The result, for readers who do not see the drawing.
    pub description: String,
    /// Beside each other if all rows are rows of the first one, else below each other.
    pub panels: Vec<RowPanel>,
    /// What the marks mean.
    pub legend: Vec<LegendEntry>,
    /// Sizes and seed.
    pub caption: String,
}

/// A panel with an axis of its own.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowPanel {
    /// Lines above the panel.
    pub title: Vec<String>,
    /// The horizontal axis.
    pub axis: Axis,
    /// From top to bottom.
    pub rows: Vec<ChartRow>,
    /// Vertical lines through all rows.
    pub lines: Vec<Mark>,
    /// Heading of the words at the right of the rows.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub words: String,
}

/// A row of a panel.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChartRow {
    /// What neighbouring rows belong to.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Its name.
    pub name: String,
    /// What it shows.
    pub marks: Vec<Mark>,
    /// Words at its right.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub words: String,
}

/// A mark, with a range about it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mark {
    /// Its form.
    pub shape: Shape,
    /// Its colour.
    pub ink: Ink,
    /// Its place on the axis.
    pub value: f64,
    /// Ends of an interval, a connection or a shade.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Place within the row: −1 above, 0 in the middle, 1 below.
    pub lane: f64,
}

impl Mark {
    /// A mark without a range in the middle of a row.
    #[must_use]
    pub const fn new(shape: Shape, ink: Ink, value: f64) -> Self {
        Self { shape, ink, value, range: None, lane: 0.0 }
    }

    /// A mark with a range.
    #[must_use]
    pub const fn with_range(self, low: f64, high: f64) -> Self {
        Self { range: Some([low, high]), ..self }
    }

    /// A mark with another place within the row.
    #[must_use]
    pub const fn in_lane(self, lane: f64) -> Self {
        Self { lane, ..self }
    }
}

/// The form of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A circle without filling.
    Circle,
    /// A filled circle.
    Dot,
    /// A square without filling.
    Square,
    /// A filled square.
    Block,
    /// A bracket that opens to larger values: a lower bound.
    Bound,
    /// An arrow head to larger values: the end of a connection.
    Head,
    /// A dashed line across the row.
    Line,
    /// A shaded range.
    Shade,
}

/// The colour of a mark: those of Okabe and Ito, which shapes distinguish in grey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ink {
    /// Black.
    Black,
    /// Grey.
    Grey,
    /// Vermilion.
    Orange,
    /// Blue.
    Blue,
    /// Reddish purple.
    Purple,
}

/// A mark and its meaning.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LegendEntry {
    /// The mark.
    pub mark: Mark,
    /// Its meaning.
    pub text: String,
}

/// A horizontal axis.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Axis {
    /// Below the axis.
    pub title: String,
    /// How values become places.
    pub spacing: Spacing,
    /// Left and right end; values outside stand at the nearer one.
    pub ends: [f64; 2],
    /// Values with a line of the grid.
    pub ticks: Vec<Tick>,
}

/// How values become places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// As they are.
    Linear,
    /// By their logarithm.
    Logarithmic,
    /// By their square root.
    SquareRoot,
}

/// A labelled value of an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tick {
    /// The value.
    pub value: f64,
    /// Its label.
    pub label: String,
}

impl Axis {
    /// Ticks of an axis at most.
    const TICKS: f64 = 7.0;

    /// A linear axis with round ticks.
    #[must_use]
    pub fn linear(title: impl Into<String>, [low, high]: [f64; 2]) -> Self {
        let steps = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0];
        let step = steps.into_iter().find(|step| (high - low) / step <= Self::TICKS);
        let step = step.unwrap_or(high - low);
        let first = (low / step - 1e-9).ceil();
        let ticks = (0..=Self::TICKS as u32).map(|at| (first + f64::from(at)) * step);
        let ticks = ticks.take_while(|&tick| tick <= high + 1e-9 * step);
        // away from the error of a product with 0.1
        let ticks = ticks.map(|tick| (tick * 1e6).round() / 1e6);
        Self {
            title: title.into(),
            spacing: Spacing::Linear,
            ends: [low, high],
            ticks: labelled(ticks),
        }
    }

    /// A logarithmic axis that has room for these values; ticks at 1, 2 and 5 times powers of ten.
    #[must_use]
    pub fn logarithmic(title: impl Into<String>, values: impl Iterator<Item = f64>) -> Self {
        let positive = values.filter(|value| *value > 0.0 && value.is_finite());
        let (least, most) =
            positive.fold((f64::MAX, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
        let ends = if most > 0.0 { [0.8 * least, 1.15 * most] } else { [0.1, 10.0] };
        let steps: &[f64] = if ends[1] > 5e3 * ends[0] { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let ticks =
            powers_of_ten(ends).flat_map(|power| steps.iter().map(move |step| step * power));
        let ticks = ticks.filter(|tick| (ends[0]..=ends[1]).contains(tick));
        Self { title: title.into(), spacing: Spacing::Logarithmic, ends, ticks: labelled(ticks) }
    }

    /// Where a value stands, from 0 at the left end to 1 at the right one.
    #[must_use]
    pub fn share(&self, value: f64) -> f64 {
        let [low, high] = self.ends;
        let value = value.clamp(low, high);
        match self.spacing {
            Spacing::Linear => (value - low) / (high - low),
            Spacing::Logarithmic => log10(value / low) / log10(high / low),
            Spacing::SquareRoot => ((value - low) / (high - low)).sqrt(),
        }
    }
}

/// Powers of ten about a range.
fn powers_of_ten([low, high]: [f64; 2]) -> impl Iterator<Item = f64> {
    let (from, to) = (log10(low).floor() as i32, log10(high).ceil() as i32);
    (from..=to).map(|power| match power {
        0.. => powf(10.0, f64::from(power)).round(),
        _ => powf(10.0, f64::from(-power)).round().recip(),
    })
}

fn labelled(ticks: impl Iterator<Item = f64>) -> Vec<Tick> {
    // a step times a negative power of ten is not exact
    let round = |tick: f64| if tick < 1.0 { (tick * 1e9).round() / 1e9 } else { tick };
    ticks.map(round).map(|value| Tick { value, label: given(value) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_places_are_within_the_axis() {
        let values = |axis: &Axis| axis.ticks.iter().map(|tick| tick.value).collect::<Vec<_>>();
        let axis = Axis::logarithmic("ε", [0.1, 113.0].into_iter());
        assert_eq!(values(&axis), [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!([0.0, 1e9].map(|value| axis.share(value)), [0.0, 1.0]);
        assert_eq!(Axis::logarithmic("ε", std::iter::empty()).ends, [0.1, 10.0]);
        let linear = Axis::linear("ε", [0.3, 1.0]);
        assert_eq!(values(&linear), [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]);
        let labels: Vec<&str> = linear.ticks.iter().map(|tick| &*tick.label).collect();
        assert_eq!(labels.join(" "), "0.3 0.4 0.5 0.6 0.7 0.8 0.9 1");
        assert_eq!((linear.share(0.65) * 100.0).round(), 50.0);
        assert_eq!(values(&Axis::linear("ε", [0.0, 13.2])), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    }
}
