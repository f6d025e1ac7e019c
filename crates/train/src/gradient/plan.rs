//! What a batch needs: layouts, ways to norms, sizes of memory.

use super::buffer::LANES;
use super::convolution::ConvolutionWork;
use crate::layers::{Convolution, Layer, Weighted};
use crate::model::Network;

/// Rows that a network without lanes works on at a time.
const MOST_ROWS: usize = 128;

/// What storing a parameter's gradient for an example and reading it again costs, in products:
/// measured 40 where it stays in the second-level cache, 100 where it does not.
const STORED: u64 = 48;

/// How the norm of a convolution's gradient is found, example by example.
///
/// With U the windows of an input (one a column) and Δ the slopes by outputs, the gradient is ΔUᵀ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NormMethod {
    /// The gradient itself, held for each of 16 examples until its clipping is known.
    Instantiated,
    /// ‖ΔUᵀ‖² = Σ_pq (UᵀU ∘ ΔᵀΔ)_pq over pairs of windows p, q; the gradient is made of clipped
    /// slopes afterwards. Cheaper where windows are few and parameters many.
    Gram,
}

impl NormMethod {
    /// The cheaper one. The gradient's own products are needed on both.
    pub(super) fn of(layer: &Convolution) -> Self {
        let windows = layer.output.positions() as u64;
        let pairs = windows * (windows + 4) / 2;
        let gram = pairs.saturating_mul((layer.taps() + layer.output.channels) as u64);
        let stored = layer.weights() as u64 * STORED;
        if gram < stored { NormMethod::Gram } else { NormMethod::Instantiated }
    }
}

/// How the values of a layer lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Example by example.
    Rows,
    /// Value by value, 16 examples each.
    Lanes,
}

/// The layout of what comes into each layer, and of the logits.
pub(super) fn layouts(network: &Network) -> Vec<Layout> {
    let mut layouts = vec![Layout::Rows];
    for placed in network.layers().iter().rev() {
        let next = layouts.last().copied().unwrap_or(Layout::Rows);
        layouts.push(match placed.layer {
            Layer::Linear(_) => Layout::Rows,
            Layer::Convolution(_) | Layer::AveragePool(_) | Layer::MaxPool(_) => Layout::Lanes,
            Layer::Tanh | Layer::Relu => next,
        });
    }
    layouts.reverse();
    layouts
}

/// The sizes of a [`Workspace`](super::Workspace).
#[derive(Debug)]
pub(super) struct Sizes {
    /// Rows at a time.
    pub(super) group: usize,
    /// Floats of what comes into each layer, and of the logits.
    pub(super) values: Vec<usize>,
    /// Floats of the slopes by any of them.
    pub(super) slopes: usize,
    /// Floats of any bordered input or slopes.
    pub(super) border: usize,
}

impl Sizes {
    pub(super) fn new(network: &Network, most_rows: usize) -> Self {
        let in_lanes = layouts(network).contains(&Layout::Lanes);
        let group = if in_lanes { LANES } else { most_rows.clamp(1, MOST_ROWS) };
        // Rows that come into a network without lanes are used where they are.
        let first = if in_lanes { network.inputs() } else { 0 };
        let outputs = network.layers().iter().map(|placed| placed.output.len());
        let values: Vec<usize> =
            std::iter::once(first).chain(outputs).map(|values| values * group).collect();
        let slopes = values.iter().copied().max().unwrap_or(0);
        let bordered = network.layers().iter().map(|placed| match &placed.layer {
            Layer::Convolution(layer) => layer.padded().len().max(layer.spread().len()) * LANES,
            _ => 0,
        });
        Self { group, values, slopes, border: bordered.max().unwrap_or(0) }
    }

    /// Bytes of all memory.
    pub(super) fn bytes(&self, network: &Network, route: Option<NormMethod>) -> usize {
        let buffer = super::buffer::Buffer::bytes;
        let own = network.layers().iter().map(|placed| match &placed.layer {
            Layer::Linear(linear) => buffer(linear.outputs * self.group),
            Layer::Convolution(layer) => ConvolutionWork::bytes(layer, route),
            _ => 0,
        });
        let values = self.values.iter().map(|&floats| buffer(floats));
        let rows = self.group * (size_of::<f64>() + size_of::<f32>());
        own.chain(values).sum::<usize>() + 2 * buffer(self.slopes) + buffer(self.border) + rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ModelSpec, Shape};

    #[test]
    fn the_cheaper_route_is_taken() {
        let route = |channels, side| {
            let input = Shape { channels, height: side, width: side };
            NormMethod::of(&Convolution::new(input, channels, 3, 1, 1))
        };
        assert_eq!(route(6, 14), NormMethod::Instantiated);
        assert_eq!(route(64, 16), NormMethod::Instantiated);
        assert_eq!(route(128, 8), NormMethod::Gram);
        assert_eq!(route(512, 4), NormMethod::Gram);
    }

    #[test]
    fn elementwise_layers_have_the_next_layers_layout() {
        use Layout::{Lanes, Rows};
        let of = |spec: &ModelSpec| layouts(&Network::new(spec).unwrap());
        assert_eq!(of(&ModelSpec::mlp()), [Rows; 4]);
        let lenet = [vec![Lanes; 6], vec![Rows; 6]].concat();
        assert_eq!(of(&ModelSpec::lenet()), lenet);
    }
}
