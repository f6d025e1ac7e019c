//! Scratch memory of a batch, and what flows through it.

use super::buffer::{Buffer, LANES, Lane, lanes, lanes_mut, lanes_to_rows, rows_to_lanes};
use super::convolution::ConvolutionWork;
use super::instruction_set::InstructionSet;
use super::linear;
use super::plan::{Layout, NormMethod, Sizes, layouts};
use super::pointwise::{LinearSquares, LossSlopes, Tanh, TanhSlopes, relu, relu_slopes};
use super::pooling::{Average, AverageSlopes, Maximum, MaximumSlopes};
use crate::layers::Layer;
use crate::model::{Network, PlacedLayer};

/// All scratch memory of a network, so that a step of training asks for none. One a thread.
#[derive(Debug)]
pub struct Workspace {
    pub(super) network: Network,
    pub(super) group: usize,
    set: InstructionSet,
    layouts: Vec<Layout>,
    stages: Vec<Stage>,
    /// What comes into each layer, and the logits.
    values: Vec<Buffer>,
    /// Slopes by one of them, and room for the next.
    slopes: [Buffer; 2],
    border: Buffer,
    squares: Vec<f64>,
    factors: Vec<f32>,
}

/// A layer's own memory.
#[derive(Debug)]
enum Stage {
    /// Slopes by its outputs.
    Linear(Buffer),
    Convolution(Box<ConvolutionWork>),
    Plain,
}

impl Workspace {
    /// Memory for batches of `most_rows` rows; more are worked on in parts.
    #[must_use]
    pub fn new(network: &Network, most_rows: usize) -> Self {
        Self::with_norm_method(network, most_rows, None)
    }

    /// As `new`, with the same [`NormMethod`] for all convolutions.
    #[must_use]
    pub fn with_norm_method(
        network: &Network,
        most_rows: usize,
        route: Option<NormMethod>,
    ) -> Self {
        let sizes = Sizes::new(network, most_rows);
        let stage = |placed: &PlacedLayer| match placed.layer {
            Layer::Linear(layer) => Stage::Linear(Buffer::new(layer.outputs * sizes.group)),
            Layer::Convolution(layer) => {
                Stage::Convolution(Box::new(ConvolutionWork::new(layer, route)))
            }
            _ => Stage::Plain,
        };
        Self {
            network: network.clone(),
            group: sizes.group,
            set: InstructionSet::detect(),
            layouts: layouts(network),
            stages: network.layers().iter().map(stage).collect(),
            values: sizes.values.iter().map(|&floats| Buffer::new(floats)).collect(),
            slopes: [Buffer::new(sizes.slopes), Buffer::new(sizes.slopes)],
            border: Buffer::new(sizes.border),
            squares: Vec::with_capacity(sizes.group),
            factors: Vec::with_capacity(sizes.group),
        }
    }

    /// Bytes that [`Workspace::new`] asks for.
    #[must_use]
    pub fn bytes(network: &Network, most_rows: usize) -> usize {
        Sizes::new(network, most_rows).bytes(network, None)
    }

    /// Takes what convolutions need of new parameters.
    pub(super) fn prepare(&mut self, theta: &[f32]) {
        for (stage, placed) in self.stages.iter_mut().zip(self.network.layers()) {
            if let Stage::Convolution(work) = stage {
                work.prepare(&theta[placed.parameters.clone()]);
            }
        }
    }

    fn in_lanes(&self) -> bool {
        self.layouts.contains(&Layout::Lanes)
    }

    /// Rows that are worked on for `rows` rows: lanes are always all filled.
    fn filled(&self, rows: usize) -> usize {
        if self.in_lanes() { LANES } else { rows }
    }

    /// From examples to logits.
    pub(super) fn forward(&mut self, theta: &[f32], examples: &[f32]) {
        if self.in_lanes() {
            self.take_in(examples);
        }
        let filled = self.filled(examples.len() / self.network.inputs());
        for (index, placed) in self.network.layers().iter().enumerate() {
            let (before, after) = self.values.split_at_mut(index + 1);
            let input = input(before, &self.layouts, examples, index);
            let values = placed.output.len();
            let turns = self.layouts[index] != self.layouts[index + 1];
            let [turned, _] = &mut self.slopes;
            let output = if turns { &mut *turned } else { &mut after[0] };
            let theta = &theta[placed.parameters.clone()];
            let output = &mut output.floats_mut()[..values * filled];
            let border = &mut self.border;
            forward(self.set, (&placed.layer, &self.stages[index]), theta, (input, border), output);
            if turns {
                turn(self.layouts[index], values, turned, &mut after[0]);
            }
        }
    }

