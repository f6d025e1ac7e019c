//! Scratch memory for a batch, and the forward and backward pass.

use std::marker::PhantomData;

use super::buffer::{Buffer, LANES, Lane, lanes, lanes_mut, lanes_to_rows, rows_to_lanes};
use super::convolution::ConvolutionWork;
use super::forward;
use super::group_norm::{NormalizeGradient, Numbers};
use super::instruction_set::InstructionSet;
use super::lane_sums::{AddTotals, Squares};
use super::linear;
use super::norm_method::NormMethod;
use super::plan::{Layout, Sizes, layouts};
use super::pointwise::{LinearSquares, LossGradient, Pull, clip_factor};
use super::pooling::{AverageGradient, MaximumGradient};
use crate::layers::{Layer, with_function};
use crate::model::{Network, PlacedLayer};

/// Scratch memory for one network and one thread; training steps allocate nothing else.
#[derive(Debug)]
pub struct Workspace {
    pub(super) network: Network,
    pub(super) group: usize,
    set: InstructionSet,
    layouts: Vec<Layout>,
    layer_memory: Vec<LayerMemory>,
    /// Input of each layer, and the logits.
    values: Vec<Buffer>,
    /// Gradient with respect to one of them, and space for the next.
    gradients: [Buffer; 2],
    border: Buffer,
    squares: Vec<f64>,
    factors: Vec<f32>,
}

/// Memory of a single layer.
#[derive(Debug)]
enum LayerMemory {
    /// Gradient with respect to the outputs.
    Linear(Buffer),
    Convolution(Box<ConvolutionWork>),
    /// Gradients of the parameters.
    GroupNorm(Buffer),
    None,
}

impl Workspace {
    /// Allocates memory for batches of `max_rows` rows; larger batches are processed in parts.
    #[must_use]
    pub fn new(network: &Network, max_rows: usize) -> Self {
        Self::with_norm_method(network, max_rows, None)
    }

    /// Same as [`Workspace::new`], with one [`NormMethod`] for all convolutions.
    #[must_use]
    pub fn with_norm_method(
        network: &Network,
        max_rows: usize,
        norm_method: Option<NormMethod>,
    ) -> Self {
        let sizes = Sizes::new(network, max_rows);
        let layer_memory = |placed: &PlacedLayer| match placed.layer {
            Layer::Linear(layer) => LayerMemory::Linear(Buffer::new(layer.outputs * sizes.group)),
            Layer::Convolution(layer) => {
                LayerMemory::Convolution(Box::new(ConvolutionWork::new(layer, norm_method)))
            }
            Layer::GroupNorm(layer) => {
                LayerMemory::GroupNorm(Buffer::new(layer.parameters() * LANES))
            }
            _ => LayerMemory::None,
        };
        Self {
            network: network.clone(),
            group: sizes.group,
            set: InstructionSet::detect(),
            layouts: layouts(network),
            layer_memory: network.layers().iter().map(layer_memory).collect(),
            values: sizes.values.iter().map(|&floats| Buffer::new(floats)).collect(),
            gradients: [Buffer::new(sizes.gradients), Buffer::new(sizes.gradients)],
            border: Buffer::new(sizes.border),
            squares: Vec::with_capacity(sizes.group),
            factors: Vec::with_capacity(sizes.group),
        }
    }

    /// Prepares convolutions for new parameters.
    pub(super) fn prepare(&mut self, theta: &[f32]) {
        for (memory, placed) in self.layer_memory.iter_mut().zip(self.network.layers()) {
            if let LayerMemory::Convolution(work) = memory {
                work.prepare(&theta[placed.parameters.clone()]);
            }
        }
    }

    fn uses_lanes(&self) -> bool {
        self.layouts.contains(&Layout::Lanes)
    }

    /// Number of rows processed for `rows` rows: lanes are always filled completely.
    fn processed_rows(&self, rows: usize) -> usize {
        if self.uses_lanes() { LANES } else { rows }
    }

