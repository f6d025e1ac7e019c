//! Layers with weights. Their outputs are sums of products of a weight and an input, and biases; so
//! a list of these products is all that forward, backward and tangent need.

use crate::model::Shape;

/// A layer with weights.
pub(crate) trait Weighted {
    fn weights(&self) -> usize;

    /// One an output, or one a channel.
    fn biases(&self) -> usize;

    /// The bias of an output.
    fn bias_of(&self, output: usize) -> usize;

    /// Gives each product as the places of (output, weight, input).
    fn products(&self, visit: &mut dyn FnMut(usize, usize, usize));
}

/// w·x + b.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Linear {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

impl Weighted for Linear {
    fn weights(&self) -> usize {
        self.inputs.saturating_mul(self.outputs)
    }

    fn biases(&self) -> usize {
        self.outputs
    }

    fn bias_of(&self, output: usize) -> usize {
        output
    }

    fn products(&self, visit: &mut dyn FnMut(usize, usize, usize)) {
        for weight in 0..self.weights() {
            visit(weight / self.inputs, weight, weight % self.inputs);
        }
    }
}

/// Σ w·x + b over windows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Convolution {
    pub(crate) input: Shape,
    pub(crate) output: Shape,
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) padding: usize,
}

impl Convolution {
    /// `kernel` and `padding` fit the input.
    pub(crate) fn new(
        input: Shape,
        channels: usize,
        kernel: usize,
        stride: usize,
        padding: usize,
    ) -> Self {
        let windows =
            |side: usize| (side.saturating_add(padding.saturating_mul(2)) - kernel) / stride + 1;
        let (height, width) = (windows(input.height), windows(input.width));
        Self { input, output: Shape { channels, height, width }, kernel, stride, padding }
    }

    /// The input with its border of zeros.
    pub(crate) fn padded(&self) -> Shape {
        self.bordered(self.input.channels, self.padding.saturating_mul(2))
    }

    /// The slopes by outputs, `stride` apart, within a border of kernel − 1: windows over this one,
    /// one at each value of the padded input, give the slopes by the inputs.
    pub(crate) fn spread(&self) -> Shape {
        let border = self.padding.saturating_mul(2).saturating_add(self.kernel - 1);
        self.bordered(self.output.channels, border)
    }

    fn bordered(&self, channels: usize, border: usize) -> Shape {
        let height = self.input.height.saturating_add(border);
        let width = self.input.width.saturating_add(border);
        Shape { channels, height, width }
    }

    pub(crate) fn padded_values(&self) -> usize {
        self.padded().len().saturating_add(self.spread().len())
    }

    /// Inputs of a window.
    pub(crate) fn taps(&self) -> usize {
        self.input.channels.saturating_mul(self.kernel).saturating_mul(self.kernel)
    }
}

impl Weighted for Convolution {
    fn weights(&self) -> usize {
        self.output.channels.saturating_mul(self.taps())
    }

    fn biases(&self) -> usize {
        self.output.channels
    }

    fn bias_of(&self, output: usize) -> usize {
        output / self.output.positions()
    }

    fn products(&self, visit: &mut dyn FnMut(usize, usize, usize)) {
        let Shape { height, width, channels } = self.input;
        let side = self.kernel;
        for output in 0..self.output.len() {
            let (channel, position) =
                (output / self.output.positions(), output % self.output.positions());
            let (row, column) = (position / self.output.width, position % self.output.width);
            for tap in 0..channels * side * side {
                // In the padded input, where the first `padding` rows and columns are zeros.
                let y = row * self.stride + tap / side % side;
                let x = column * self.stride + tap % side;
                let inside = (self.padding..self.padding + height).contains(&y)
                    && (self.padding..self.padding + width).contains(&x);
                if inside {
                    let (y, x) = (y - self.padding, x - self.padding);
                    let input = (tap / (side * side) * height + y) * width + x;
                    visit(output, channel * channels * side * side + tap, input);
                }
            }
        }
    }
}
