//! Augmentations as fixed linear maps of an example.

use crate::layers::Scalar;
use crate::model::Shape;

/// Columns reversed, then the image moved; zeros enter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Augmentation {
    /// Whether the columns are reversed.
    pub is_flipped: bool,
    /// Rows moved down.
    pub down: i32,
    /// Columns moved right.
    pub right: i32,
}

impl Augmentation {
    /// out = A · example.
    pub fn apply<N: Scalar>(self, shape: Shape, example: &[N], out: &mut [N]) {
        out.fill(N::from_f64(0.0));
        self.places(shape, |to, from| out[to] = example[from]);
    }

    /// out += factor · Aᵀ · derivative.
    pub fn add_transposed<N: Scalar>(
        self,
        shape: Shape,
        derivative: &[N],
        factor: N,
        out: &mut [N],
    ) {
        self.places(shape, |to, from| out[from] += factor * derivative[to]);
    }

    /// Calls `visit` with the index of each value in the result that is not a zero that entered,
    /// and its index in the example.
    fn places(self, shape: Shape, mut visit: impl FnMut(usize, usize)) {
        let moved = |place: usize, by: i32, side: usize| {
            place.checked_add_signed(-(by as isize)).filter(|&from| from < side)
        };
        for at in 0..shape.len() {
            let (channel, position) = (at / shape.positions(), at % shape.positions());
            let row = moved(position / shape.width, self.down, shape.height);
            let column = moved(position % shape.width, self.right, shape.width);
            let (Some(row), Some(column)) = (row, column) else { continue };
            let column = if self.is_flipped { shape.width - 1 - column } else { column };
            visit(at, (channel * shape.height + row) * shape.width + column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_flipped_and_then_moved() {
        let shape = Shape { channels: 1, height: 2, width: 3 };
        let example = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let apply = |augmentation: Augmentation| {
            let mut out = [f64::NAN; 6];
            augmentation.apply(shape, &example, &mut out);
            out
        };
        assert_eq!(apply(Augmentation::default()), example);
        let augmentation = Augmentation { is_flipped: true, down: 1, right: -1 };
        assert_eq!(apply(augmentation), [0.0, 0.0, 0.0, 2.0, 1.0, 0.0]);
        assert_eq!(apply(Augmentation { down: i32::MIN, ..augmentation }), [0.0; 6]);
    }

    #[test]
    fn the_transpose_preserves_inner_products() {
        let shape = Shape { channels: 2, height: 3, width: 4 };
        let vector = |seed: usize| (0..24).map(|at| (at * seed % 7) as f64).collect::<Vec<_>>();
        let (x, y) = (vector(3), vector(5));
        let augmentation = Augmentation { is_flipped: true, down: -1, right: 2 };
        let (mut ax, mut aty) = (vec![0.0; 24], vec![0.0; 24]);
        augmentation.apply(shape, &x, &mut ax);
        augmentation.add_transposed(shape, &y, 1.0, &mut aty);
        let product = |left: &[f64], right: &[f64]| -> f64 {
            left.iter().zip(right).map(|(left, right)| left * right).sum()
        };
        assert_eq!(product(&ax, &y), product(&x, &aty));
        assert_ne!(product(&ax, &y), product(&x, &y));
    }
}
