//! The drawing of rows: panels with a horizontal axis, a legend and a caption.

use super::chart::{BLACK, BLUE, VERMILION};
use super::svg::{Anchor, Place, Stroke, area, coordinate, document, polyline, text};
use crate::record::{ChartRow, Ink, Mark, RowChart, RowPanel, Shape};

const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 40.0;
const HEAD: f64 = 60.0;
const TEXT: u32 = 16;
const SMALL: u32 = 14;
/// Width of a character of text.
const CHARACTER: f64 = 8.0;
/// Height of a lane within a row.
const LANE: f64 = 14.0;
/// Between panels, and between groups of rows.
const GAP: f64 = 22.0;
/// From the rows to the end of a panel: ticks and the title of the axis.
const BELOW: f64 = 62.0;
const LINE: f64 = 27.0;

const FRAME: Stroke = Stroke { colour: "#000", width: 1.0, dashes: "" };
const GRID: Stroke = Stroke { colour: "#ddd", width: 1.0, dashes: "" };

/// The drawing of a chart.
#[must_use]
pub fn row_chart_svg(chart: &RowChart) -> String {
    let layout = Layout::of(chart);
    let mut panels = String::new();
    let (mut top, mut left) = (HEAD, layout.left);
    for (index, panel) in chart.panels.iter().enumerate() {
        let is_first = index == 0 || !layout.is_beside;
        let panel = &match is_first {
            true => panel.clone(),
            false => beside(panel, &chart.panels[0]),
        };
        panels += &Drawn { panel, layout: &layout, left, top }.panel(is_first);
        match layout.is_beside {
            true => left += layout.width + GAP,
            false => top += layout.height(panel),
        }
    }
    if layout.is_beside {
        top += chart.panels.iter().map(|panel| layout.height(panel)).fold(0.0, f64::max);
    }
    let height = top + LINE * (chart.legend.len() + 1) as f64 + 0.5 * LINE;
    let mut body = text((0.5 * WIDTH, 38.0), Anchor::Middle, 26, &chart.title);
    body += &panels;
    for (entry, index) in chart.legend.iter().zip(1..) {
        let y = top + LINE * f64::from(index) - 10.0;
        let across =
            |value: f64| MARGIN + 25.0 + 25.0 * (value - entry.mark.value).clamp(-1.0, 1.0);
        body += &mark(&entry.mark, across, y - 6.0, 9.0);
        body += &text((MARGIN + 66.0, y), Anchor::Start, TEXT, &entry.text);
    }
    body += &text((MARGIN, height - 0.6 * LINE), Anchor::Start, SMALL, &chart.caption);
    document(&chart.title, &chart.description, (WIDTH, height), &body)
}

/// A panel with the rows of the first one, of which some are empty.
fn beside(panel: &RowPanel, first: &RowPanel) -> RowPanel {
    let row = |row: &ChartRow| {
        let found = panel.rows.iter().find(|one| one.name == row.name).cloned();
        found.unwrap_or(ChartRow { name: row.name.clone(), ..ChartRow::default() })
    };
    RowPanel { rows: first.rows.iter().map(row).collect(), ..panel.clone() }
}

/// Places that all panels share.
struct Layout {
    is_beside: bool,
    /// Right edges of groups and of names.
    groups: f64,
    left: f64,
    /// Width of a panel.
    width: f64,
    /// Lines of titles above a panel.
    lines: usize,
    pitch: f64,
}