    /// Copies examples to where the first layer finds them.
    fn take_in(&mut self, examples: &[f32]) {
        let inputs = self.network.inputs();
        let [lanes, _] = &mut self.slopes;
        match self.layouts[0] {
            Layout::Lanes => rows_to_lanes(examples, inputs, self.values[0].lanes_mut()),
            Layout::Rows => {
                rows_to_lanes(examples, inputs, lanes.lanes_mut());
                turn(Layout::Lanes, inputs, lanes, &mut self.values[0]);
            }
        }
    }

    /// From the logits down: squared norms, and what [`Workspace::accumulate`] needs.
    pub(super) fn backward(&mut self, theta: &[f32], examples: &[f32], labels: &[u32]) {
        let filled = self.filled(labels.len());
        let classes = self.network.classes();
        let [slopes, room] = &mut self.slopes;
        let (mut slopes, mut room) = (slopes, room);
        let floats = slopes.floats_mut();
        floats[..filled * classes].fill(0.0);
        let logits = self.values.last().map_or(&[][..], Buffer::floats);
        let logits = &logits[..labels.len() * classes];
        self.set.run(LossSlopes { logits, labels, classes, slopes: floats });
        self.squares.clear();
        self.squares.resize(filled, 0.0);
        let layers = self.network.layers();
        let lowest = layers.iter().position(|placed| !placed.parameters.is_empty()).unwrap_or(0);
        for (index, placed) in layers.iter().enumerate().skip(lowest).rev() {
            let outputs = placed.output.len();
            if self.layouts[index] != self.layouts[index + 1] {
                turn(self.layouts[index + 1], outputs, slopes, room);
                std::mem::swap(&mut slopes, &mut room);
            }
            let output = &self.values[index + 1].floats();
            let input = input(&self.values, &self.layouts, examples, index);
            let theta = &theta[placed.parameters.clone()];
            let own = &mut slopes.floats_mut()[..outputs * filled];
            match &placed.layer {
                Layer::Tanh => self.set.run(TanhSlopes { output, slopes: own }),
                Layer::Relu => relu_slopes(output, own),
                _ => {
                    let border = self.border.lanes_mut();
                    let below = (index > lowest).then(|| room.floats_mut());
                    let stage = (&placed.layer, &mut self.stages[index]);
                    let squares = &mut self.squares;
                    backward(self.set, stage, theta, (input, border), own, (squares, below));
                    std::mem::swap(&mut slopes, &mut room);
                }
            }
        }
    }

    /// Adds the norms, and finds each example's factor: min(1, `clip_norm` ÷ norm), where the
    /// quotient is rounded down by 2⁻¹⁸ so that no rounding lifts a clipped gradient above
    /// `clip_norm`. A norm that is not finite has no factor: NaN.
    pub(super) fn clip(&mut self, clip_norm: f32, rows: usize, norms: &mut Vec<f32>) {
        const DOWN: f64 = 1.0 - 1.0 / 262_144.0;
        self.factors.clear();
        for square in &self.squares[..rows] {
            let norm = if *square < 0.0 { 0.0 } else { square.sqrt() };
            norms.push(norm as f32);
            let quotient = DOWN * f64::from(clip_norm) / norm;
            let factor = if quotient > 1.0 { 1.0 } else { quotient };
            self.factors.push(if norm.is_finite() { factor as f32 } else { f32::NAN });
        }
        self.factors.resize(self.squares.len(), 0.0);
    }

    /// Adds Σ factor · gradient.
    pub(super) fn accumulate(&mut self, examples: &[f32], out: &mut [f32]) {
        for (index, placed) in self.network.layers().iter().enumerate() {
            let out = &mut out[placed.parameters.clone()];
            let input = input(&self.values, &self.layouts, examples, index);
            match (&placed.layer, &mut self.stages[index]) {
                (Layer::Linear(layer), Stage::Linear(slopes)) => {
                    let slopes = &mut slopes.floats_mut()[..layer.outputs * self.factors.len()];
                    linear::accumulate(layer, input, slopes, &self.factors, out);
                }
                (_, Stage::Convolution(work)) => {
                    let mut factors = [0.0; LANES];
                    factors.copy_from_slice(&self.factors);
                    let border = self.border.lanes_mut();
                    work.accumulate(self.set, (lanes(input), border), &factors, out);
                }
                _ => {}
            }
        }
    }

    /// The logits of the first rows.
    pub(super) fn logits(&self, rows: usize) -> &[f32] {
        let logits = self.values.last().map_or(&[][..], Buffer::floats);
        &logits[..rows * self.network.classes()]
    }
}

