//! Linear layers: products of matrices with one row an example.

use super::matrix::Matrix;
use crate::layers::Linear;

/// `output` = w·`input` + b.
pub(super) fn forward(layer: &Linear, theta: &[f32], input: &[f32], output: &mut [f32]) {
    let (weights, biases) = theta.split_at(layer.inputs * layer.outputs);
    let rows = output.len() / layer.outputs;
    for output in output.chunks_exact_mut(layer.outputs) {
        output.copy_from_slice(biases);
    }
    let weights = Matrix::transposed(weights, layer.outputs, layer.inputs);
    Matrix::new(input, rows, layer.inputs).times(weights, 1.0, output);
}

/// Slopes by the inputs from those by the outputs.
pub(super) fn input_slopes(
    layer: &Linear,
    theta: &[f32],
    slopes: &[f32],
    input_slopes: &mut [f32],
) {
    let rows = slopes.len() / layer.outputs;
    let weights = Matrix::new(theta, layer.outputs, layer.inputs);
    Matrix::new(slopes, rows, layer.outputs).times(weights, 0.0, input_slopes);
}

/// Adds Σ factor · gradient; `slopes` are multiplied by the factors.
pub(super) fn accumulate(
    layer: &Linear,
    input: &[f32],
    slopes: &mut [f32],
    factors: &[f32],
    out: &mut [f32],
) {
    let (weights, biases) = out.split_at_mut(layer.inputs * layer.outputs);
    for (slopes, factor) in slopes.chunks_exact_mut(layer.outputs).zip(factors) {
        for (slope, bias) in slopes.iter_mut().zip(biases.iter_mut()) {
            *slope *= factor;
            *bias += *slope;
        }
    }
    let rows = factors.len();
    let input = Matrix::new(input, rows, layer.inputs);
    Matrix::transposed(slopes, rows, layer.outputs).times(input, 1.0, weights);
}
