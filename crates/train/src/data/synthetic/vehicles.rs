//! Synthetic airplanes in the sky and cars on the street, on coloured 1/f noise.

use super::outline::{Placement, Point, Quad, byte, coverage, ellipse};
use crate::data::draws::Draws;

pub(super) const SIDE: usize = 32;

type Colour = [f64; 3];

/// A random field with a 1/f spectrum, by midpoint displacement from a 3×3 grid: each refinement
/// adds noise whose amplitude is `decay` times the previous one.
fn field(draws: &mut Draws, decay: f64) -> Vec<f64> {
    let mut cells = 2;
    let mut values: Vec<f64> = (0..9).map(|_| draws.jitter()).collect();
    let mut amplitude = 1.0;
    while cells < SIDE {
        amplitude *= decay;
        let (old, new) = (cells + 1, 2 * cells + 1);
        let mut finer = Vec::with_capacity(new * new);
        for y in 0..new {
            for x in 0..new {
                let (left, right) = (x / 2, x.div_ceil(2));
                let (above, below) = (y / 2 * old, y.div_ceil(2) * old);
                let sum = values[above + left]
                    + values[above + right]
                    + values[below + left]
                    + values[below + right];
                finer.push(0.25 * sum + amplitude * draws.jitter());
            }
        }
        (values, cells) = (finer, 2 * cells);
    }
    values
}

/// The background and the variation of its colours.
struct Background {
    above: Colour,
    below: Colour,
    /// Row of the transition between the two colours, and its width in rows.
    horizon: (f64, f64),
    /// Amplitudes of brightness and tint, and their decay from scale to scale.
    brightness: f64,
    tint: f64,
    decay: f64,
}

impl Background {
    fn sky(draws: &mut Draws) -> Self {
        let base = [150.0, 175.0, 200.0];
        let cast = 38.0 * draws.jitter();
        let warm = 22.0 * draws.jitter();
        let above = [base[0] + cast + warm, base[1] + cast, base[2] + cast - warm];
        let change = 22.0 * draws.jitter();
        let below = above.map(|value| value + change);
        Background {
            above,
            below,
            horizon: (16.0, 24.0),
            brightness: draws.between(6.0, 34.0),
            tint: draws.between(3.0, 14.0),
            decay: 0.5,
        }
    }

    fn street(draws: &mut Draws) -> Self {
        let base = [140.0, 145.0, 145.0];
        let cast = 42.0 * draws.jitter();
        let warm = 24.0 * draws.jitter();
        let above = [base[0] + cast + warm, base[1] + cast, base[2] + cast - warm];
        let change = 34.0 * draws.jitter() - 10.0;
        let below = above.map(|value| value + change);
        Background {
            above,
            below,
            horizon: (draws.between(12.0, 24.0), draws.between(1.0, 8.0)),
            brightness: draws.between(10.0, 40.0),
            tint: draws.between(3.0, 16.0),
            decay: 0.6,
        }
    }

    fn paint(&self, draws: &mut Draws) -> Vec<Colour> {
        let fields: [Vec<f64>; 3] = std::array::from_fn(|_| field(draws, self.decay));
        let pixel = |i: usize| {
            let (x, y) = (i % SIDE, i / SIDE);
            let [light, warm, green] =
                [0, 1, 2].map(|which: usize| fields[which][y * (SIDE + 1) + x]);
            let [warm, green] = [self.tint * warm, self.tint * green];
            let share = coverage((self.horizon.0 - y as f64) / self.horizon.1);
            let tints = [warm - 0.5 * green, green, -warm - 0.5 * green];
            std::array::from_fn(|c| {
                let base = self.above[c] + share * (self.below[c] - self.above[c]);
                base + self.brightness * light + tints[c]
            })
        };
        (0..SIDE * SIDE).map(pixel).collect()
    }
}

/// Calls its argument with the signed distance and the colour of each part of a figure at a point.
type Figure = dyn Fn(Point, &mut dyn FnMut(f64, Colour));

