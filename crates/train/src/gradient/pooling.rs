//! Pooling in lanes.

use super::buffer::{LANES, Lane};
use super::instruction_set::kernel;
use crate::layers::Pool;

kernel! {
    /// Means of blocks.
    Average { pool: &'a Pool, input: &'a [Lane], output: &'a mut [Lane] } => {
        let share = pool.share() as f32;
        for (at, lane) in output.iter_mut().enumerate() {
            let corner = pool.corner(at);
            let mut sums = [0.0; LANES];
            for step in pool.steps() {
                for (sum, value) in sums.iter_mut().zip(&input[corner + step]) {
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
    /// Slopes by the inputs of [`Average`].
    AverageSlopes { pool: &'a Pool, slopes: &'a [Lane], input_slopes: &'a mut [Lane] } => {
        let share = pool.share() as f32;
        input_slopes[..pool.input.len()].fill([0.0; LANES]);
        for (at, lane) in slopes.iter().enumerate() {
            let (corner, mut shares) = (pool.corner(at), *lane);
            shares.iter_mut().for_each(|slope| *slope *= share);
            for step in pool.steps() {
                input_slopes[corner + step] = shares;
            }
        }
    }
}

kernel! {
    /// The largest values of blocks.
    Maximum { pool: &'a Pool, input: &'a [Lane], output: &'a mut [Lane] } => {
        for (at, lane) in output.iter_mut().enumerate() {
            *lane = largest(pool, pool.corner(at), input);
        }
    }
}

kernel! {
    /// Slopes by the inputs of [`Maximum`]: that of a block goes to the first of the largest; to
    /// none where that is NaN, and then slopes above are NaN too.
    MaximumSlopes {
        pool: &'a Pool,
        input: &'a [Lane],
        slopes: &'a [Lane],
        input_slopes: &'a mut [Lane],
    } => {
        input_slopes[..pool.input.len()].fill([0.0; LANES]);
        for (at, slope) in slopes.iter().enumerate() {
            let corner = pool.corner(at);
            let (most, mut left) = (largest(pool, corner, input), *slope);
            for step in pool.steps() {
                let (values, out) = (&input[corner + step], &mut input_slopes[corner + step]);
                for lane in 0..LANES {
                    let found = values[lane] == most[lane];
                    out[lane] = if found { left[lane] } else { 0.0 };
                    left[lane] = if found { 0.0 } else { left[lane] };
                }
            }
        }
    }
}

/// The largest values of a block; NaN where one is.
#[inline(always)]
fn largest(pool: &Pool, corner: usize, input: &[Lane]) -> Lane {
    let mut lane = input[corner];
    for step in pool.steps() {
        for (most, &value) in lane.iter_mut().zip(&input[corner + step]) {
            *most = if value > *most || value.is_nan() { value } else { *most };
        }
    }
    lane
}
