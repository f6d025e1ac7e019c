//! Outlines made of convex polygons and ellipses, painted with soft edges.

use dpscope_core::math;

/// Coordinates, x to the right and y down.
pub(super) type Point = (f64, f64);

/// The lines around a convex polygon, each by its outward unit normal and offset.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quad([(f64, f64, f64); 4]);

impl Quad {
    /// The corners in clockwise order as seen (x right, y down), convex.
    pub(super) fn new(corners: [Point; 4]) -> Self {
        Quad(std::array::from_fn(|i| {
            let ((x, y), (next_x, next_y)) = (corners[i], corners[(i + 1) % 4]);
            let (along_x, along_y) = (next_x - x, next_y - y);
            let length = (along_x * along_x + along_y * along_y).sqrt().max(1e-9);
            let (normal_x, normal_y) = (along_y / length, -along_x / length);
            (normal_x, normal_y, normal_x * x + normal_y * y)
        }))
    }

    /// The mirror image at x = 0.
    pub(super) fn mirrored(self) -> Self {
        Quad(self.0.map(|(x, y, offset)| (-x, y, offset)))
    }

    /// How far a point lies outside; negative inside.
    pub(super) fn distance(&self, (x, y): Point) -> f64 {
        let outside =
            self.0.map(|(normal_x, normal_y, offset)| normal_x * x + normal_y * y - offset);
        outside[0].max(outside[1]).max(outside[2].max(outside[3]))
    }
}

/// About how far a point lies outside an ellipse around `center`; negative inside.
pub(super) fn ellipse((x, y): Point, center: Point, radii: Point) -> f64 {
    let (x, y) = ((x - center.0) / radii.0, (y - center.1) / radii.1);
    ((x * x + y * y).sqrt() - 1.0) * radii.0.min(radii.1)
}

/// Share of a pixel that is covered, by the distance of its middle from the outline in pixels.
pub(super) fn coverage(distance: f64) -> f64 {
    math::clamp(0.5 - distance, 0.0, 1.0)
}

/// Where a figure stands: its own coordinates are turned, stretched and moved onto the pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) center: Point,
    /// Clockwise as seen, in radians.
    pub(super) angle: f64,
    pub(super) stretch: f64,
}

impl Place {
    /// The figure's coordinates of the pixels of a square image, row by row.
    pub(super) fn points(self, side: usize) -> impl Iterator<Item = Point> {
        let (sine, cosine) = math::sin_cos(self.angle);
        (0..side * side).map(move |i| {
            let x = (i % side) as f64 + 0.5 - self.center.0;
            let y = (i / side) as f64 + 0.5 - self.center.1;
            ((cosine * x + sine * y) / self.stretch, (cosine * y - sine * x) / self.stretch)
        })
    }
}

/// A value for a byte.
pub(super) fn byte(value: f64) -> u8 {
    math::clamp(value + 0.5, 0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_have_their_signs() {
        let square = Quad::new([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]);
        assert_eq!(square.distance((0.0, 0.0)), -1.0);
        assert_eq!(square.distance((3.0, 0.5)), 2.0);
        assert_eq!(square.distance((0.5, -1.25)), 0.25);
        let right = Quad::new([(1.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0)]);
        assert_eq!(right.mirrored().distance((-1.5, 0.5)), -0.5);
        assert_eq!(right.mirrored().distance((1.5, 0.5)), 2.5);
        assert_eq!(ellipse((3.0, 0.0), (1.0, 0.0), (1.0, 4.0)), 1.0);
        assert_eq!([coverage(-2.0), coverage(0.25), coverage(1.0)], [1.0, 0.25, 0.0]);
        assert_eq!([byte(-3.0), byte(7.4), byte(1e9), byte(f64::NAN)], [0, 7, 255, 0]);
    }

    #[test]
    fn a_place_turns_and_moves() {
        let place = Place { center: (1.5, 0.5), angle: 0.0, stretch: 2.0 };
        let points: Vec<Point> = place.points(2).collect();
        assert_eq!(points, [(-0.5, 0.0), (0.0, 0.0), (-0.5, 0.5), (0.0, 0.5)]);
        let turned = Place { angle: std::f64::consts::FRAC_PI_2, ..place };
        let (x, y) = turned.points(2).nth(3).unwrap_or_default();
        assert!((x - 0.5).abs() < 1e-12 && y.abs() < 1e-12, "{x} {y}");
    }
}
