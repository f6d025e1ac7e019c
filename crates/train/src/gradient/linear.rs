//! Linear layers: matrix products with one row per example.

use super::batch::{Inputs, SparseRow};
use super::instruction_set::InstructionSet;
use super::matrix::Matrix;
use super::row_products::{DotProducts, WeightedRows};
use super::sparse_products::{AllFinite, SparseProducts, SparseSums};
use super::transposition::Transposition;
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
    /// `output` = w·`input` + b. `transposed` are the weights input by input, or empty; sparse
    /// inputs need them.
    pub(super) fn forward(
        self,
        layer: &Linear,
        (theta, transposed): (&[f32], &[f32]),
        input: Inputs<'_>,
        output: &mut [f32],
    ) {
        let start = &theta[layer.inputs * layer.outputs..];
        match input {
            Inputs::Sparse(left) => {
                self.0.run(SparseProducts { left, right: transposed, start, out: output });
            }
            Inputs::Dense(input) => {
                for output in output.chunks_exact_mut(layer.outputs) {
                    output.copy_from_slice(start);
                }
                self.add_forward(layer, (theta, transposed), input, output);
            }
        }
    }

    /// Adds w·`input` to `output`, without biases.
    pub(super) fn add_forward(
        self,
        layer: &Linear,
        (theta, transposed): (&[f32], &[f32]),
        input: &[f32],
        out: &mut [f32],
    ) {
        let (terms, length) = (layer.inputs, layer.outputs);
        let input = &input[..out.len() / length * terms];
        if transposed.is_empty() {
            let (left, right) = (input, &theta[..terms * length]);
            self.0.run(DotProducts { left, right, terms, out });
        } else {
            let (factors, steps, rows) = (input, [terms, 1], &transposed[..terms * length]);
            self.0.run(WeightedRows { factors, steps, rows, length, out });
        }
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

    /// Adds the gradients of weights and biases, summed over sparse rows; `sums` is as long as the
    /// weights.
    pub(super) fn add_sparse_gradient(
        self,
        layer: &Linear,
        rows: &[SparseRow<'_, f32>],
        output_gradient: &[f32],
        sums: &mut [f32],
        out: &mut [f32],
    ) {
        let length = layer.outputs;
        let (weights, biases) = out.split_at_mut(layer.inputs * length);
        let sums = &mut sums[..layer.inputs * length];
        sums.fill(0.0);
        self.0.run(SparseSums { left: rows, right: output_gradient, length, out: sums });
        self.0.run(Transposition { from: sums, columns: length, out: weights, adds: true });
        for row in output_gradient.chunks_exact(length) {
            biases.iter_mut().zip(row).for_each(|(bias, value)| *bias += value);
        }
    }

    /// Whether all numbers are finite.
    pub(super) fn all_finite(self, values: &[f32]) -> bool {
        let mut is_finite = true;
        self.0.run(AllFinite { values, is_finite: &mut is_finite });
        is_finite
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
