//! Pooling in lanes.

use super::buffer::{LANES, Lane};
use crate::layers::Pool;

pub(super) fn average(pool: &Pool, input: &[Lane], output: &mut [Lane]) {
    let share = pool.share() as f32;
    for (at, lane) in output.iter_mut().enumerate() {
        let corner = pool.corner(at);
        let mut sums = [0.0; LANES];
        for step in pool.steps() {
            for (sum, value) in sums.iter_mut().zip(&input[corner + step]) {
                *sum += value;
            }
        }
        *lane = sums.map(|sum| sum * share);
    }
}

pub(super) fn average_slopes(pool: &Pool, slopes: &[Lane], input_slopes: &mut [Lane]) {
    let share = pool.share() as f32;
    input_slopes.fill([0.0; LANES]);
    for (at, lane) in slopes.iter().enumerate() {
        let corner = pool.corner(at);
        let shares = lane.map(|slope| slope * share);
        for step in pool.steps() {
            input_slopes[corner + step] = shares;
        }
    }
}

pub(super) fn maximum(pool: &Pool, input: &[Lane], output: &mut [Lane]) {
    for (at, lane) in output.iter_mut().enumerate() {
        *lane = largest(pool, pool.corner(at), input);
    }
}

/// The slope goes to the first of the largest; to none where that is NaN, and then slopes above are
/// NaN too.
pub(super) fn maximum_slopes(
    pool: &Pool,
    input: &[Lane],
    slopes: &[Lane],
    input_slopes: &mut [Lane],
) {
    input_slopes.fill([0.0; LANES]);
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

/// The largest values of a block; NaN where one is.
fn largest(pool: &Pool, corner: usize, input: &[Lane]) -> Lane {
    let mut lane = input[corner];
    for step in pool.steps() {
        for (most, &value) in lane.iter_mut().zip(&input[corner + step]) {
            *most = if value > *most || value.is_nan() { value } else { *most };
        }
    }
    lane
}
