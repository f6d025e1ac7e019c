//! Convolutions in lanes: sums over gathered windows of a padded input.

mod rows;

use super::buffer::{Buffer, LANES, Lane};
use super::instruction_set::InstructionSet;
use super::lane_sums::ChannelSums;
use super::norm_method::NormMethod;
use super::products::{Gathered, Left, Products, Weights, total};
use crate::layers::{Convolution, Weighted};
use crate::model::Shape;

/// Rows of a Gram matrix computed at a time.
const GRAM_ROWS: usize = 4;

/// A convolution with its index tables and scratch memory.
#[derive(Debug)]
pub(super) struct ConvolutionWork {
    layer: Convolution,
    route: NormMethod,
    /// Offset of each window in the padded input, and of each input within a window.
    windows: Vec<usize>,
    taps: Vec<usize>,
    /// For each input, offset of its window in the dilated output gradient, and of each value
    /// within a window.
    inputs: Vec<usize>,
    dilated_taps: Vec<usize>,
    /// Offset of each output channel, and of each position within a channel.
    channels: Vec<usize>,
    positions: Vec<usize>,
    /// Weights by input channel, rotated by 180°.
    flipped: Vec<f32>,
    /// Per-example gradients (`Instantiated`) or output gradients (`Gram`).
    saved: Buffer,
    /// Per-example gradients of the biases (`Gram`).
    biases: Buffer,
    /// `GRAM_ROWS` rows of both Gram matrices.
    gram: Buffer,
}

impl ConvolutionWork {
    pub(super) fn new(layer: Convolution, route: Option<NormMethod>) -> Self {
        let route = route.unwrap_or_else(|| NormMethod::of(&layer));
        let [saved, biases, gram] = Self::floats(&layer, route);
        let (padded, dilated, output) = (layer.padded(), layer.dilated(), layer.output);
        let first = Shape { channels: 1, ..layer.input };
        let inside = layer.padding * (dilated.width + 1);
        let offset = |places: Vec<usize>| places.iter().map(|place| place + inside).collect();
        Self {
            route,
            windows: places(Shape { channels: 1, ..output }, padded, layer.stride),
            taps: places(window(&layer, layer.input.channels), padded, 1),
            inputs: offset(places(first, dilated, 1)),
            dilated_taps: places(window(&layer, output.channels), dilated, 1),
            channels: (0..output.channels).map(|channel| channel * output.positions()).collect(),
            positions: (0..output.positions()).collect(),
            flipped: vec![0.0; layer.weights()],
            saved: Buffer::new(saved),
            biases: Buffer::new(biases),
            gram: Buffer::new(gram),
            layer,
        }
    }

    /// Floats of `saved`, `biases` and `gram`.
    fn floats(layer: &Convolution, route: NormMethod) -> [usize; 3] {
        let lanes = match route {
            NormMethod::Instantiated => [layer.weights() + layer.biases(), 0, 0],
            NormMethod::Gram => {
                let gram = 2 * GRAM_ROWS * layer.output.positions();
                [layer.output.len(), layer.biases(), gram]
            }
        };
        lanes.map(|lanes| lanes * LANES)
    }

    #[cfg(test)]
    pub(super) fn allocated_bytes(&self) -> usize {
        let lists = [&self.windows, &self.taps, &self.inputs, &self.dilated_taps, &self.channels];
        let indices = lists.iter().map(|list| list.capacity()).sum::<usize>();
        let indices = (indices + self.positions.capacity()) * size_of::<usize>();
        let buffers = [&self.saved, &self.biases, &self.gram].map(Buffer::allocated_bytes);
        indices + self.flipped.capacity() * size_of::<f32>() + buffers.iter().sum::<usize>()
    }

    /// Updates the rotated weights for new parameters.
    pub(super) fn prepare(&mut self, theta: &[f32]) {
        let (square, channels) =
            (self.layer.kernel * self.layer.kernel, self.layer.output.channels);
        let taps = self.layer.taps();
        for (at, weight) in self.flipped.iter_mut().enumerate() {
            let (input, rest) = (at / (channels * square), at % (channels * square));
            let (channel, tap) = (rest / square, square - 1 - rest % square);
            *weight = theta[channel * taps + input * square + tap];
        }
    }

