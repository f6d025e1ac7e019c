//! Elementwise layers, the loss and norms, in loops that vectorise.

use super::elementary;
use super::instruction_set::kernel;

kernel! {
    /// Values become their hyperbolic tangents.
    Tanh {
        input: &'a [f32],
        output: &'a mut [f32],
    } => {
        for (value, &x) in output.iter_mut().zip(input) {
            *value = elementary::tanh(x);
        }
    }
}

kernel! {
    /// Slopes by the inputs of tanh from those by its outputs, in place.
    TanhSlopes { output: &'a [f32], slopes: &'a mut [f32] } => {
        for (slope, &value) in slopes.iter_mut().zip(output) {
            *slope *= 1.0 - value * value;
        }
    }
}

/// max(x, 0); NaN stays.
pub(super) fn relu(input: &[f32], output: &mut [f32]) {
    for (value, &x) in output.iter_mut().zip(input) {
        *value = if x <= 0.0 { 0.0 } else { x };
    }
}

/// As [`TanhSlopes`]; an output is above 0 where its input is.
pub(super) fn relu_slopes(output: &[f32], slopes: &mut [f32]) {
    for (slope, &value) in slopes.iter_mut().zip(output) {
        *slope = if value > 0.0 { *slope } else { 0.0 };
    }
}

kernel! {
    /// Slopes of the loss by the logits, row by row: the softmax, less 1 at the label. A label that is
    /// no class gives NaN.
    LossSlopes {
        logits: &'a [f32],
        labels: &'a [u32],
        classes: usize,
        slopes: &'a mut [f32],
    } => {
        let rows = logits.chunks_exact(classes);
        let slopes = slopes.chunks_exact_mut(classes);
        for ((logits, slopes), &label) in rows.zip(slopes).zip(labels) {
            let mut most = [f32::NEG_INFINITY; 16];
            let (chunks, rest) = logits.as_chunks::<16>();
            for chunk in chunks {
                for (most, &logit) in most.iter_mut().zip(chunk) {
                    *most = if logit > *most { logit } else { *most };
                }
            }
            let mut centre = f32::NEG_INFINITY;
            for &logit in most.iter().chain(rest) {
                centre = if logit > centre { logit } else { centre };
            }
            for (slope, &logit) in slopes.iter_mut().zip(logits) {
                *slope = elementary::exp(logit - centre);
            }
            let part = 1.0 / sum(slopes, |value| value);
            for slope in slopes.iter_mut() {
                *slope *= part;
            }
            match slopes.get_mut(label as usize) {
                Some(slope) => *slope -= 1.0,
                None => slopes.fill(f32::NAN),
            }
        }
    }
}

/// Σ f(x) in 16 sums side by side.
#[inline(always)]
fn sum(values: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0_f32; 16];
    let (chunks, rest) = values.as_chunks::<16>();
    for chunk in chunks {
        for (sum, &value) in sums.iter_mut().zip(chunk) {
            *sum += term(value);
        }
    }
    for (sum, &value) in sums.iter_mut().zip(rest) {
        *sum += term(value);
    }
    super::products::total(&sums)
}

kernel! {
    /// Adds (‖a‖² + 1)·‖δ‖², with a row of inputs a and one of slopes δ: the square of the norm of their
    /// product and of δ, the gradients of a linear layer's weights and biases.
    LinearSquares {
        inputs: &'a [f32],
        slopes: &'a [f32],
        squares: &'a mut [f64],
    } => {
        let rows = squares.len();
        let inputs = inputs.chunks_exact(inputs.len() / rows);
        let slopes = slopes.chunks_exact(slopes.len() / rows);
        for ((square, inputs), slopes) in squares.iter_mut().zip(inputs).zip(slopes) {
            *square += (sum_of_squares(inputs) + 1.0) * sum_of_squares(slopes);
        }
    }
}

/// Σ x²: short sums in f32 are added in f64.
#[inline(always)]
fn sum_of_squares(values: &[f32]) -> f64 {
    values.chunks(256).map(|chunk| f64::from(sum(chunk, |value| value * value))).sum()
}