/// What comes into a layer: where no layer has lanes, the examples are used where they are.
fn input<'a>(
    values: &'a [Buffer],
    layouts: &[Layout],
    examples: &'a [f32],
    index: usize,
) -> &'a [f32] {
    if index == 0 && !layouts.contains(&Layout::Lanes) { examples } else { values[index].floats() }
}

/// One layer forward.
fn forward(
    set: InstructionSet,
    (layer, stage): (&Layer, &Stage),
    theta: &[f32],
    (input, border): (&[f32], &mut Buffer),
    output: &mut [f32],
) {
    match (layer, stage) {
        (Layer::Linear(layer), _) => linear::forward(layer, theta, input, output),
        (Layer::Convolution(_), Stage::Convolution(work)) => {
            let input = (lanes(input), border.lanes_mut());
            work.forward(set, theta, input, lanes_mut(output));
        }
        (Layer::Tanh, _) => set.run(Tanh { input, output }),
        (Layer::Relu, _) => relu(input, output),
        (Layer::AveragePool(pool), _) => {
            set.run(Average { pool, input: lanes(input), output: lanes_mut(output) });
        }
        (Layer::MaxPool(pool), _) => {
            set.run(Maximum { pool, input: lanes(input), output: lanes_mut(output) });
        }
        (Layer::Convolution(_), _) => {}
    }
}

/// One layer backward, elementwise ones aside: its squared norms and, where `below` is asked for,
/// the slopes by its inputs.
fn backward(
    set: InstructionSet,
    (layer, stage): (&Layer, &mut Stage),
    theta: &[f32],
    (input, border): (&[f32], &mut [Lane]),
    slopes: &mut [f32],
    (squares, below): (&mut [f64], Option<&mut [f32]>),
) {
    match (layer, stage) {
        (Layer::Linear(layer), Stage::Linear(kept)) => {
            let inputs = &input[..layer.inputs * squares.len()];
            kept.floats_mut()[..slopes.len()].copy_from_slice(slopes);
            set.run(LinearSquares { inputs, slopes, squares });
            if let Some(below) = below {
                linear::input_slopes(layer, theta, slopes, below);
            }
        }
        (_, Stage::Convolution(work)) => {
            work.add_squares(set, (lanes(input), border), lanes(slopes), squares);
            if let Some(below) = below {
                work.input_slopes(set, (lanes(slopes), border), lanes_mut(below));
            }
        }
        (Layer::AveragePool(pool), _) => {
            if let Some(below) = below {
                let (slopes, input_slopes) = (lanes(slopes), lanes_mut(below));
                set.run(AverageSlopes { pool, slopes, input_slopes });
            }
        }
        (Layer::MaxPool(pool), _) => {
            if let Some(below) = below {
                let (slopes, input_slopes) = (lanes(slopes), lanes_mut(below));
                set.run(MaximumSlopes { pool, input: lanes(input), slopes, input_slopes });
            }
        }
        _ => {}
    }
}

/// Values in the other layout than `from`.
fn turn(from: Layout, values: usize, input: &Buffer, output: &mut Buffer) {
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

    fn held(work: &Workspace) -> usize {
        let stages = work.stages.iter().map(|stage| match stage {
            Stage::Linear(slopes) => slopes.held(),
            Stage::Convolution(work) => work.held(),
            Stage::Plain => 0,
        });
        let buffers = work.values.iter().chain(&work.slopes).chain([&work.border]);
        let rows = work.squares.capacity() * 8 + work.factors.capacity() * 4;
        stages.chain(buffers.map(Buffer::held)).sum::<usize>() + rows
    }

    #[test]
    fn memory_is_as_announced_and_does_not_grow() {
        for spec in [ModelSpec::mlp(), ModelSpec::lenet(), ModelSpec::cnn()] {
            let network = Network::new(&spec).unwrap();
            for most_rows in [0, 1, 100, 1000] {
                let mut work = Workspace::new(&network, most_rows);
                assert_eq!(Workspace::bytes(&network, most_rows), held(&work), "{spec:?}");
                let (mut out, mut norms) = (vec![0.0; network.parameters()], Vec::new());
                let examples = vec![0.5; 20 * network.inputs()];
                let rows = Rows { examples: &examples, labels: &[1; 20] };
                network.clipped_sum(&out.clone(), rows, 1.0, &mut work, &mut out, &mut norms);
                assert_eq!(Workspace::bytes(&network, most_rows), held(&work), "{spec:?}");
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
