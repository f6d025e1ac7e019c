//! Outlines composed of convex quadrilaterals and ellipses, rendered with soft edges.

use dpscope_core::math;

/// Coordinates (x, y); x points right and y down.
pub(super) type Point = (f64, f64);

/// A convex quadrilateral: outward unit normal and offset of each side.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quad([(f64, f64, f64); 4]);

impl Quad {
    /// A quadrilateral with the given corners, clockwise on screen (x right, y down).
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

    /// Signed distance of a point from the outline; negative inside.
    pub(super) fn distance(&self, (x, y): Point) -> f64 {
        let outside =
            self.0.map(|(normal_x, normal_y, offset)| normal_x * x + normal_y * y - offset);
        outside[0].max(outside[1]).max(outside[2].max(outside[3]))
    }
}

/// Approximate signed distance of a point from an ellipse around `center`; negative inside.
pub(super) fn ellipse((x, y): Point, center: Point, radii: Point) -> f64 {
    let (x, y) = ((x - center.0) / radii.0, (y - center.1) / radii.1);
    ((x * x + y * y).sqrt() - 1.0) * radii.0.min(radii.1)
}

/// Covered fraction of a pixel, from the signed distance of its centre in pixels.
pub(super) fn coverage(distance: f64) -> f64 {
    math::clamp(0.5 - distance, 0.0, 1.0)
}

/// Placement of a figure: its own coordinates are scaled, rotated and translated to pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placement {
    pub(super) center: Point,
    /// Clockwise on screen, in radians.
    pub(super) angle: f64,
    pub(super) scale: f64,
}

impl Placement {
    /// Coordinates, in the figure's system, of the pixels of a square image, row by row.
    pub(super) fn points(self, side: usize) -> impl Iterator<Item = Point> {
        let (sine, cosine) = math::sin_cos(self.angle);
        (0..side * side).map(move |i| {
            let x = (i % side) as f64 + 0.5 - self.center.0;
            let y = (i / side) as f64 + 0.5 - self.center.1;
            ((cosine * x + sine * y) / self.scale, (cosine * y - sine * x) / self.scale)
        })
    }
}

/// The nearest byte, clamped.
pub(super) fn byte(value: f64) -> u8 {
    math::clamp(value + 0.5, 0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_signed() {
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
    fn placements_rotate_and_translate() {
        let placement = Placement { center: (1.5, 0.5), angle: 0.0, scale: 2.0 };
        let points: Vec<Point> = placement.points(2).collect();
        assert_eq!(points, [(-0.5, 0.0), (0.0, 0.0), (-0.5, 0.5), (0.0, 0.5)]);
        let rotated = Placement { angle: std::f64::consts::FRAC_PI_2, ..placement };
        let (x, y) = rotated.points(2).nth(3).unwrap_or_default();
        assert!((x - 0.5).abs() < 1e-12 && y.abs() < 1e-12, "{x} {y}");
    }
}