    fn padded<'a>(&self, input: &'a [Lane], border: &'a mut [Lane]) -> Gathered<'a>
    where
        Self: 'a,
    {
        if self.layer.padding > 0 {
            scatter_into(
                input,
                self.layer.input,
                border,
                self.layer.padded(),
                (self.layer.padding, 1),
            );
            Gathered { lanes: border, places: &[], steps: &[] }
        } else {
            Gathered { lanes: input, places: &[], steps: &[] }
        }
    }

    pub(super) fn forward(
        &self,
        set: InstructionSet,
        theta: &[f32],
        input: (&[Lane], &mut [Lane]),
        output: &mut [Lane],
    ) {
        let (weights, biases) = theta.split_at(self.layer.weights());
        let positions = self.windows.len();
        self.window_products(set, Weights(weights), input, |channel, position, lane| {
            let bias = biases[channel];
            output[channel * positions + position] = lane.map(|value| value + bias);
        });
    }

    /// Adds w·`input` to `output`, without biases.
    pub(super) fn add_forward(
        &self,
        set: InstructionSet,
        theta: &[f32],
        input: (&[Lane], &mut [Lane]),
        output: &mut [Lane],
    ) {
        let (weights, positions) = (Weights(&theta[..self.layer.weights()]), self.windows.len());
        self.window_products(set, weights, input, |channel, position, lane| {
            add(&mut output[channel * positions + position], lane);
        });
    }

    /// As [`Self::forward`], with weights and biases per example.
    pub(super) fn forward_per_row(
        &self,
        set: InstructionSet,
        theta: &[Lane],
        input: (&[Lane], &mut [Lane]),
        output: &mut [Lane],
    ) {
        let (weights, biases) = theta.split_at(self.layer.weights());
        let (taps, positions) = (self.layer.taps(), self.windows.len());
        let places: Vec<usize> = (0..biases.len()).map(|channel| channel * taps).collect();
        let steps: Vec<usize> = (0..taps).collect();
        let weights = Gathered { lanes: weights, places: &places, steps: &steps };
        self.window_products(set, weights, input, |channel, position, lane| {
            let out = &mut output[channel * positions + position];
            *out = *lane;
            add(out, &biases[channel]);
        });
    }

    /// Calls `sink` with channel, position and product of the weights with each window.
    fn window_products<L: Left>(
        &self,
        set: InstructionSet,
        left: L,
        (input, border): (&[Lane], &mut [Lane]),
        sink: impl FnMut(usize, usize, &Lane),
    ) {
        let right =
            Gathered { places: &self.windows, steps: &self.taps, ..self.padded(input, border) };
        set.run(Products { left, rows: 0..self.layer.biases(), right, sink });
    }

    /// Adds the gradient of the weights, summed over the examples.
    pub(super) fn add_weight_gradient(
        &self,
        set: InstructionSet,
        input: (&[Lane], &mut [Lane]),
        output_gradient: &[Lane],
        out: &mut [f32],
    ) {
        let add = |at: usize, lane: &Lane| out[at] += total(lane);
        self.weight_gradients(set, input, output_gradient, add);
    }

    /// Adds the gradient of the biases, summed over the examples.
    pub(super) fn add_bias_gradient(
        &mut self,
        set: InstructionSet,
        output_gradient: &[Lane],
        out: &mut [f32],
    ) {
        let positions = self.positions.len();
        let lanes = self.biases.lanes_mut();
        set.run(ChannelSums { output_gradient, positions, out: lanes });
        out.iter_mut().zip(lanes).for_each(|(bias, lane)| *bias += total(lane));
    }

    /// Gradient with respect to the inputs, from that with respect to the outputs.
    pub(super) fn input_gradient(
        &self,
        set: InstructionSet,
        output_gradient: (&[Lane], &mut [Lane]),
        input_gradient: &mut [Lane],
    ) {
        let positions = self.inputs.len();
        let weights = Weights(&self.flipped);
        self.dilated_products(set, weights, output_gradient, |channel, position, lane| {
            input_gradient[channel * positions + position] = *lane;
        });
    }