impl Layout {
    fn of(chart: &RowChart) -> Self {
        let rows = || chart.panels.iter().flat_map(|panel| &panel.rows);
        let wide = |of: fn(&ChartRow) -> &String| {
            let longest = rows().map(|row| of(row).chars().count()).max().unwrap_or(0);
            if longest == 0 { 0.0 } else { CHARACTER * longest as f64 + 16.0 }
        };
        let [first, ..] = &chart.panels[..] else { return Self::empty() };
        let words = wide(|row| &row.words);
        let is_of_first = |row: &ChartRow| first.rows.iter().any(|one| one.name == row.name);
        let is_beside = words == 0.0 && rows().all(is_of_first);
        let groups = 16.0 + wide(|row| &row.group);
        let left = groups + wide(|row| &row.name);
        let across = if is_beside { chart.panels.len() as f64 } else { 1.0 };
        let width = (WIDTH - MARGIN - left - words - GAP * (across - 1.0)) / across;
        let lanes = rows().flat_map(|row| &row.marks).map(|mark| mark.lane.abs());
        let pitch = 34.0 + 1.6 * LANE * lanes.fold(0.0, f64::max);
        let lines = chart.panels.iter().map(|panel| panel.title.len()).max().unwrap_or(0);
        Self { is_beside, groups, left, width, lines, pitch }
    }

    const fn empty() -> Self {
        Self { is_beside: false, groups: 16.0, left: 16.0, width: 1144.0, lines: 0, pitch: 34.0 }
    }

    /// Height of the rows of a panel, with gaps between groups.
    fn rows(&self, panel: &RowPanel) -> f64 {
        let groups = panel.rows.chunk_by(|one, next| one.group == next.group).count();
        self.pitch * panel.rows.len() as f64 + GAP * groups.saturating_sub(1) as f64
    }

    fn height(&self, panel: &RowPanel) -> f64 {
        self.rows(panel) + 20.0 * self.lines as f64 + 10.0 + BELOW
    }
}

/// A panel in its place.
struct Drawn<'a> {
    panel: &'a RowPanel,
    layout: &'a Layout,
    left: f64,
    top: f64,
}

impl Drawn<'_> {
    fn across(&self, value: f64) -> f64 {
        self.left + self.layout.width * self.panel.axis.share(value)
    }

    fn panel(&self, has_names: bool) -> String {
        let Self { panel, layout, left, top } = self;
        let first = top + 20.0 * layout.lines as f64 + 10.0;
        let (right, bottom) = (left + layout.width, first + layout.rows(panel));
        let middle = 0.5 * (left + right);
        let mut out = String::new();
        for (line, index) in panel.title.iter().zip(1..) {
            out += &text((middle, top + 20.0 * f64::from(index)), Anchor::Middle, TEXT, line);
        }
        out += &text((right + 12.0, first - 8.0), Anchor::Start, SMALL, &panel.words);
        for tick in &panel.axis.ticks {
            let x = self.across(tick.value);
            out += &polyline(&[(x, first), (x, bottom)], GRID);
            out += &text((x, bottom + 20.0), Anchor::Middle, SMALL, &tick.label);
        }
        out += &text((middle, bottom + 44.0), Anchor::Middle, TEXT, &panel.axis.title);
        let corners =
            [(*left, first), (right, first), (right, bottom), (*left, bottom), (*left, first)];
        out += &polyline(&corners, FRAME);
        for line in &panel.lines {
            let half = 0.5 * (bottom - first);
            out += &mark(line, |value| self.across(value), first + half, half);
        }
        let mut y = first;
        for group in panel.rows.chunk_by(|one, next| one.group == next.group) {
            let height = layout.pitch * group.len() as f64;
            if has_names && !group[0].group.is_empty() {
                let at = (layout.groups - 8.0, y + 0.5 * height + 5.0);
                out += &text(at, Anchor::End, TEXT, &group[0].group);
            }
            for row in group {
                out += &self.row(row, y + 0.5 * layout.pitch, has_names);
                y += layout.pitch;
            }
            y += GAP;
        }
        out
    }

    fn row(&self, row: &ChartRow, y: f64, has_names: bool) -> String {
        let mut out = String::new();
        if has_names {
            out += &text((self.left - 12.0, y + 5.0), Anchor::End, TEXT, &row.name);
        }
        let right = self.left + self.layout.width;
        out += &text((right + 12.0, y + 5.0), Anchor::Start, TEXT, &row.words);
        // shades below other marks
        let (shades, others): (Vec<&Mark>, Vec<&Mark>) =
            row.marks.iter().partition(|mark| mark.shape == Shape::Shade);
        for one in shades.into_iter().chain(others) {
            let half = if one.shape == Shape::Line { 0.5 * self.layout.pitch } else { 7.0 };
            out += &mark(one, |value| self.across(value), y + LANE * one.lane, half);
        }
        out
    }
}