/// An airplane about 26 pixels long, its nose to the right.
fn airplane(draws: &mut Draws) -> Box<Figure> {
    let white = draws.between(60.0, 250.0);
    let body = [0, 1, 2].map(|_| white + 10.0 * draws.jitter());
    let darker = draws.between(0.55, 0.95);
    let shade = body.map(|value| value * darker);
    let thick = draws.between(1.3, 2.6);
    let (root, sweep) = (draws.between(2.0, 3.6), draws.between(2.0, 8.0));
    let span = draws.between(6.0, 12.0);
    // In a side view one wing appears shorter.
    let far = span * draws.between(0.1, 1.0);
    let wing = |span: f64| {
        Quad::new([(root, 0.0), (-sweep + 1.4, span), (-sweep - 0.8, span), (-root, 0.0)])
    };
    let up = |quad: Quad| move |(x, y): Point| quad.distance((x, -y));
    let (near_wing, far_wing) = (wing(span), up(wing(far)));
    let tail = Quad::new([(-8.5, 0.0), (-11.0, 4.5), (-13.0, 4.5), (-12.0, 0.0)]);
    let (low_tail, high_tail) = (tail, up(tail));
    Box::new(move |point, paint| {
        paint(far_wing(point), shade);
        paint(high_tail(point), shade);
        paint(low_tail.distance(point), shade);
        paint(ellipse(point, (0.0, 0.0), (13.0, thick)), body);
        paint(near_wing.distance(point), body);
    })
}

/// A side view of a car about 24 pixels long.
fn car(draws: &mut Draws) -> Box<Figure> {
    let base = draws.between(40.0, 220.0);
    let hue = [0, 1, 2].map(|_| base + 45.0 * draws.jitter());
    let glass = [0, 1, 2].map(|_| draws.between(30.0, 120.0));
    let dark = draws.between(10.0, 60.0);
    let (roof, deck, sill) =
        (draws.between(-7.0, -4.5), draws.between(-2.0, 0.0), draws.between(3.2, 5.0));
    let (front, back) = (draws.between(3.0, 7.0), draws.between(-8.0, -3.5));
    let lean = (draws.between(1.5, 4.5), draws.between(0.5, 3.5));
    let body = Quad::new([(-12.0, deck), (12.0, deck), (12.5, sill), (-12.5, sill)]);
    let cabin =
        Quad::new([(back, roof), (front, roof), (front + lean.0, deck), (back - lean.1, deck)]);
    let window = Quad::new([
        (back + 0.8, roof + 1.0),
        (front - 0.6, roof + 1.0),
        (front + lean.0 - 1.4, deck - 0.2),
        (back - lean.1 + 1.4, deck - 0.2),
    ]);
    let wheel = draws.between(2.2, 3.2);
    let axle = draws.between(6.5, 8.5);
    Box::new(move |point, paint| {
        paint(cabin.distance(point), hue);
        paint(window.distance(point), glass);
        paint(body.distance(point), hue);
        for x in [-axle, axle] {
            paint(ellipse(point, (x, sill), (wheel, wheel)), [dark; 3]);
            paint(ellipse(point, (x, sill), (0.45 * wheel, 0.45 * wheel)), [dark + 90.0; 3]);
        }
    })
}

/// Draws a vehicle: writes its pixels to `row`, channel by channel, and returns its label, 0 for an
/// airplane, 1 for a car.
pub(super) fn draw(draws: &mut Draws, row: &mut [u8]) -> u32 {
    let label = draws.word() >> 31;
    let (background, figure, angle) = if label == 0 {
        let angle = 0.45 * draws.jitter() + draws.between(-0.3, 0.3);
        (Background::sky(draws), airplane(draws), angle)
    } else {
        (Background::street(draws), car(draws), 0.06 * draws.jitter())
    };
    let middle = SIDE as f64 / 2.0;
    let placement = Placement {
        center: (middle + 2.0 * draws.jitter(), middle + 2.0 * draws.jitter()),
        angle,
        scale: draws.between(0.6, 1.15),
    };
    // Half of the figures face left.
    let facing = if draws.chance(0.5) { 1.0 } else { -1.0 };
    let grain = draws.between(1.0, 8.0);
    let mut colours = background.paint(draws);
    for (colour, (x, y)) in colours.iter_mut().zip(placement.points(SIDE)) {
        figure((facing * x, y), &mut |distance, part| {
            let covered = coverage(distance * placement.scale);
            for (value, part) in colour.iter_mut().zip(part) {
                *value += covered * (part - *value);
            }
        });
    }
    for (i, colour) in colours.iter().enumerate() {
        for (channel, value) in colour.iter().enumerate() {
            row[channel * SIDE * SIDE + i] = byte(value + grain * draws.jitter());
        }
    }
    label
}
