//! Pooling of `size` × `size` blocks.

use super::scalar::Scalar;
use crate::model::Shape;

/// The geometry of average and maximum pooling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pool {
    pub(crate) input: Shape,
    pub(crate) output: Shape,
    pub(crate) size: usize,
}

impl Pool {
    /// `size` must not exceed the sides of the input.
    pub(crate) fn new(input: Shape, size: usize) -> Self {
        let (height, width) = (input.height / size, input.width / size);
        Self { input, output: Shape { height, width, ..input }, size }
    }

    /// 1 ÷ number of values per block.
    pub(crate) fn share(&self) -> f64 {
        1.0 / (self.size * self.size) as f64
    }

    /// Index of the first value of an output's block.
    pub(crate) fn corner(&self, output: usize) -> usize {
        let positions = self.output.positions();
        let (channel, position) = (output / positions, output % positions);
        let (row, column) = (position / self.output.width, position % self.output.width);
        (channel * self.input.height + row * self.size) * self.input.width + column * self.size
    }

    /// Offsets of the values of a block from its corner, row by row.
    pub(crate) fn offsets(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        let row = move |row| (0..self.size).map(move |column| row * self.input.width + column);
        (0..self.size).flat_map(row)
    }

    /// Calls `visit` with the indices of each output and each input of its block.
    pub(crate) fn members(&self, mut visit: impl FnMut(usize, usize)) {
        for output in 0..self.output.len() {
            for offset in self.offsets() {
                visit(output, self.corner(output) + offset);
            }
        }
    }

    /// Calls `visit` with the indices of each output and the input that is its maximum.
    pub(crate) fn maxima<S: Scalar>(&self, input: &[S], mut visit: impl FnMut(usize, usize)) {
        for output in 0..self.output.len() {
            let corner = self.corner(output);
            let larger = |best: usize, at: usize| {
                let (left, right) = (input[best].to_f64(), input[at].to_f64());
                if right > left || (right.is_nan() && !left.is_nan()) { at } else { best }
            };
            visit(output, self.offsets().map(|offset| corner + offset).fold(corner, larger));
        }
    }
}
