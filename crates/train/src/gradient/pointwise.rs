//! Elementwise layers, the loss and norms, in vectorisable loops.

use super::elementary;
use super::instruction_set::kernel;

kernel! {
    /// Hyperbolic tangent.
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
    /// Converts the gradient with respect to the outputs of tanh to that with respect to its
    /// inputs.
    TanhGradient { output: &'a [f32], output_gradient: &'a mut [f32] } => {
        for (derivative, &value) in output_gradient.iter_mut().zip(output) {
            *derivative *= 1.0 - value * value;
        }
    }
}

/// max(x, 0); NaN is preserved.
pub(super) fn relu(input: &[f32], output: &mut [f32]) {
    for (value, &x) in output.iter_mut().zip(input) {
        *value = if x <= 0.0 { 0.0 } else { x };
    }
}

/// Same as [`TanhGradient`] for ReLU, whose output is positive if its input is.
pub(super) fn relu_gradient(output: &[f32], output_gradient: &mut [f32]) {
    for (derivative, &value) in output_gradient.iter_mut().zip(output) {
        *derivative = if value > 0.0 { *derivative } else { 0.0 };
    }
}

kernel! {
    /// Gradient of the loss with respect to the logits, row by row: softmax − 1 at the label. An
    /// invalid label yields NaN.
    LossGradient {
        logits: &'a [f32],
        labels: &'a [u32],
        classes: usize,
        output_gradient: &'a mut [f32],
    } => {
        let rows = logits.chunks_exact(classes);
        let output_gradient = output_gradient.chunks_exact_mut(classes);
        for ((logits, output_gradient), &label) in rows.zip(output_gradient).zip(labels) {
            let mut maxima = [f32::NEG_INFINITY; 16];
            let (chunks, rest) = logits.as_chunks::<16>();
            for chunk in chunks {
                for (max, &logit) in maxima.iter_mut().zip(chunk) {
                    *max = if logit > *max { logit } else { *max };
                }
            }
            let mut centre = f32::NEG_INFINITY;
            for &logit in maxima.iter().chain(rest) {
                centre = if logit > centre { logit } else { centre };
            }
            for (derivative, &logit) in output_gradient.iter_mut().zip(logits) {
                *derivative = elementary::exp(logit - centre);
            }
            let scale = 1.0 / sum(output_gradient, |value| value);
            for derivative in output_gradient.iter_mut() {
                *derivative *= scale;
            }
            match output_gradient.get_mut(label as usize) {
                Some(derivative) => *derivative -= 1.0,
                None => output_gradient.fill(f32::NAN),
            }
        }
    }
}

/// Σ f(x), accumulated in 16 partial sums.
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
    /// Adds the squared gradient norm of a linear layer, (‖a‖² + 1)·‖δ‖², for inputs a and output
    /// gradient δ: the squared norms of δaᵀ (weights) and δ (biases).
    LinearSquares {
        inputs: &'a [f32],
        output_gradient: &'a [f32],
        squares: &'a mut [f64],
    } => {
        let rows = squares.len();
        let inputs = inputs.chunks_exact(inputs.len() / rows);
        let output_gradient = output_gradient.chunks_exact(output_gradient.len() / rows);
        for ((square, inputs), output_gradient) in squares.iter_mut().zip(inputs).zip(output_gradient) {
            *square += (sum_of_squares(inputs) + 1.0) * sum_of_squares(output_gradient);
        }
    }
}

/// Σ x²: blocks are summed in f32, their sums in f64.
#[inline(always)]
fn sum_of_squares(values: &[f32]) -> f64 {
    values.chunks(256).map(|chunk| f64::from(sum(chunk, |value| value * value))).sum()
}