    /// Forward pass, from examples to logits.
    pub(super) fn forward(&mut self, theta: &[f32], examples: &[f32]) {
        if self.uses_lanes() {
            self.load_examples(examples);
        }
        let processed = self.processed_rows(examples.len() / self.network.inputs());
        for (index, placed) in self.network.layers().iter().enumerate() {
            let (before, after) = self.values.split_at_mut(index + 1);
            let input = input(before, &self.layouts, examples, index);
            let values = placed.output.len();
            let changes_layout = self.layouts[index] != self.layouts[index + 1];
            let [converted, _] = &mut self.gradients;
            let output = if changes_layout { &mut *converted } else { &mut after[0] };
            let theta = &theta[placed.parameters.clone()];
            let output = &mut output.floats_mut()[..values * processed];
            let work = match &self.layer_memory[index] {
                LayerMemory::Convolution(work) => Some(&**work),
                _ => None,
            };
            let layer = (&placed.layer, work);
            forward::values(self.set, layer, theta, (input, &mut self.border), output);
            if changes_layout {
                convert_layout(self.layouts[index], values, converted, &mut after[0]);
            }
        }
    }

    /// Copies examples to the input of the first layer.
    fn load_examples(&mut self, examples: &[f32]) {
        let inputs = self.network.inputs();
        let [lanes, _] = &mut self.gradients;
        match self.layouts[0] {
            Layout::Lanes => rows_to_lanes(examples, inputs, self.values[0].lanes_mut()),
            Layout::Rows => {
                rows_to_lanes(examples, inputs, lanes.lanes_mut());
                convert_layout(Layout::Lanes, inputs, lanes, &mut self.values[0]);
            }
        }
    }

    /// Backward pass: computes squared norms and saves the input of [`Workspace::accumulate`].
    pub(super) fn backward(&mut self, theta: &[f32], examples: &[f32], labels: &[u32]) {
        let processed = self.processed_rows(labels.len());
        let classes = self.network.classes();
        let [output_gradient, room] = &mut self.gradients;
        let (mut output_gradient, mut room) = (output_gradient, room);
        let floats = output_gradient.padded_mut();
        let logits = self.values.last().map_or(&[][..], Buffer::padded);
        self.set.run(LossGradient { logits, labels, classes, output_gradient: floats });
        floats[labels.len() * classes..processed * classes].fill(0.0);
        self.squares.clear();
        self.squares.resize(processed, 0.0);
        let layers = self.network.layers();
        let lowest = layers.iter().position(|placed| !placed.parameters.is_empty()).unwrap_or(0);
        for (index, placed) in layers.iter().enumerate().skip(lowest).rev() {
            let outputs = placed.output.len();
            if self.layouts[index] != self.layouts[index + 1] {
                convert_layout(self.layouts[index + 1], outputs, output_gradient, room);
                std::mem::swap(&mut output_gradient, &mut room);
            }
            let output = &self.values[index + 1].floats();
            let input = input(&self.values, &self.layouts, examples, index);
            let theta = &theta[placed.parameters.clone()];
            let own = &mut output_gradient.floats_mut()[..outputs * processed];
            match &placed.layer {
                Layer::Elementwise(function) => with_function!(*function, function => {
                    self.set.run(Pull { function, input, output, output_gradient: own });
                }),
                _ => {
                    let border = self.border.lanes_mut();
                    let below = (index > lowest).then(|| room.floats_mut());
                    let layer = (&placed.layer, &mut self.layer_memory[index]);
                    let squares = &mut self.squares;
                    backward(self.set, layer, theta, (input, border), own, (squares, below));
                    std::mem::swap(&mut output_gradient, &mut room);
                }
            }
        }
    }