    /// Adds what [`Self::input_gradient`] computes.
    pub(super) fn add_input_gradient(
        &self,
        set: InstructionSet,
        output_gradient: (&[Lane], &mut [Lane]),
        input_gradient: &mut [Lane],
    ) {
        let positions = self.inputs.len();
        let weights = Weights(&self.flipped);
        self.dilated_products(set, weights, output_gradient, |channel, position, lane| {
            add(&mut input_gradient[channel * positions + position], lane);
        });
    }

    /// As [`Self::add_input_gradient`], with weights per example.
    pub(super) fn add_input_gradient_per_row(
        &self,
        set: InstructionSet,
        theta: &[Lane],
        output_gradient: (&[Lane], &mut [Lane]),
        input_gradient: &mut [Lane],
    ) {
        let (square, taps) = (self.layer.kernel * self.layer.kernel, self.layer.taps());
        let places: Vec<usize> =
            (0..self.layer.input.channels).map(|input| input * square).collect();
        let channels = 0..self.layer.output.channels;
        let steps: Vec<usize> = channels
            .flat_map(|channel| (0..square).rev().map(move |tap| channel * taps + tap))
            .collect();
        let weights = Gathered { lanes: theta, places: &places, steps: &steps };
        let positions = self.inputs.len();
        self.dilated_products(set, weights, output_gradient, |channel, position, lane| {
            add(&mut input_gradient[channel * positions + position], lane);
        });
    }

    /// Calls `sink` with channel, position and product of the rotated weights with each window of
    /// the dilated output gradient.
    fn dilated_products<L: Left>(
        &self,
        set: InstructionSet,
        left: L,
        (output_gradient, border): (&[Lane], &mut [Lane]),
        sink: impl FnMut(usize, usize, &Lane),
    ) {
        let Convolution { output, kernel, stride, .. } = self.layer;
        scatter_into(output_gradient, output, border, self.layer.dilated(), (kernel - 1, stride));
        let right = Gathered { lanes: border, places: &self.inputs, steps: &self.dilated_taps };
        set.run(Products { left, rows: 0..self.layer.input.channels, right, sink });
    }

    /// Calls `visit` with the index and the gradient of each weight.
    fn weight_gradients(
        &self,
        set: InstructionSet,
        (input, border): (&[Lane], &mut [Lane]),
        output_gradient: &[Lane],
        mut visit: impl FnMut(usize, &Lane),
    ) {
        let left =
            Gathered { lanes: output_gradient, places: &self.channels, steps: &self.positions };
        let right =
            Gathered { places: &self.taps, steps: &self.windows, ..self.padded(input, border) };
        let taps = self.taps.len();
        let sink = |channel: usize, tap: usize, lane: &Lane| visit(channel * taps + tap, lane);
        set.run(Products { left, rows: 0..self.channels.len(), right, sink });
    }
}

#[inline(always)]
fn add(out: &mut Lane, lane: &Lane) {
    out.iter_mut().zip(lane).for_each(|(out, value)| *out += value);
}

/// Shape of a window over some channels.
fn window(layer: &Convolution, channels: usize) -> Shape {
    Shape { channels, height: layer.kernel, width: layer.kernel }
}

/// Offsets of the values of a smaller shape within a larger one, `stride` apart.
fn places(of: Shape, within: Shape, stride: usize) -> Vec<usize> {
    let place = |at: usize| {
        let (channel, position) = (at / of.positions(), at % of.positions());
        let (row, column) = (position / of.width, position % of.width);
        channel * within.positions() + row * stride * within.width + column * stride
    };
    (0..of.len()).map(place).collect()
}

/// Copies values into a larger shape, from (offset, offset) on and `stride` apart, with zeros
/// elsewhere.
fn scatter_into(
    values: &[Lane],
    shape: Shape,
    out: &mut [Lane],
    larger: Shape,
    (offset, stride): (usize, usize),
) {
    let rows = out[..larger.len()].chunks_exact_mut(larger.width).enumerate();
    for (at, row) in rows {
        row.fill([0.0; LANES]);
        let (channel, y) = (at / larger.height, at % larger.height);
        let (y, off) = (y.wrapping_sub(offset) / stride, y.wrapping_sub(offset) % stride);
        if y < shape.height && off == 0 {
            let values = &values[(channel * shape.height + y) * shape.width..][..shape.width];
            for (out, value) in row[offset..].iter_mut().step_by(stride).zip(values) {
                *out = *value;
            }
        }
    }
}
