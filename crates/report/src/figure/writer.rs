//! Charts as SVG, the one place that lays out drawings.
//!
//! Written by hand: plotters writes no accessible title, makes many short lines of a dashed one, and
//! leaves legends, labels beside ends of lines and pictures to its callers.

use dpscope_core::math::{log10, powf};

use super::chart::{Chart, Entry, Frame, GREY, Mark, Panel, Point, Shape, Symbol};
use super::labels::heights;
use super::svg::{
    Anchor, Place, Stroke, area, coordinate, document, polyline, raised_text, text, upright_text,
};

const WIDTH: f64 = 1200.0;
/// Size of the text of ticks and axes: 10 pixels where the drawing is 600 wide.
const TEXT: u32 = 20;
/// Height of a line of a legend, and of a caption.
const LINE: f64 = 29.0;
const CAPTION_LINE: f64 = 26.0;
/// From a panel down to the words of its ticks, its title and the first line of its legend.
const TICKS: f64 = 28.0;
const TITLE: f64 = 62.0;
const LEGEND: f64 = 108.0;
/// Size of the sign of an entry of a legend.
const SIGN: Place = (62.0, 18.0);

/// Longest line of words, in characters.
const LONGEST: usize = 110;

const FRAME: Stroke = Stroke { colour: "#000", width: 1.5, dashes: "" };
const GRID: Stroke = Stroke { colour: "#ddd", width: 1.0, dashes: "" };
const LEADER: Stroke = Stroke { colour: GREY, width: 1.0, dashes: "" };

/// A self-contained SVG.
pub(super) fn to_svg(chart: &Chart<'_>) -> String {
    let size = title_size(chart.title.chars().count());
    let mut body = text((0.5 * WIDTH, 36.0), Anchor::Middle, size, &cut(chart.title));
    for panel in chart.panels {
        push_panel(&mut body, panel);
    }
    let left = chart.panels.iter().map(|panel| panel.place[0]).fold(0.5 * WIDTH, f64::min);
    let mut y = chart.panels.iter().map(lower_edge).fold(0.0, f64::max) + 1.4 * LINE;
    for line in &chart.caption {
        body.push_str(&text((left, y), Anchor::Start, TEXT - 2, &cut(line)));
        y += CAPTION_LINE;
    }
    document(chart.title, &chart.description, (WIDTH, y.ceil()), &body)
}

/// Size at which so many letters fit the drawing.
fn title_size(letters: usize) -> u32 {
    (2100 / letters.clamp(1, LONGEST) as u32).clamp(18, 26)
}

/// A line that fits the drawing.
fn cut(line: &str) -> String {
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    line.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// Where a panel with its words and legend ends.
fn lower_edge(panel: &Panel) -> f64 {
    let [_, top, _, height] = panel.place;
    let below = match panel.legend.len() {
        0 if panel.x.title.is_empty() => 0.0,
        0 => TITLE,
        entries => LEGEND + LINE * (entries as f64 - 1.0),
    };
    top + height + below
}

/// The place of a point; lines may leave the panel, other marks lie on its edge then.
fn place(panel: &Panel, (x, y): Place, is_line: bool) -> Place {
    let [left, top, width, height] = panel.place;
    let [x, y] = [panel.x.share(x), panel.y.share(y)].map(|share| match is_line {
        true => share,
        false => share.clamp(0.0, 1.0),
    });
    (left + width * x, top + height * (1.0 - y))
}

/// Places along a line. It is straight in the values of the axes: two logarithmic ones bend it.
fn along(panel: &Panel, points: &[Point]) -> Vec<Place> {
    let mut places: Vec<Place> =
        points.first().map(|first| place(panel, *first, true)).into_iter().collect();
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        if panel.x.is_logarithmic && panel.y.is_logarithmic && from.1 != to.1 {
            let start = from.0.max(0.6 * panel.x.range[0]);
            let decades = log10(to.0 / start);
            let pieces = (40.0 * decades).ceil().clamp(0.0, 1e3);
            for piece in 0..pieces as u32 {
                let x = start * powf(10.0, decades * f64::from(piece) / pieces);
                let share = (x - from.0) / (to.0 - from.0);
                places.push(place(panel, (x, from.1 + share * (to.1 - from.1)), true));
            }
        }
        places.push(place(panel, to, true));
    }
    places
}

