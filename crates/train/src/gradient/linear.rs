//! Linear layers: matrix products with one row per example.

use super::instruction_set::InstructionSet;
use super::matrix::Matrix;
use super::row_products::{DotProducts, WeightedRows};
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

/// Gradient of the loss with respect to the inputs, from that with respect to the outputs.
pub(super) fn input_gradient(
    layer: &Linear,
    theta: &[f32],
    output_gradient: &[f32],
    input_gradient: &mut [f32],
) {
    let rows = output_gradient.len() / layer.outputs;
    let weights = Matrix::new(theta, layer.outputs, layer.inputs);
    Matrix::new(output_gradient, rows, layer.outputs).times(weights, 0.0, input_gradient);
}

/// Products of a batch of any size without a packed copy of the factors, for one instruction set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Direct(pub(super) InstructionSet);

impl Direct {
    /// `output` = w·`input` + b.
    pub(super) fn forward(self, layer: &Linear, theta: &[f32], input: &[f32], output: &mut [f32]) {
        let biases = &theta[layer.inputs * layer.outputs..];
        for output in output.chunks_exact_mut(layer.outputs) {
            output.copy_from_slice(biases);
        }
        self.add_forward(layer, theta, input, output);
    }

    /// Adds w·`input` to `output`, without biases.
    pub(super) fn add_forward(
        self,
        layer: &Linear,
        theta: &[f32],
        input: &[f32],
        output: &mut [f32],
    ) {
        let rows = output.len() / layer.outputs;
        let left = &input[..rows * layer.inputs];
        let right = &theta[..layer.inputs * layer.outputs];
        self.0.run(DotProducts { left, right, terms: layer.inputs, out: output });
    }

    /// Gradient of the loss with respect to the inputs, from that with respect to the outputs.
    pub(super) fn input_gradient(
        self,
        layer: &Linear,
        theta: &[f32],
        output_gradient: &[f32],
        input_gradient: &mut [f32],
    ) {
        input_gradient.fill(0.0);
        self.add_input_gradient(layer, theta, output_gradient, input_gradient);
    }

    /// Adds what [`Self::input_gradient`] computes.
    pub(super) fn add_input_gradient(
        self,
        layer: &Linear,
        theta: &[f32],
        output_gradient: &[f32],
        input_gradient: &mut [f32],
    ) {
        let rows = output_gradient.len() / layer.outputs;
        self.0.run(WeightedRows {
            factors: output_gradient,
            steps: [layer.outputs, 1],
            rows: &theta[..layer.inputs * layer.outputs],
            length: layer.inputs,
            out: &mut input_gradient[..rows * layer.inputs],
        });
    }

    /// Adds the gradient of the weights, summed over the rows.
    pub(super) fn add_weight_gradient(
        self,
        layer: &Linear,
        input: &[f32],
        output_gradient: &[f32],
        out: &mut [f32],
    ) {
        let rows = output_gradient.len() / layer.outputs;
        self.0.run(WeightedRows {
            factors: output_gradient,
            steps: [1, layer.outputs],
            rows: &input[..rows * layer.inputs],
            length: layer.inputs,
            out: &mut out[..layer.inputs * layer.outputs],
        });
    }
}

/// Adds Σ factor · gradient over the examples; scales `output_gradient` by the factors.
pub(super) fn accumulate(
    layer: &Linear,
    input: &[f32],
    output_gradient: &mut [f32],
    factors: &[f32],
    out: &mut [f32],
) {
    let (weights, biases) = out.split_at_mut(layer.inputs * layer.outputs);
    for (output_gradient, factor) in output_gradient.chunks_exact_mut(layer.outputs).zip(factors) {
        for (derivative, bias) in output_gradient.iter_mut().zip(biases.iter_mut()) {
            *derivative *= factor;
            *bias += *derivative;
        }
    }
    let rows = factors.len();
    let input = Matrix::new(input, rows, layer.inputs);
    Matrix::transposed(output_gradient, rows, layer.outputs).times(input, 1.0, weights);
}
