//! What every drawing consists of: panels with axes, marks and legends. [`super::writer`] draws it.

use dpscope_core::math::log10;

use super::picture::Picture;
use super::svg::{Anchor, Place, Stroke};

/// Colours of Okabe and Ito, distinct for colour-blind readers; dashes distinguish lines in grey.
pub(super) const BLUE: &str = "#0072B2";
pub(super) const VERMILION: &str = "#D55E00";
pub(super) const GREEN: &str = "#009E73";
pub(super) const ORANGE: &str = "#E69F00";
pub(super) const PURPLE: &str = "#CC79A7";
pub(super) const GREY: &str = "#777777";
pub(super) const BLACK: &str = "#000";

/// A whole drawing.
pub(super) struct Chart<'a> {
    pub(super) title: &'a str,
    /// What is drawn, for readers who do not see it.
    pub(super) description: String,
    pub(super) panels: &'a [Panel],
    /// Lines of words below the panels and their legends.
    pub(super) caption: Vec<String>,
}

/// A rectangle with axes.
#[derive(Debug, Default)]
pub(super) struct Panel {
    /// Left edge, top, width and height, in units of the drawing, which is 1,200 wide.
    pub(super) place: [f64; 4],
    /// Words above the panel.
    pub(super) title: String,
    pub(super) frame: Frame,
    pub(super) x: Axis,
    pub(super) y: Axis,
    /// What is in the panel; points and words lie above lines and areas.
    pub(super) marks: Vec<Mark>,
    /// Words left of the panel, and the value of y that each leads to.
    pub(super) ends: Vec<(String, f64)>,
    /// One entry a line, below the panel.
    pub(super) legend: Vec<Entry>,
}

impl Panel {
    pub(super) fn new(place: [f64; 4], x: Axis, y: Axis) -> Self {
        Panel { place, x, y, ..Panel::default() }
    }

    /// A panel without frame and ticks, for words and pictures.
    pub(super) fn unframed(place: [f64; 4], x: [f64; 2], y: [f64; 2]) -> Self {
        let axis = |range| Axis::linear(range, "", Vec::new());
        Panel { frame: Frame::None, ..Panel::new(place, axis(x), axis(y)) }
    }

    /// A line with its entry in the legend, if it has words.
    pub(super) fn line(&mut self, points: Vec<Point>, stroke: Stroke, words: &str) {
        self.marks.push(Mark::Line(points, stroke));
        if !words.is_empty() {
            self.legend.push(Entry::line(stroke, words));
        }
    }

    /// A histogram with equal bins over the range of the x axis, with its entry in the legend.
    pub(super) fn histogram(&mut self, heights: &[f64], stroke: Stroke, words: &str) {
        let [low, high] = self.x.range;
        let edge = |bin: usize| low + (high - low) * bin as f64 / heights.len() as f64;
        let tops = heights.iter().enumerate();
        let tops = tops.flat_map(|(bin, &height)| [(edge(bin), height), (edge(bin + 1), height)]);
        let outline: Vec<Point> =
            [(low, 0.0)].into_iter().chain(tops).chain([(high, 0.0)]).collect();
        self.marks.push(Mark::Area(outline.clone(), stroke.colour, 0.15));
        self.line(outline, stroke, words);
    }

    /// Words at a point, moved aside to the right and down by units of the drawing.
    pub(super) fn words(&mut self, at: Point, aside: Place, anchor: Anchor, words: &str) {
        self.marks.push(Mark::Words { at, aside, anchor, words: words.to_owned() });
    }
}

/// Whether a panel has a frame, and where the words of its y axis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Frame {
    #[default]
    YLeft,
    YRight,
    None,
}

/// The values along a side of a panel.
#[derive(Debug, Default)]
pub(super) struct Axis {
    pub(super) is_logarithmic: bool,
    /// Values at the left and right edge, or at the lower and upper one.
    pub(super) range: [f64; 2],
    pub(super) title: &'static str,
    /// Values with grid lines, and their words; `^` starts an exponent.
    pub(super) ticks: Vec<(f64, String)>,
}

impl Axis {
    pub(super) fn linear(range: [f64; 2], title: &'static str, ticks: Vec<(f64, String)>) -> Self {
        Axis { is_logarithmic: false, range, title, ticks }
    }

    /// A logarithmic axis; its range is above 0.
    pub(super) fn logarithmic(
        range: [f64; 2],
        title: &'static str,
        ticks: Vec<(f64, String)>,
    ) -> Self {
        Axis { is_logarithmic: true, range, title, ticks }
    }

    /// Where a value lies: 0 at the start of the range, 1 at its end, never far outside of it.
    pub(super) fn share(&self, value: f64) -> f64 {
        let [low, high] = self.range;
        let share = if self.is_logarithmic {
            // 0 and less lie a decade below the range
            log10(value.max(0.1 * low) / low) / log10(high / low)
        } else {
            (value - low) / (high - low)
        };
        if share.is_nan() { 0.0 } else { share.clamp(-1.0, 2.0) }
    }
}

/// A place in a panel, in values of its axes.
pub(super) type Point = (f64, f64);

/// Something in a panel.
#[derive(Debug)]
pub(super) enum Mark {
    Line(Vec<Point>, Stroke),
    /// A filled outline, with its colour and opacity.
    Area(Vec<Point>, &'static str, f64),
    Point(Point, Symbol),
    Words {
        at: Point,
        /// Distance from there to the right and down, in units of the drawing.
        aside: Place,
        anchor: Anchor,
        words: String,
    },
    /// A picture between its upper left and lower right corner.
    Picture(Picture, [Point; 2]),
}

/// How a point is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Symbol {
    pub(super) shape: Shape,
    pub(super) colour: &'static str,
    pub(super) is_filled: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    Circle,
    Square,
    Diamond,
}

/// A line of a legend.
#[derive(Debug)]
pub(super) struct Entry {
    /// Marks in a panel whose axes go from 0 to 1.
    pub(super) sign: Vec<Mark>,
    pub(super) words: String,
}

impl Entry {
    pub(super) fn line(stroke: Stroke, words: &str) -> Self {
        let line = Mark::Line(vec![(0.0, 0.5), (1.0, 0.5)], stroke);
        Entry { sign: vec![line], words: words.to_owned() }
    }

    pub(super) fn point(symbol: Symbol, words: &str) -> Self {
        Entry { sign: vec![Mark::Point((0.5, 0.5), symbol)], words: words.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_finite_and_follow_the_scale() {
        let linear = Axis::linear([10.0, 0.0], "", Vec::new());
        assert_eq!([10.0, 7.5, 0.0].map(|value| linear.share(value)), [0.0, 0.25, 1.0]);
        let logarithmic = Axis::logarithmic([0.01, 100.0], "", Vec::new());
        let shares = [0.01, 1.0, 100.0, 0.0, -1.0].map(|value| logarithmic.share(value));
        for (share, expected) in shares.into_iter().zip([0.0, 0.5, 1.0, -0.25, -0.25]) {
            assert!((share - expected).abs() < 1e-12, "{shares:?}");
        }
        let empty = [Axis::linear([3.0; 2], "", Vec::new()), Axis::default()];
        for axis in empty.iter().chain([&linear, &logarithmic]) {
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3.0, 1e300] {
                assert!((-1.0..=2.0).contains(&axis.share(value)), "{value}");
            }
        }
    }
}