fn push_panel(out: &mut String, panel: &Panel) {
    let [left, top, width, height] = panel.place;
    if panel.frame != Frame::None {
        push_axes(out, panel);
        push_clip(out, panel.place);
    }
    push_marks(out, panel, &panel.marks, false);
    if panel.frame != Frame::None {
        out.push_str("</g>\n");
    }
    push_marks(out, panel, &panel.marks, true);
    let middle = (left + 0.5 * width, top - 16.0);
    out.push_str(&text(middle, Anchor::Middle, TEXT, &panel.title));
    push_ends(out, panel);
    for (line, entry) in (0_u32..).zip(&panel.legend) {
        push_entry(out, entry, (left, top + height + LEGEND + LINE * f64::from(line)));
    }
}

/// The start of a group that is cut just outside a place, so that lines on its edge are whole.
fn push_clip(out: &mut String, [left, top, width, height]: [f64; 4]) {
    let [x, y, wide, high] = [left - 2.0, top - 2.0, width + 4.0, height + 4.0].map(coordinate);
    // its place names it: equal names in one page are equal regions
    let name = format!("dpscope-clip-{x}-{y}-{wide}-{high}");
    out.push_str(&format!(
        "<clipPath id=\"{name}\"><rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\"/>\
         </clipPath>\n<g clip-path=\"url(#{name})\">\n"
    ));
}

/// Grid, ticks, frame and titles of the axes.
fn push_axes(out: &mut String, panel: &Panel) {
    let [left, top, width, height] = panel.place;
    let (right, bottom) = (left + width, top + height);
    let (beside, anchor, upright) = match panel.frame {
        Frame::YRight => (right + 10.0, Anchor::Start, right + 72.0),
        Frame::YLeft | Frame::None if panel.y.ticks.is_empty() => (left, Anchor::End, left - 30.0),
        Frame::YLeft | Frame::None => (left - 10.0, Anchor::End, left - 62.0),
    };
    for (value, words) in &panel.x.ticks {
        let x = left + width * panel.x.share(*value);
        out.push_str(&polyline(&[(x, top), (x, bottom)], GRID));
        out.push_str(&raised_text((x, bottom + TICKS), Anchor::Middle, TEXT, words));
    }
    for (value, words) in &panel.y.ticks {
        let y = bottom - height * panel.y.share(*value);
        out.push_str(&polyline(&[(left, y), (right, y)], GRID));
        out.push_str(&raised_text((beside, y + 7.0), anchor, TEXT, words));
    }
    let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
    out.push_str(&polyline(&corners, FRAME));
    let middle = (left + 0.5 * width, top + 0.5 * height);
    out.push_str(&text((middle.0, bottom + TITLE), Anchor::Middle, TEXT, panel.x.title));
    out.push_str(&upright_text((upright, middle.1), TEXT, panel.y.title));
}

/// Lines, areas and pictures, or points and words.
fn push_marks(out: &mut String, panel: &Panel, marks: &[Mark], are_points: bool) {
    let place = |point: &Place| place(panel, *point, !are_points);
    for mark in marks {
        out.push_str(&match mark {
            Mark::Line(points, stroke) if !are_points => polyline(&along(panel, points), *stroke),
            Mark::Area(points, colour, opacity) if !are_points => {
                area(&along(panel, points), colour, *opacity)
            }
            Mark::Picture(picture, [from, to]) if !are_points => {
                let (from, to) = (place(from), place(to));
                picture.drawn(from, (to.0 - from.0, to.1 - from.1))
            }
            Mark::Point(at, symbol) if are_points => drawn_symbol(place(at), *symbol),
            Mark::Words { at, aside, anchor, words } if are_points => {
                let (x, y) = place(at);
                text((x + aside.0, y + aside.1), *anchor, TEXT - 2, words)
            }
            _ => continue,
        });
    }
}

fn drawn_symbol(at: Place, Symbol { shape, colour, is_filled }: Symbol) -> String {
    let (x, y) = (coordinate(at.0), coordinate(at.1));
    let shape = match shape {
        Shape::Circle => format!("circle cx=\"{x}\" cy=\"{y}\" r=\"5\""),
        Shape::Square => format!("path d=\"M{x},{y} m-4,-4 h8 v8 h-8 z\""),
        Shape::Diamond => format!("path d=\"M{x},{y} m-5,0 l5,-5 l5,5 l-5,5 z\""),
    };
    let fill = if is_filled { colour } else { "#fff" };
    format!("<{shape} fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"2\"/>\n")
}

