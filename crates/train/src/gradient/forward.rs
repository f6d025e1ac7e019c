//! Forward pass of a layer, on values and on tangents.

use super::batch::Inputs;
use super::buffer::{Buffer, lanes, lanes_mut};
use super::convolution::ConvolutionWork;
use super::dual::Push;
use super::group_norm::{Normalize, NormalizeTangent};
use super::instruction_set::InstructionSet;
use super::linear::{self, Direct};
use super::pointwise::Apply;
use super::pooling::{Average, Maximum, MaximumTangent};
use super::row_directions::Direction;
use crate::layers::{Layer, with_function};

/// Computes the outputs of a layer. A convolution needs its work.
pub(super) fn values(
    set: InstructionSet,
    (layer, work): (&Layer, Option<&ConvolutionWork>),
    theta: &[f32],
    (input, border): (&[f32], &mut Buffer),
    output: &mut [f32],
) {
    match layer {
        Layer::Linear(layer) => linear::forward(layer, theta, input, output),
        Layer::Convolution(_) => {
            if let Some(work) = work {
                let input = (lanes(input), border.lanes_mut());
                work.forward(set, theta, input, lanes_mut(output));
            }
        }
        Layer::Elementwise(function) => with_function!(*function, function => {
            set.run(Apply { function, input, output });
        }),
        Layer::GroupNorm(layer) => {
            let (input, output) = (lanes(input), lanes_mut(output));
            set.run(Normalize { layer, theta, input, output });
        }
        Layer::AveragePool(pool) => {
            set.run(Average { pool, input: lanes(input), output: lanes_mut(output) });
        }
        Layer::MaxPool(pool) => {
            set.run(Maximum { pool, input: lanes(input), output: lanes_mut(output) });
        }
    }
}

/// The tangents of the outputs of a layer.
pub(super) struct TangentPass<'a> {
    pub(super) set: InstructionSet,
    pub(super) theta: &'a [f32],
    pub(super) direction: Direction<'a>,
    /// Inputs of a linear layer.
    pub(super) rows: Inputs<'a>,
    /// Inputs of other layers, and the tangents of inputs.
    pub(super) input: [&'a [f32]; 2],
    /// Weights of a linear layer and their direction, input by input, or empty.
    pub(super) transposed: [&'a [f32]; 2],
    pub(super) output: &'a [f32],
    /// Whether the input has a tangent other than 0.
    pub(super) has_tangent: bool,
}

impl TangentPass<'_> {
    pub(super) fn run(
        &self,
        (layer, work): (&Layer, Option<&ConvolutionWork>),
        border: &mut Buffer,
        out: &mut [f32],
    ) {
        let Self { set, theta, direction, input: [input, change], output, has_tangent, .. } = *self;
        let [transposed, transposed_t] = self.transposed;
        match layer {
            Layer::Linear(layer) => {
                match direction {
                    Direction::Shared(w) => {
                        Direct(set).forward(layer, (w, transposed_t), self.rows, out);
                    }
                    Direction::PerRow { rows, .. } => out.copy_from_slice(rows.outputs(out.len())),
                }
                if has_tangent {
                    Direct(set).add_forward(layer, (theta, transposed), change, out);
                }
            }
            Layer::Convolution(_) => {
                let Some(work) = work else { return };
                let out = lanes_mut(out);
                let inputs = (lanes(input), border.lanes_mut());
                match direction {
                    Direction::Shared(w) => work.forward(set, w, inputs, out),
                    Direction::PerRow { rows, .. } => {
                        work.forward_per_row(set, rows.lanes(), inputs, out);
                    }
                }
                if has_tangent {
                    work.add_forward(set, theta, (lanes(change), border.lanes_mut()), out);
                }
            }
            Layer::Elementwise(function) => with_function!(*function, function => {
                set.run(Push { function, input, output, change, out });
            }),
            Layer::GroupNorm(layer) => {
                let input = [lanes(input), lanes(change)];
                let output = lanes_mut(out);
                set.run(NormalizeTangent { layer, theta, direction, input, output });
            }
            Layer::AveragePool(pool) => {
                set.run(Average { pool, input: lanes(change), output: lanes_mut(out) });
            }
            Layer::MaxPool(pool) => {
                let (input, change) = (lanes(input), lanes(change));
                set.run(MaximumTangent { pool, input, change, output: lanes_mut(out) });
            }
        }
    }
}
