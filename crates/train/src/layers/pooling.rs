//! Pooling: blocks of `size` × `size` become one value.

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
    /// `size` is at most the input's sides.
    pub(crate) fn new(input: Shape, size: usize) -> Self {
        let (height, width) = (input.height / size, input.width / size);
        Self { input, output: Shape { height, width, ..input }, size }
    }

    /// 1 ÷ the values of a block.
    pub(crate) fn share(&self) -> f64 {
        1.0 / (self.size * self.size) as f64
    }

    /// The first value of an output's block.
    pub(crate) fn corner(&self, output: usize) -> usize {
        let positions = self.output.positions();
        let (channel, position) = (output / positions, output % positions);
        let (row, column) = (position / self.output.width, position % self.output.width);
        (channel * self.input.height + row * self.size) * self.input.width + column * self.size
    }

    /// The values of a block, row by row, as steps from its corner.
    pub(crate) fn steps(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        let row = move |row| (0..self.size).map(move |column| row * self.input.width + column);
        (0..self.size).flat_map(row)
    }

    /// Gives the places of each (output, input of its block).
    pub(crate) fn members(&self, mut visit: impl FnMut(usize, usize)) {
        for output in 0..self.output.len() {
            for step in self.steps() {
                visit(output, self.corner(output) + step);
            }
        }
    }

    /// Gives the places of each (output, input that it is).
    pub(crate) fn winners<S: Scalar>(&self, input: &[S], mut visit: impl FnMut(usize, usize)) {
        for output in 0..self.output.len() {
            let corner = self.corner(output);
            let larger = |best: usize, at: usize| {
                let (left, right) = (input[best].to_f64(), input[at].to_f64());
                if right > left || (right.is_nan() && !left.is_nan()) { at } else { best }
            };
            visit(output, self.steps().map(|step| corner + step).fold(corner, larger));
        }
    }
}