/// Labels left of a panel, each with a line to its height.
fn push_ends(out: &mut String, panel: &Panel) {
    let [left, top, _, height] = panel.place;
    let wanted: Vec<f64> =
        panel.ends.iter().map(|(_, value)| place(panel, (0.0, *value), false).1).collect();
    let found = heights(&wanted, top + 8.0, top + height - 4.0);
    for (((words, _), wanted), found) in panel.ends.iter().zip(wanted).zip(found) {
        out.push_str(&polyline(&[(left - 30.0, found), (left - 4.0, wanted)], LEADER));
        out.push_str(&text((left - 34.0, found + 7.0), Anchor::End, TEXT, words));
    }
}

/// A line of a legend; `y` is the base of its words.
fn push_entry(out: &mut String, entry: &Entry, (left, y): Place) {
    let place = [left, y - 6.0 - 0.5 * SIGN.1, SIGN.0, SIGN.1];
    let sign = Panel::unframed(place, [0.0, 1.0], [0.0, 1.0]);
    for are_points in [false, true] {
        push_marks(out, &sign, &entry.sign, are_points);
    }
    out.push_str(&text((left + SIGN.0 + 13.0, y), Anchor::Start, TEXT - 2, &cut(&entry.words)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::chart::{Axis, BLUE};

    const STROKE: Stroke = Stroke { colour: BLUE, width: 2.0, dashes: "4 2" };

    fn panel(range: [f64; 2]) -> Panel {
        let axis = || Axis::logarithmic(range, "a & b", vec![(1.0, "10^0".to_owned())]);
        Panel::new([100.0, 50.0, 200.0, 200.0], axis(), axis())
    }

    #[test]
    fn every_number_and_every_text_is_drawn_safely() {
        let numbers = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1e300, 1e300, 5.0];
        let points: Vec<Point> = numbers.iter().flat_map(|x| numbers.map(|y| (*x, y))).collect();
        let symbol = Symbol { shape: Shape::Circle, colour: BLUE, is_filled: false };
        let mut panels = vec![Panel::default()];
        for range in [[1.0, 10.0], [10.0, 1.0], [0.0, 0.0], [f64::NAN, 1.0]] {
            let mut panel = panel(range);
            panel.line(points.clone(), STROKE, "<line>");
            panel.line(Vec::new(), STROKE, "");
            panel.histogram(&numbers, STROKE, "<bins>");
            panel.histogram(&[], STROKE, "");
            panel.marks.extend(points.iter().map(|at| Mark::Point(*at, symbol)));
            panel.words(points[0], (1.0, 1.0), Anchor::Start, "<words>");
            panel.ends = numbers.map(|end| ("<end>".to_owned(), end)).to_vec();
            panels.push(panel);
        }
        let [title, description] = ["<title>", "<desc>"].map(|words| words.repeat(60));
        let drawn = to_svg(&Chart {
            title: &title,
            description,
            panels: &panels,
            caption: vec!["<note>".repeat(60)],
        });
        for never in ["NaN", "inf", "<line>", "<bins>", "<words>", "<end>", "<title><", "<note>"] {
            assert!(!drawn.contains(never), "{never}");
        }
        assert_eq!(drawn.matches("&lt;bins&gt;").count(), 4);
        let empty =
            Chart { title: "", description: String::new(), panels: &[], caption: Vec::new() };
        assert!(to_svg(&empty).ends_with("</svg>\n"));
    }

    #[test]
    fn logarithmic_axes_bend_lines_and_points_stay_inside() {
        let panel = panel([0.01, 1.0]);
        let bent = along(&panel, &[(0.0, 0.0), (1.0, 1.0)]);
        // y = x is straight on equal axes, and passes the middle at a tenth
        assert!(bent.len() > 80 && bent.iter().all(|(x, y)| (x + y - 350.0).abs() < 1e-6));
        assert!(bent.iter().any(|(x, _)| (x - 200.0).abs() < 2.0), "{bent:?}");
        assert_eq!(along(&panel, &[(0.01, 1.0), (1.0, 1.0)]).len(), 2);
        assert_eq!(place(&panel, (0.0, 9.0), false), (100.0, 50.0));
    }
}
