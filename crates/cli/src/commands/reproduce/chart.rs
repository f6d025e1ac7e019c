//! Drawings of reproductions: panels and marks stand in data files, places come from the tables.

use dpscope_core::math::{log10, powf};
use dpscope_report::record::{
    Axis, ChartRow, Ink, LegendEntry, Mark, RowChart, RowPanel, Shape, Spacing, Tick,
};
use serde::Deserialize;
use serde_json::Value;

use super::names::{Names, Table, written};

/// What a data file says of a drawing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChartPage {
    title: String,
    description: String,
    #[serde(default)]
    caption: String,
    panel: Vec<Panel>,
    legend: Vec<Entry>,
    r#if: Option<String>,
}

/// A panel of a table, or one for each value of a column.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Panel {
    table: String,
    by: Option<String>,
    #[serde(default)]
    title: Vec<String>,
    axis: AxisPage,
    /// What is drawn for each row of the table.
    rows: Vec<RowPage>,
    #[serde(default)]
    lines: Vec<MarkPage>,
    #[serde(default)]
    words: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AxisPage {
    title: String,
    scale: Spacing,
    /// Ends of the axis, which is extended where marks are outside.
    ends: Option<[f64; 2]>,
    ticks: Option<Vec<f64>>,
    /// How ticks are written.
    #[serde(default)]
    form: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowPage {
    #[serde(default)]
    group: String,
    name: String,
    #[serde(default)]
    words: String,
    marks: Vec<MarkPage>,
}

/// A mark, with its value or the names of its values in a row or among the facts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MarkPage {
    shape: Shape,
    ink: Ink,
    at: String,
    #[serde(default)]
    lane: f64,
    /// Names of the ends of its range.
    range: Option<[String; 2]>,
    /// Name of the distance of the ends of its range, and how many of them they are away.
    error: Option<String>,
    #[serde(default = "one")]
    errors: f64,
    r#if: Option<String>,
}

const fn one() -> f64 {
    1.0
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    shape: Shape,
    ink: Ink,
    #[serde(default)]
    has_range: bool,
    text: String,
}

impl ChartPage {
    /// The drawing of the tables; none if the experiment has none.
    pub(super) fn drawn(&self, tables: &[Table], names: &Names<'_>) -> Option<RowChart> {
        if !names.has(&self.r#if) {
            return None;
        }
        let mut panels = Vec::new();
        for panel in &self.panel {
            for table in tables.iter().filter(|table| table.name == panel.table) {
                let groups = table.rows.chunk_by(|one, next| match &panel.by {
                    Some(column) => one.get(column) == next.get(column),
                    None => true,
                });
                panels.extend(groups.map(|rows| panel.drawn(rows, table, names)));
            }
        }
        let legend = |Entry { shape, ink, has_range, text }: &Entry| {
            let mark = Mark::new(*shape, *ink, 0.0);
            let mark = if *has_range { mark.with_range(-1.0, 1.0) } else { mark };
            LegendEntry { mark, text: names.filled(text) }
        };
        Some(RowChart {
            title: names.filled(&self.title),
            description: names.filled(&self.description),
            panels,
            legend: self.legend.iter().map(legend).collect(),
            caption: names.filled(&self.caption),
        })
    }
}

impl Panel {
    fn drawn(&self, values: &[Value], table: &Table, names: &Names<'_>) -> RowPanel {
        let mut rows = Vec::new();
        for value in values {
            let names = names.of(value);
            rows.extend(self.rows.iter().map(|row| ChartRow {
                group: names.filled(&row.group),
                name: names.filled(&row.name),
                words: names.filled(&row.words),
                marks: row.marks.iter().filter_map(|mark| mark.placed(&names)).collect(),
            }));
        }
        // words above the panel are those of its table, or of its first row
        let names =
            if table.facts.is_null() { names.of(&values[0]) } else { names.of(&table.facts) };
        let lines: Vec<Mark> = self.lines.iter().filter_map(|line| line.placed(&names)).collect();
        let marks = rows.iter().flat_map(|row| &row.marks).chain(&lines);
        let places = marks.flat_map(|mark| {
            let [low, high] = mark.range.unwrap_or([mark.value; 2]);
            [low, mark.value, high]
        });
        RowPanel {
            title: self.title.iter().map(|line| names.filled(line)).collect(),
            axis: self.axis.axis(places),
            rows,
            lines,
            words: self.words.clone(),
        }
    }
}

impl AxisPage {
    fn axis(&self, places: impl Iterator<Item = f64>) -> Axis {
        let places = places.filter(|place| place.is_finite());
        let title = &self.title;
        let mut axis = match (self.scale, self.ends) {
            (Spacing::Logarithmic, None) => Axis::logarithmic(title, places),
            (Spacing::Logarithmic, Some([low, high])) => {
                let most = powf(10.0, log10(places.fold(high, f64::max)).ceil());
                let ends = [low, most];
                Axis { ends, ..Axis::logarithmic(title, ends.into_iter()) }
            }
            (scale, ends) => {
                let [low, high] = ends.unwrap_or([0.0, 0.0]);
                let (least, most) = places.fold((low, high), |(a, b), it| (a.min(it), b.max(it)));
                let low = if least < low { (10.0 * least).floor() / 10.0 } else { low };
                let high = if most > high { 1.06 * most } else { high };
                Axis { spacing: scale, ..Axis::linear(title, [low.max(0.0), high]) }
            }
        };
        if let Some(ticks) = &self.ticks {
            let label = |&value: &f64| Tick { value, label: written(value, &self.form) };
            axis.ticks = ticks.iter().map(label).collect();
        }
        axis
    }
}

impl MarkPage {
    fn placed(&self, names: &Names<'_>) -> Option<Mark> {
        let number = |name: &str| name.parse().ok().or_else(|| names.value(name).as_f64());
        if !names.has(&self.r#if) {
            return None;
        }
        let mark = Mark::new(self.shape, self.ink, number(&self.at)?).in_lane(self.lane);
        let range = match (&self.range, &self.error) {
            (Some([low, high]), _) => Some([number(low)?, number(high)?]),
            (None, Some(error)) => {
                let error = self.errors * number(error)?;
                Some([mark.value - error, mark.value + error])
            }
            (None, None) => None,
        };
        Some(Mark { range, ..mark })
    }
}
