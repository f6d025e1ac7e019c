//! Pooling in lanes.

use super::buffer::{LANES, Lane};
use super::instruction_set::kernel;
use crate::layers::Pool;

kernel! {
    /// Mean of each block.
    Average { pool: &'a Pool, input: &'a [Lane], output: &'a mut [Lane] } => {
        let share = pool.share() as f32;
        for (at, lane) in output.iter_mut().enumerate() {
            let corner = pool.corner(at);
            let mut sums = [0.0; LANES];
            for offset in pool.offsets() {
                for (sum, value) in sums.iter_mut().zip(&input[corner + offset]) {
                    *sum += value;
                }
            }
            for (out, sum) in lane.iter_mut().zip(sums) {
                *out = sum * share;
            }
        }
    }
}

kernel! {
    /// Gradient with respect to the inputs of [`Average`].
    AverageGradient { pool: &'a Pool, output_gradient: &'a [Lane], input_gradient: &'a mut [Lane] } => {
        let share = pool.share() as f32;
        input_gradient[..pool.input.len()].fill([0.0; LANES]);
        for (at, lane) in output_gradient.iter().enumerate() {
            let (corner, mut shares) = (pool.corner(at), *lane);
            shares.iter_mut().for_each(|derivative| *derivative *= share);
            for offset in pool.offsets() {
                input_gradient[corner + offset] = shares;
            }
        }
    }
}

kernel! {
    /// Maximum of each block.
    Maximum { pool: &'a Pool, input: &'a [Lane], output: &'a mut [Lane] } => {
        for (at, lane) in output.iter_mut().enumerate() {
            *lane = largest(pool, pool.corner(at), input);
        }
    }
}

kernel! {
    /// Gradient with respect to the inputs of [`Maximum`]: the gradient of a block goes to the
    /// first maximum. If the maximum is NaN it goes nowhere; then the gradients of later layers are
    /// NaN anyway.
    MaximumGradient {
        pool: &'a Pool,
        input: &'a [Lane],
        output_gradient: &'a [Lane],
        input_gradient: &'a mut [Lane],
    } => {
        input_gradient[..pool.input.len()].fill([0.0; LANES]);
        for (at, derivative) in output_gradient.iter().enumerate() {
            let corner = pool.corner(at);
            let (max, mut remaining) = (largest(pool, corner, input), *derivative);
            for offset in pool.offsets() {
                let (values, out) = (&input[corner + offset], &mut input_gradient[corner + offset]);
                for lane in 0..LANES {
                    let is_max = values[lane] == max[lane];
                    out[lane] = if is_max { remaining[lane] } else { 0.0 };
                    remaining[lane] = if is_max { 0.0 } else { remaining[lane] };
                }
            }
        }
    }
}

kernel! {
    /// Tangent of [`Maximum`]: that of the first maximum.
    MaximumTangent { pool: &'a Pool, input: &'a [Lane], change: &'a [Lane], output: &'a mut [Lane] } => {
        for (at, out) in output.iter_mut().enumerate() {
            let corner = pool.corner(at);
            let max = largest(pool, corner, input);
            let mut is_found = [false; LANES];
            *out = [f32::NAN; LANES];
            for offset in pool.offsets() {
                let (values, change) = (&input[corner + offset], &change[corner + offset]);
                for lane in 0..LANES {
                    let is_first = values[lane] == max[lane] && !is_found[lane];
                    out[lane] = if is_first { change[lane] } else { out[lane] };
                    is_found[lane] |= is_first;
                }
            }
        }
    }
}

/// Maximum of a block; NaN if any value is NaN.
#[inline(always)]
fn largest(pool: &Pool, corner: usize, input: &[Lane]) -> Lane {
    let mut lane = input[corner];
    for offset in pool.offsets() {
        for (max, &value) in lane.iter_mut().zip(&input[corner + offset]) {
            *max = if value > *max || value.is_nan() { value } else { *max };
        }
    }
    lane
}
