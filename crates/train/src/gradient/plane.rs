//! Values of every layer for one group of rows.

use super::batch::SparseRow;
use super::buffer::{Buffer, LANES, lanes_to_rows, rows_to_lanes};
use super::convolution::ConvolutionWork;
use super::instruction_set::InstructionSet;
use super::linear::Direct;
use super::norm_method::NormMethod;
use super::plan::{Layout, layouts};
use super::transposition::Transposition;
use crate::layers::{Layer, Linear};
use crate::model::Network;

/// Values of every layer for one group of rows; index 0 is the input.
#[derive(Debug)]
pub(super) struct Plane {
    pub(super) values: Vec<Buffer>,
    /// Gradients with respect to them.
    pub(super) slopes: Vec<Buffer>,
    /// Weights in the order of the backward pass.
    pub(super) convolutions: Vec<Option<ConvolutionWork>>,
    /// Weights of linear layers, in the order that the parameters do not have; empty in a network with
    /// lanes.
    pub(super) transposed: Vec<Buffer>,
}

impl Plane {
    pub(super) fn new(network: &Network, group: usize) -> Self {
        let sizes = std::iter::once(network.inputs())
            .chain(network.layers().iter().map(|placed| placed.output.len()));
        let sizes: Vec<usize> = sizes.map(|values| values * group).collect();
        let buffers = || sizes.iter().map(|&floats| Buffer::new(floats)).collect::<Vec<_>>();
        let has_lanes = layouts(network).contains(&Layout::Lanes);
        let layers = || network.layers().iter().map(|placed| &placed.layer);
        let convolution = |layer: &Layer| match layer {
            // The other method stores per-example gradients.
            Layer::Convolution(layer) => Some(ConvolutionWork::new(*layer, Some(NormMethod::Gram))),
            _ => None,
        };
        let transposed = |layer: &Layer| match layer {
            Layer::Linear(layer) if !has_lanes => Buffer::new(layer.inputs * layer.outputs),
            _ => Buffer::default(),
        };
        Self {
            values: buffers(),
            slopes: buffers(),
            convolutions: layers().map(convolution).collect(),
            transposed: layers().map(transposed).collect(),
        }
    }

    /// Prepares convolutions for new parameters.
    pub(super) fn prepare(&mut self, network: &Network, theta: &[f32]) {
        for (work, placed) in self.convolutions.iter_mut().zip(network.layers()) {
            if let Some(work) = work {
                work.prepare(&theta[placed.parameters.clone()]);
            }
        }
    }

    /// Transposes the weights of linear layers, unless they are left out. Those of the first may have
    /// either order.
    pub(super) fn transpose(
        &mut self,
        set: InstructionSet,
        network: &Network,
        theta: &[f32],
        (by_input, left_out): (bool, usize),
    ) {
        let layers = self.transposed.iter_mut().zip(network.layers()).enumerate();
        for (index, (out, placed)) in layers.skip(left_out) {
            if let (Layer::Linear(layer), false) = (&placed.layer, out.floats().is_empty()) {
                let from = weights(layer, &theta[placed.parameters.clone()]);
                let columns = if by_input && index == 0 { layer.outputs } else { layer.inputs };
                set.run(Transposition { from, columns, out: out.floats_mut() });
            }
        }
    }

    /// Appends the outputs of the first layer and the gradients with respect to the logits.
    pub(super) fn keep(&self, rows: usize, [outputs, classes]: [usize; 2], kept: &mut Vec<f32>) {
        kept.extend_from_slice(&self.values[1].floats()[..rows * outputs]);
        if let Some(slopes) = self.slopes.last() {
            kept.extend_from_slice(&slopes.floats()[..rows * classes]);
        }
    }

    /// Copies what was kept, because rows in place would cross cache lines.
    pub(super) fn restore(&mut self, [outputs, slopes]: [&[f32]; 2]) {
        self.values[1].floats_mut()[..outputs.len()].copy_from_slice(outputs);
        if let Some(gradients) = self.slopes.last_mut() {
            gradients.floats_mut()[..slopes.len()].copy_from_slice(slopes);
        }
    }
}

/// Whether the first layer has finite weights.
pub(super) fn has_finite_inputs(set: InstructionSet, network: &Network, theta: &[f32]) -> bool {
    let values = network.layers().first().map_or(&[][..], |placed| match &placed.layer {
        Layer::Linear(layer) => weights(layer, &theta[placed.parameters.clone()]),
        _ => &[],
    });
    Direct(set).all_finite(values)
}

fn weights<'a>(layer: &Linear, theta: &'a [f32]) -> &'a [f32] {
    &theta[..layer.inputs * layer.outputs]
}

/// The first rows of values of the input.
pub(super) fn input_rows(layout: Layout, values: &Buffer, inputs: usize, out: &mut [f32]) {
    match layout {
        Layout::Lanes => lanes_to_rows(values.lanes(), inputs, out),
        Layout::Rows => out.copy_from_slice(&values.floats()[..out.len()]),
    }
}

/// Converts values from a layout to the other.
pub(super) fn convert(from: Layout, values: usize, input: &Buffer, output: &mut Buffer) {
    let floats = values * LANES;
    match from {
        Layout::Rows => rows_to_lanes(&input.floats()[..floats], values, output.lanes_mut()),
        Layout::Lanes => lanes_to_rows(input.lanes(), values, &mut output.floats_mut()[..floats]),
    }
}

/// Copies sparse rows, with their zeros.
pub(super) fn expand(rows: &[SparseRow<'_, f32>], inputs: usize, out: &mut Buffer) {
    let copies = out.floats_mut().chunks_exact_mut(inputs);
    rows.iter().zip(copies).for_each(|(row, copy)| row.expand(copy));
}

/// Takes what was kept of the next rows.
pub(super) fn take_kept<'a>(
    rows: usize,
    [outputs, classes]: [usize; 2],
    kept: &mut &'a [f32],
) -> Option<[&'a [f32]; 2]> {
    let (first, rest) = kept.split_at_checked(rows * outputs)?;
    let (slopes, rest) = rest.split_at_checked(rows * classes)?;
    *kept = rest;
    (outputs > 0).then_some([first, slopes])
}
