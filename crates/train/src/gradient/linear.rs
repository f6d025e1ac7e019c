//! Linear layers: matrix products with one row per example.

use super::batch::Inputs;
use super::instruction_set::InstructionSet;
use super::matrix::Matrix;
use super::row_products::{DotProducts, EachWeightedRow, Start, WeightedRows};
use super::sparse_products::{AllFinite, SparseProducts, SparseSums};
use super::updates::AddRows;
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
                let start = Start::Row(start);
                self.products(layer, (theta, transposed), input, (start, output));
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
        self.products(layer, (theta, transposed), input, (Start::Out, out));
    }

    fn products(
        self,
        layer: &Linear,
        (theta, transposed): (&[f32], &[f32]),
        input: &[f32],
        (start, out): (Start<'_>, &mut [f32]),
    ) {
        let (terms, length) = (layer.inputs, layer.outputs);
        let input = &input[..out.len() / length * terms];
        if transposed.is_empty() {
            if let Start::Row(start) = start {
                out.chunks_exact_mut(length).for_each(|out| out.copy_from_slice(start));
            }
            let (left, right) = (input, &theta[..terms * length]);
            self.0.run(DotProducts { left, right, terms, out });
        } else {
            let (factors, steps, rows) = (input, [terms, 1], &transposed[..terms * length]);
            self.0.run(WeightedRows { factors, steps, rows, length, start, out });
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
        self.input_products(layer, theta, output_gradient, (Start::Zero, input_gradient));
    }

    /// Adds what [`Self::input_gradient`] computes.
    pub(super) fn add_input_gradient(
        self,
        layer: &Linear,
        theta: &[f32],
        output_gradient: &[f32],
        input_gradient: &mut [f32],
    ) {
        self.input_products(layer, theta, output_gradient, (Start::Out, input_gradient));
    }

    fn input_products(
        self,
        layer: &Linear,
        theta: &[f32],
        output_gradient: &[f32],
        (start, input_gradient): (Start<'_>, &mut [f32]),
    ) {
        let rows = output_gradient.len() / layer.outputs;
        self.0.run(WeightedRows {
            factors: output_gradient,
            steps: [layer.outputs, 1],
            rows: &theta[..layer.inputs * layer.outputs],
            length: layer.inputs,
            start,
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
            start: Start::Out,
            out: &mut out[..layer.inputs * layer.outputs],
        });
    }

    /// Adds the gradient of the weights to `out`, input by input, one row after the other.
    pub(super) fn add_weight_gradient_by_input(
        self,
        layer: &Linear,
        input: Inputs<'_>,
        output_gradient: &[f32],
        out: &mut [f32],
    ) {
        let (rows, length) = (output_gradient, layer.outputs);
        match input {
            Inputs::Sparse(left) => self.0.run(SparseSums { left, right: rows, length, out }),
            Inputs::Dense(factors) => {
                let steps = [1, layer.inputs];
                let start = Start::Out;
                let rows = WeightedRows { factors, steps, rows, length, start, out };
                self.0.run(EachWeightedRow(rows));
            }
        }
    }

    /// Adds the gradient of the biases, summed over the rows.
    pub(super) fn add_bias_gradient(self, output_gradient: &[f32], biases: &mut [f32]) {
        self.0.run(AddRows { rows: output_gradient, sum: biases });
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
