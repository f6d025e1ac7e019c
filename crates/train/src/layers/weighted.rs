//! Layers with weights. Outputs are sums of weight–input products plus biases, so that an
//! enumeration of the products defines forward pass, backward pass and tangent.

use crate::model::Shape;

/// A layer with weights.
pub(crate) trait Weighted {
    fn weights(&self) -> usize;

    /// One per output or per channel.
    fn biases(&self) -> usize;

    /// Index of the bias of an output.
    fn bias_of(&self, output: usize) -> usize;

    /// Calls `visit` with the indices (output, weight, input) of each product.
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

/// Σ w·x + b over windows of all channels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Convolution {
    pub(crate) input: Shape,
    pub(crate) output: Shape,
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) padding: usize,
}

impl Convolution {
    /// `kernel` and `padding` must fit the input.
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

    /// Shape of the padded input.
    pub(crate) fn padded(&self) -> Shape {
        self.bordered(self.input.channels, self.padding.saturating_mul(2))
    }

    /// Shape of the output gradient with `stride` − 1 zeros between values and a border of kernel −
    /// 1: a convolution of it yields the input gradient.
    pub(crate) fn dilated(&self) -> Shape {
        let border = self.padding.saturating_mul(2).saturating_add(self.kernel - 1);
        self.bordered(self.output.channels, border)
    }

    fn bordered(&self, channels: usize, border: usize) -> Shape {
        let height = self.input.height.saturating_add(border);
        let width = self.input.width.saturating_add(border);
        Shape { channels, height, width }
    }

    pub(crate) fn padded_values(&self) -> usize {
        self.padded().len().saturating_add(self.dilated().len())
    }

    /// Number of inputs per window.
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
                // Coordinates in the padded input.
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