    /// Appends the norms and computes the clipping factor of each example.
    pub(super) fn clip(&mut self, clip_norm: f32, rows: usize, norms: &mut Vec<f32>) {
        self.factors.clear();
        for square in &self.squares[..rows] {
            let norm = if *square < 0.0 { 0.0 } else { square.sqrt() };
            norms.push(norm as f32);
            self.factors.push(clip_factor(clip_norm, norm));
        }
        self.factors.resize(self.squares.len(), 0.0);
    }

    /// Adds Σ factor · gradient over the examples.
    pub(super) fn accumulate(&mut self, examples: &[f32], out: &mut [f32]) {
        for (index, placed) in self.network.layers().iter().enumerate() {
            let out = &mut out[placed.parameters.clone()];
            let input = input(&self.values, &self.layouts, examples, index);
            match (&placed.layer, &mut self.layer_memory[index]) {
                (Layer::Linear(layer), LayerMemory::Linear(output_gradient)) => {
                    let output_gradient =
                        &mut output_gradient.floats_mut()[..layer.outputs * self.factors.len()];
                    linear::accumulate(layer, input, output_gradient, &self.factors, out);
                }
                (_, LayerMemory::Convolution(work)) => {
                    let mut factors = [0.0; LANES];
                    factors.copy_from_slice(&self.factors);
                    let border = self.border.lanes_mut();
                    work.accumulate(self.set, (lanes(input), border), &factors, out);
                }
                (_, LayerMemory::GroupNorm(gradients)) => {
                    let mut factors = [0.0; LANES];
                    factors.copy_from_slice(&self.factors);
                    self.set.run(AddTotals { lanes: gradients.lanes(), factors: &factors, out });
                }
                _ => {}
            }
        }
    }

    /// Logits of the first rows.
    pub(super) fn logits(&self, rows: usize) -> &[f32] {
        let logits = self.values.last().map_or(&[][..], Buffer::floats);
        &logits[..rows * self.network.classes()]
    }
}

/// Input of a layer. If no layer uses lanes, the first reads the examples in place.
fn input<'a>(
    values: &'a [Buffer],
    layouts: &[Layout],
    examples: &'a [f32],
    index: usize,
) -> &'a [f32] {
    if index == 0 && !layouts.contains(&Layout::Lanes) { examples } else { values[index].floats() }
}

/// Backward pass of one layer, elementwise layers excepted: adds squared norms and, if `below` is
/// given, computes the gradient with respect to the inputs.
fn backward(
    set: InstructionSet,
    (layer, memory): (&Layer, &mut LayerMemory),
    theta: &[f32],
    (input, border): (&[f32], &mut [Lane]),
    output_gradient: &mut [f32],
    (squares, below): (&mut [f64], Option<&mut [f32]>),
) {
    match (layer, memory) {
        (Layer::Linear(layer), LayerMemory::Linear(saved)) => {
            let inputs = &input[..layer.inputs * squares.len()];
            saved.floats_mut()[..output_gradient.len()].copy_from_slice(output_gradient);
            set.run(LinearSquares { inputs, output_gradient, squares });
            if let Some(below) = below {
                linear::input_gradient(layer, theta, output_gradient, below);
            }
        }
        (_, LayerMemory::Convolution(work)) => {
            work.add_squares(set, (lanes(input), border), lanes(output_gradient), squares);
            if let Some(below) = below {
                work.input_gradient(set, (lanes(output_gradient), border), lanes_mut(below));
            }
        }
        (Layer::GroupNorm(layer), LayerMemory::GroupNorm(saved)) => {
            set.run(NormalizeGradient::<Numbers> {
                layer,
                theta,
                direction: None,
                input: [lanes(input), &[]],
                output_gradient: [lanes(output_gradient), &[]],
                gradient: saved.lanes_mut(),
                input_gradient: below.map(|below| [lanes_mut(below), &mut []]),
                numbers: PhantomData,
            });
            let mut sum = Squares::new(squares);
            saved.lanes()[..layer.parameters()].iter().for_each(|lane| sum.add(lane));
            sum.finish();
        }
        (Layer::AveragePool(pool), _) => {
            if let Some(below) = below {
                let (output_gradient, input_gradient) = (lanes(output_gradient), lanes_mut(below));
                set.run(AverageGradient { pool, output_gradient, input_gradient });
            }
        }
        (Layer::MaxPool(pool), _) => {
            if let Some(below) = below {
                let (output_gradient, input_gradient) = (lanes(output_gradient), lanes_mut(below));
                set.run(MaximumGradient {
                    pool,
                    input: lanes(input),
                    output_gradient,
                    input_gradient,
                });
            }
        }
        _ => {}
    }
}

