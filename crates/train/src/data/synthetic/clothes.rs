//! Synthetic T-shirts and trousers on a black background.

use super::outline::{Placement, Point, Quad, byte, coverage, ellipse};
use crate::data::draws::Draws;

pub(super) const SIDE: usize = 28;

/// The outline of a garment.
enum Outline {
    /// `neck` is cut out: half its width, and the y coordinate of its centre.
    Shirt {
        torso: Quad,
        sleeves: [Quad; 2],
        neck: (f64, f64),
    },
    Trousers {
        waist: Quad,
        legs: [Quad; 2],
    },
}

impl Outline {
    /// Lengths in pixels, relative to the centre of the image.
    fn shirt(draws: &mut Draws) -> Self {
        let top = draws.between(-12.5, -10.0);
        let hem = draws.between(8.0, 13.0);
        let shoulder = draws.between(4.5, 8.0);
        let waist = shoulder + draws.between(-2.0, 1.0);
        // Sleeves: none, or short to long; drop from outstretched to hanging.
        let length = if draws.chance(0.12) { 0.0 } else { draws.between(3.0, 9.0) };
        let drop = draws.between(0.2, 2.2);
        let along = (1.0 + drop * drop).sqrt();
        let tip = (shoulder + length / along, top + 1.0 + length * drop / along);
        let cuff = draws.between(3.5, 5.5);
        let torso = Quad::new([(-shoulder, top), (shoulder, top), (waist, hem), (-waist, hem)]);
        let sleeve = Quad::new([
            (shoulder - 2.0, top),
            tip,
            (tip.0 - cuff * drop / along, tip.1 + cuff / along),
            (shoulder - 2.0 - cuff * drop / along, top + 1.0 + cuff / along),
        ]);
        let neck = (draws.between(1.5, 3.5), top + draws.between(-1.8, 0.3));
        Self::Shirt { torso, sleeves: [sleeve, sleeve.mirrored()], neck }
    }

    fn trousers(draws: &mut Draws) -> Self {
        let top = draws.between(-13.0, -11.0);
        let hem = draws.between(7.0, 13.0);
        let waist = draws.between(3.2, 6.0);
        let hip = waist + draws.between(0.2, 1.8);
        let crotch = top + draws.between(6.0, 10.0);
        // Negative if the legs overlap.
        let gap = draws.between(-0.8, 2.2);
        let ankle = draws.between(2.0, 5.0);
        let spread = draws.between(-0.5, 1.5);
        let belly = Quad::new([(-waist, top), (waist, top), (hip, crotch), (-hip, crotch)]);
        let inner = gap.max(0.0) / 2.0 + spread.max(0.0);
        let leg = Quad::new([
            (0.0, crotch - 1.0),
            (hip, crotch - 1.0),
            (inner + ankle, hem),
            (inner.min(inner + ankle - 0.5) - (-gap).max(0.0), hem),
        ]);
        Self::Trousers { waist: belly, legs: [leg, leg.mirrored()] }
    }

    fn distance(&self, point: Point) -> f64 {
        match self {
            Self::Shirt { torso, sleeves: [left, right], neck } => {
                let cloth =
                    torso.distance(point).min(left.distance(point).min(right.distance(point)));
                cloth.max(-ellipse(point, (0.0, neck.1), (neck.0, 2.5)))
            }
            Self::Trousers { waist, legs: [left, right] } => {
                waist.distance(point).min(left.distance(point).min(right.distance(point)))
            }
        }
    }
}

/// Brightness and pattern of a garment.
struct Cloth {
    /// Brightness at the centre, and its change per pixel in x and y.
    light: f64,
    slope: Point,
    /// Stripes: direction, width and amplitude.
    stripe: (Point, f64, f64),
    /// A print or pocket: centre, half its size, and brightness.
    patch: (Point, Point, f64),
    /// Standard deviation of the noise.
    grain: f64,
}

impl Cloth {
    fn new(draws: &mut Draws) -> Self {
        let light = draws.between(70.0, 240.0);
        let slope = (1.5 * draws.jitter(), 1.5 * draws.jitter());
        let across = draws.chance(0.5);
        let strength = if draws.chance(0.35) { draws.between(20.0, 90.0) } else { 6.0 };
        let direction = if across { (0.0, 1.0) } else { (1.0, 0.1 * draws.jitter()) };
        let stripe = (direction, draws.between(2.0, 7.0), strength);
        let strength = if draws.chance(0.4) { 60.0 * draws.jitter() } else { 0.0 };
        let middle = (2.0 * draws.jitter(), draws.between(-7.0, 4.0));
        let patch = (middle, (draws.between(1.0, 4.5), draws.between(1.0, 4.5)), strength);
        Cloth { light, slope, stripe, patch, grain: draws.between(4.0, 16.0) }
    }

    fn value(&self, (x, y): Point, draws: &mut Draws) -> f64 {
        let (direction, width, strength) = self.stripe;
        let phase = (direction.0 * x + direction.1 * y) / width;
        let fold = 2.0 * (phase - phase.floor() - 0.5).abs() - 0.5;
        let (middle, half, print) = self.patch;
        let on_patch = (x - middle.0).abs() < half.0 && (y - middle.1).abs() < half.1;
        let print = if on_patch { print } else { 0.0 };
        let light = self.light + self.slope.0 * x + self.slope.1 * y;
        (light + strength * fold + print + self.grain * draws.jitter()).max(12.0)
    }
}

/// Draws a garment: writes its pixels to `row` and returns its label, 0 for a T-shirt, 1 for
/// trousers.
pub(super) fn draw(draws: &mut Draws, row: &mut [u8]) -> u32 {
    let label = draws.word() >> 31;
    let outline = if label == 0 { Outline::shirt(draws) } else { Outline::trousers(draws) };
    let cloth = Cloth::new(draws);
    let middle = SIDE as f64 / 2.0;
    let placement = Placement {
        center: (middle + 0.8 * draws.jitter(), middle + 0.6 * draws.jitter()),
        angle: 0.05 * draws.jitter(),
        scale: draws.between(0.88, 1.05),
    };
    for (pixel, point) in row.iter_mut().zip(placement.points(SIDE)) {
        let covered = coverage(outline.distance(point) * placement.scale);
        if covered > 0.0 {
            *pixel = byte(covered * cloth.value(point, draws));
        }
    }
    label
}