const fn colour(ink: Ink) -> &'static str {
    match ink {
        Ink::Black => BLACK,
        Ink::Grey => "#777",
        Ink::Orange => VERMILION,
        Ink::Blue => BLUE,
        Ink::Purple => "#AA4480",
    }
}

/// A mark with its range: the ends of an interval, the line to an arrow head, or a shade.
fn mark(mark: &Mark, across: impl Fn(f64) -> f64, y: f64, half: f64) -> String {
    let colour = colour(mark.ink);
    let line = |points: &[Place], width, dashes| polyline(points, Stroke { colour, width, dashes });
    let x = across(mark.value);
    let end = |x: f64| line(&[(x, y - 5.0), (x, y + 5.0)], 1.5, "");
    let range = mark.range.map(|ends| ends.map(&across));
    let between = match (range, mark.shape) {
        (None, _) => String::new(),
        (Some([low, high]), Shape::Shade) => area(
            &[(low, y - half), (high, y - half), (high, y + half), (low, y + half)],
            colour,
            0.25,
        ),
        (Some([low, high]), Shape::Head) => line(&[(low, y), (high, y)], 2.0, ""),
        (Some([low, high]), _) => line(&[(low, y), (high, y)], 1.5, "") + &end(low) + &end(high),
    };
    let fill = if matches!(mark.shape, Shape::Circle | Shape::Square) { "#fff" } else { colour };
    let style = format!("fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"2\"");
    let (cx, cy) = (coordinate(x), coordinate(y));
    let sign = match mark.shape {
        Shape::Circle | Shape::Dot => {
            format!("<circle cx=\"{cx}\" cy=\"{cy}\" r=\"5\" {style}/>\n")
        }
        Shape::Square | Shape::Block => {
            let (x, y) = (coordinate(x - 4.5), coordinate(y - 4.5));
            format!("<rect x=\"{x}\" y=\"{y}\" width=\"9\" height=\"9\" {style}/>\n")
        }
        Shape::Head => format!(
            "<path transform=\"translate({cx} {cy})\" d=\"M0,-7 l10,7 l-10,7 z\" fill=\"{colour}\"/>\n"
        ),
        Shape::Bound => {
            let bracket = [(6.0, -7.0), (0.0, -7.0), (0.0, 7.0), (6.0, 7.0)];
            line(&bracket.map(|(right, down)| (x + right, y + down)), 2.5, "")
        }
        Shape::Line => line(&[(x, y - half), (x, y + half)], 1.5, "5 4"),
        Shape::Shade => String::new(),
    };
    between + &sign
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Axis;

    #[test]
    fn panels_of_the_same_rows_stand_beside_each_other() {
        let row = |name: &str| ChartRow {
            name: name.to_owned(),
            marks: vec![Mark::new(Shape::Dot, Ink::Blue, 1.0).with_range(0.5, 2.0)],
            ..ChartRow::default()
        };
        let panel = |name: &str| RowPanel {
            title: vec!["<title>".to_owned()],
            axis: Axis::linear("ε", [0.0, 2.0]),
            rows: vec![row(name), row("last")],
            lines: vec![Mark::new(Shape::Line, Ink::Black, 1.0)],
            words: String::new(),
        };
        let chart = |second: &str| RowChart {
            panels: vec![panel("one"), panel(second)],
            ..RowChart::default()
        };
        let beside = row_chart_svg(&chart("one"));
        assert_eq!((beside.matches(">last<").count(), beside.matches("<circle").count()), (1, 4));
        assert!(beside.contains(">&lt;title&gt;<") && !beside.contains("NaN"), "{beside}");
        assert_eq!(row_chart_svg(&chart("two")).matches(">last<").count(), 2);
        assert!(row_chart_svg(&RowChart::default()).ends_with("</svg>\n"));
    }
}
