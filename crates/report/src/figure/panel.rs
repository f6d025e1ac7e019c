//! A square with axes, and where rates lie in it.

use dpscope_core::math::{log10, powf};

use super::svg::{Anchor, Place, Stroke, coordinate, polyline, power_of_ten, text, upright_text};

/// Sides of a panel.
pub(super) const SIDE: f64 = 400.0;

/// Size of the text of ticks and axes: 10 pixels where the drawing is 600 wide.
pub(super) const TEXT: u32 = 20;

const FRAME: Stroke = Stroke { colour: "#000", width: 1.5, dashes: "" };
const GRID: Stroke = Stroke { colour: "#ddd", width: 1.0, dashes: "" };

/// What the axes show.
#[derive(Debug, Clone, Copy)]
pub(super) enum Axes {
    /// fnr against fpr, 0 to 1.
    Linear,
    /// 1 − fnr against fpr, from 10 to this power to 1.
    Logarithmic(i32),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Panel {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) axes: Axes,
}

impl Panel {
    /// The place of a test's rates. Rates too small for a logarithmic axis lie just outside.
    pub(super) fn place(&self, fpr: f64, fnr: f64) -> Place {
        let (x, y) = match self.axes {
            Axes::Linear => (fpr, fnr),
            Axes::Logarithmic(least) => {
                let share = |rate: f64| {
                    let outside = powf(10.0, f64::from(least) - 0.2);
                    1.0 - log10(rate.max(outside)) / f64::from(least)
                };
                (share(fpr), share(1.0 - fnr))
            }
        };
        (self.left + SIDE * x, self.top + SIDE * (1.0 - y))
    }

    /// A piecewise linear curve through rates by rising fpr, as a polyline: on logarithmic axes linear
    /// pieces are bent.
    pub(super) fn line(&self, rates: &[(f64, f64)]) -> Vec<Place> {
        let place = |&(fpr, fnr): &(f64, f64)| self.place(fpr, fnr);
        let Axes::Logarithmic(least) = self.axes else {
            return rates.iter().map(place).collect();
        };
        let mut places: Vec<Place> = rates.first().map(place).into_iter().collect();
        for pair in rates.windows(2) {
            let [(from, from_fnr), (to, to_fnr)] = [pair[0], pair[1]];
            let start = from.max(powf(10.0, f64::from(least) - 0.2));
            if to > start {
                let pieces = (40.0 * log10(to / start)).ceil();
                for piece in 0..pieces as u32 {
                    let fpr = start * powf(to / start, f64::from(piece) / pieces);
                    let share = (fpr - from) / (to - from);
                    places.push(self.place(fpr, from_fnr + share * (to_fnr - from_fnr)));
                }
            }
            places.push(self.place(to, to_fnr));
        }
        places
    }

    /// The name of the region that clips curves.
    pub(super) fn clip_name(&self) -> &'static str {
        match self.axes {
            Axes::Linear => "dpscope-linear",
            Axes::Logarithmic(_) => "dpscope-logarithmic",
        }
    }

    /// The region that clips curves.
    pub(super) fn clip(&self) -> String {
        format!(
            "<clipPath id=\"{}\"><rect x=\"{}\" y=\"{}\" width=\"{SIDE}\" height=\"{SIDE}\"/></clipPath>\n",
            self.clip_name(),
            coordinate(self.left),
            coordinate(self.top),
        )
    }

    /// Grid, ticks, titles of the axes, and the diagonal of random guesses.
    pub(super) fn frame(&self) -> String {
        let mut out = String::new();
        match self.axes {
            Axes::Linear => self.linear_ticks(&mut out),
            Axes::Logarithmic(least) => self.logarithmic_ticks(&mut out, least),
        }
        let (right, bottom) = (self.left + SIDE, self.top + SIDE);
        let corners =
            [(self.left, self.top), (right, self.top), (right, bottom), (self.left, bottom)];
        out.push_str(&polyline(&[&corners[..], &corners[..1]].concat(), FRAME));
        let middle = (self.left + 0.5 * SIDE, self.top + 0.5 * SIDE);
        let (across, beside, upward) = match self.axes {
            Axes::Linear => ("false positive rate", self.left - 62.0, "false negative rate"),
            Axes::Logarithmic(_) => {
                ("false positive rate (log)", right + 72.0, "true positive rate (log)")
            }
        };
        out.push_str(&text((middle.0, bottom + 62.0), Anchor::Middle, TEXT, across));
        out.push_str(&upright_text((beside, middle.1), TEXT, upward));
        out
    }

    fn linear_ticks(&self, out: &mut String) {
        for tick in 0..=5 {
            let rate = f64::from(tick) / 5.0;
            let (x, y) = self.place(rate, rate);
            self.grid(out, (x, y));
            let words = if tick % 5 == 0 { format!("{rate:.0}") } else { format!("{rate:.1}") };
            out.push_str(&text((x, self.top + SIDE + 28.0), Anchor::Middle, TEXT, &words));
            out.push_str(&text((self.left - 10.0, y + 7.0), Anchor::End, TEXT, &words));
        }
    }

    fn logarithmic_ticks(&self, out: &mut String, least: i32) {
        let every = if least < -5 { 2 } else { 1 };
        for exponent in least..=0 {
            let rate = powf(10.0, f64::from(exponent));
            let (x, y) = self.place(rate, 1.0 - rate);
            let y = if exponent == 0 { self.top } else { y };
            self.grid(out, (x, y));
            if exponent % every == 0 {
                let right = self.left + SIDE;
                let below = (x, self.top + SIDE + 28.0);
                out.push_str(&power_of_ten(below, Anchor::Middle, TEXT, exponent));
                out.push_str(&power_of_ten((right + 10.0, y + 7.0), Anchor::Start, TEXT, exponent));
            }
        }
    }

    fn grid(&self, out: &mut String, (x, y): Place) {
        out.push_str(&polyline(&[(x, self.top), (x, self.top + SIDE)], GRID));
        out.push_str(&polyline(&[(self.left, y), (self.left + SIDE, y)], GRID));
    }
}