/// Converts values to the other layout.
fn convert_layout(from: Layout, values: usize, input: &Buffer, output: &mut Buffer) {
    let floats = values * LANES;
    match from {
        Layout::Rows => rows_to_lanes(&input.floats()[..floats], values, output.lanes_mut()),
        Layout::Lanes => lanes_to_rows(input.lanes(), values, &mut output.floats_mut()[..floats]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradient::Rows;
    use crate::model::ModelSpec;

    fn allocated_bytes(work: &Workspace) -> usize {
        let layers = work.layer_memory.iter().map(|memory| match memory {
            LayerMemory::Linear(output_gradient) => output_gradient.allocated_bytes(),
            LayerMemory::Convolution(work) => work.allocated_bytes(),
            LayerMemory::GroupNorm(gradients) => gradients.allocated_bytes(),
            LayerMemory::None => 0,
        });
        let buffers = work.values.iter().chain(&work.gradients).chain([&work.border]);
        let rows = work.squares.capacity() * 8 + work.factors.capacity() * 4;
        layers.chain(buffers.map(Buffer::allocated_bytes)).sum::<usize>() + rows
    }

    #[test]
    fn memory_does_not_grow() {
        for spec in [ModelSpec::mlp(), ModelSpec::lenet(), ModelSpec::cnn()] {
            let network = Network::new(&spec).unwrap();
            for max_rows in [0, 1, 100, 1000] {
                let mut work = Workspace::new(&network, max_rows);
                let before = allocated_bytes(&work);
                let (mut out, mut norms) = (vec![0.0; network.parameters()], Vec::new());
                let examples = vec![0.5; 20 * network.inputs()];
                let rows = Rows { examples: &examples, labels: &[1; 20] };
                network.clipped_sum(&out.clone(), rows, 1.0, &mut work, &mut out, &mut norms);
                assert_eq!(allocated_bytes(&work), before, "{spec:?}");
            }
        }
    }

    #[test]
    fn instruction_sets_agree() {
        for spec in [ModelSpec::mlp(), ModelSpec::lenet()] {
            let network = Network::new(&spec).unwrap();
            let mut turn = 0_u32;
            let mut uniform = || {
                turn = turn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f64::from(turn) / f64::from(u32::MAX)
            };
            let theta = network.initial(&mut uniform);
            let examples: Vec<f32> = (0..20 * network.inputs()).map(|_| uniform() as f32).collect();
            let rows = Rows { examples: &examples, labels: &[1; 20] };
            let sums = InstructionSet::available().into_iter().map(|set| {
                let mut work = Workspace { set, ..Workspace::new(&network, 20) };
                let (mut out, mut norms) = (vec![0.0; theta.len()], Vec::new());
                network.clipped_sum(&theta, rows, 1.0, &mut work, &mut out, &mut norms);
                out
            });
            let sums: Vec<Vec<f32>> = sums.collect();
            for sum in &sums {
                let pairs = sum.iter().zip(&sums[0]);
                let square: f32 = pairs.map(|(left, right)| (left - right) * (left - right)).sum();
                assert!(square.sqrt() < 1e-5, "{square}");
                assert!(sum.iter().any(|&value| value != 0.0));
            }
        }
    }
}
