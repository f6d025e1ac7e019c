//! Sums over positions, parameters and examples, in lanes.

use super::buffer::{LANES, Lane};
use super::instruction_set::kernel;
use super::products::total;

kernel! {
    /// Sums over the positions of each channel, lane by lane.
    ChannelSums { output_gradient: &'a [Lane], positions: usize, out: &'a mut [Lane] } => {
        for (out, output_gradient) in out.iter_mut().zip(output_gradient.chunks_exact(positions)) {
            let mut sums = [0.0; LANES];
            for lane in output_gradient {
                for (sum, value) in sums.iter_mut().zip(lane) {
                    *sum += value;
                }
            }
            *out = sums;
        }
    }
}

/// Adds Σ x² per example: blocks are summed in f32, their sums in f64.
pub(super) struct Squares<'a> {
    sums: Lane,
    terms: u32,
    squares: &'a mut [f64],
}

impl<'a> Squares<'a> {
    pub(super) fn new(squares: &'a mut [f64]) -> Self {
        Self { sums: [0.0; LANES], terms: 0, squares }
    }

    #[inline(always)]
    pub(super) fn add(&mut self, lane: &Lane) {
        for (sum, value) in self.sums.iter_mut().zip(lane) {
            *sum += value * value;
        }
        self.terms += 1;
        if self.terms == 64 {
            self.finish();
        }
    }

    #[inline(never)]
    pub(super) fn finish(&mut self) {
        for (square, sum) in self.squares.iter_mut().zip(self.sums) {
            *square += f64::from(sum);
        }
        (self.sums, self.terms) = ([0.0; LANES], 0);
    }
}

kernel! {
    /// Adds Σ factor · value over the examples.
    AddTotals {
        lanes: &'a [Lane],
        factors: &'a Lane,
        out: &'a mut [f32],
    } => {
        for (out, lane) in out.iter_mut().zip(lanes) {
            let mut scaled = *lane;
            for (value, factor) in scaled.iter_mut().zip(factors) {
                *value *= factor;
            }
            *out += total(&scaled);
        }
    }
}
