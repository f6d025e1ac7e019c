//! Layouts, methods for norms, and memory sizes for a batch.

use super::buffer::LANES;
use crate::layers::Layer;
use crate::model::Network;

/// Maximum number of rows processed together by a network without lanes.
const MAX_ROWS: usize = 128;

/// Memory layout of the values of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Example by example.
    Rows,
    /// Value by value, 16 examples each.
    Lanes,
}

/// Layout of the input of each layer, and of the logits.
pub(super) fn layouts(network: &Network) -> Vec<Layout> {
    let mut layouts = vec![Layout::Rows];
    for placed in network.layers().iter().rev() {
        let next = layouts.last().copied().unwrap_or(Layout::Rows);
        layouts.push(match placed.layer {
            Layer::Linear(_) => Layout::Rows,
            Layer::Convolution(_)
            | Layer::GroupNorm(_)
            | Layer::AveragePool(_)
            | Layer::MaxPool(_) => Layout::Lanes,
            Layer::Elementwise(_) => next,
        });
    }
    layouts.reverse();
    layouts
}

/// The sizes of a [`Workspace`](super::Workspace).
#[derive(Debug)]
pub(super) struct Sizes {
    /// Rows per group.
    pub(super) group: usize,
    /// Floats of the input of each layer, and of the logits.
    pub(super) values: Vec<usize>,
    /// Floats of the largest of their gradients.
    pub(super) gradients: usize,
    /// Floats of the largest padded input or dilated output gradient.
    pub(super) border: usize,
}

impl Sizes {
    pub(super) fn new(network: &Network, max_rows: usize) -> Self {
        let in_lanes = layouts(network).contains(&Layout::Lanes);
        let group = if in_lanes { LANES } else { max_rows.clamp(1, MAX_ROWS) };
        // A network without lanes reads the examples in place.
        let first = if in_lanes { network.inputs() } else { 0 };
        let outputs = network.layers().iter().map(|placed| placed.output.len());
        let values: Vec<usize> =
            std::iter::once(first).chain(outputs).map(|values| values * group).collect();
        let gradients = values.iter().copied().max().unwrap_or(0);
        let bordered = network.layers().iter().map(|placed| match &placed.layer {
            Layer::Convolution(layer) => layer.padded().len().max(layer.dilated().len()) * LANES,
            _ => 0,
        });
        Self { group, values, gradients, border: bordered.max().unwrap_or(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelSpec;

    #[test]
    fn elementwise_layers_use_the_next_layers_layout() {
        use Layout::{Lanes, Rows};
        let of = |spec: &ModelSpec| layouts(&Network::new(spec).unwrap());
        assert_eq!(of(&ModelSpec::mlp()), [Rows; 4]);
        let lenet = [vec![Lanes; 6], vec![Rows; 6]].concat();
        assert_eq!(of(&ModelSpec::lenet()), lenet);
    }
}
