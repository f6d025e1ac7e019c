//! Directions that differ between the rows: what the derivative of a clipped gradient maps a
//! direction to.

use super::batch::Inputs;
use super::buffer::{Buffer, LANES, Lane};
use super::convolution::ConvolutionWork;
use super::instruction_set::{InstructionSet, kernel};
use super::linear::Direct;
use super::pointwise::{LinearSquares, clip_factor, sum_of_products};
use crate::layers::{Layer, Linear};
use crate::model::{Network, PlacedLayer};

/// The direction of the parameters of a layer along which tangents are computed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Direction<'a> {
    /// w, for all rows.
    Shared(&'a [f32]),
    /// u_b, for each row b.
    PerRow { w: &'a [f32], rows: &'a LayerDirections, factors: &'a [f32], shares: &'a [f32] },
}

/// The directions u_b = w for ‖g_b‖ ≤ C, else (C ÷ ‖g_b‖)(w − g_b⟨g_b, w⟩/‖g_b‖²), for a group of
/// rows with gradients g_b and the clipping norm C.
#[derive(Debug)]
pub(super) struct RowDirections {
    layers: Vec<LayerDirections>,
    /// Squared norm ‖g_b‖² of each gradient.
    squares: Vec<f64>,
    /// Product ⟨g_b, w⟩ of each gradient with w.
    along: Vec<f64>,
    /// Factor of each gradient, C ÷ ‖g_b‖, at most 1.
    factors: Vec<f32>,
    /// ⟨g_b, w⟩/‖g_b‖²; 0 for gradients that are not clipped.
    shares: Vec<f32>,
}

/// Directions of the parameters of one layer.
#[derive(Debug)]
pub(super) enum LayerDirections {
    /// With inputs a and output gradient δ, g_b = δ(a, 1)ᵀ, so that u_b need not be stored.
    Linear {
        slopes: Buffer,
        /// Squared norm ‖a‖² + 1 of each row's (a, 1).
        lengths: Vec<f64>,
        /// Products u_b·(a, 1) of each row.
        outputs: Buffer,
    },
    /// g_b, then u_b.
    Lanes(Buffer),
    None,
}

impl RowDirections {
    pub(super) fn new(network: &Network, group: usize) -> Self {
        let layer = |placed: &PlacedLayer| match placed.layer {
            Layer::Linear(layer) => LayerDirections::Linear {
                slopes: Buffer::new(layer.outputs * group),
                lengths: vec![0.0; group],
                outputs: Buffer::new(layer.outputs * group),
            },
            _ if placed.parameters.is_empty() => LayerDirections::None,
            _ => LayerDirections::Lanes(Buffer::new(placed.parameters.len() * LANES)),
        };
        Self {
            layers: network.layers().iter().map(layer).collect(),
            squares: Vec::with_capacity(group),
            along: Vec::with_capacity(group),
            factors: Vec::with_capacity(group),
            shares: Vec::with_capacity(group),
        }
    }

    pub(super) fn clear(&mut self, rows: usize) {
        for sums in [&mut self.squares, &mut self.along] {
            sums.clear();
            sums.resize(rows, 0.0);
        }
    }

    /// ‖g_b‖² and ⟨g_b, w⟩ of each row.
    pub(super) fn products(&self) -> impl Iterator<Item = (f64, f64)> {
        self.squares.iter().copied().zip(self.along.iter().copied())
    }

    /// Adds the gradients of a linear layer.
    pub(super) fn add_linear(
        &mut self,
        set: InstructionSet,
        (index, layer): (usize, &Linear),
        w: &[f32],
        (input, slope): (&[f32], &[f32]),
    ) {
        let LayerDirections::Linear { slopes, lengths, outputs } = &mut self.layers[index] else {
            return;
        };
        let outputs = &mut outputs.floats_mut()[..slope.len()];
        Direct(set).forward(layer, (w, &[]), Inputs::Dense(input), outputs);
        slopes.floats_mut()[..slope.len()].copy_from_slice(slope);
        let squares = &mut self.squares;
        set.run(LinearSquares { inputs: input, output_gradient: slope, squares });
        let (inputs, slopes) =
            (input.chunks_exact(layer.inputs), slope.chunks_exact(layer.outputs));
        let rows = inputs.zip(slopes).zip(outputs.chunks_exact(layer.outputs));
        for (at, ((input, slope), output)) in rows.enumerate() {
            lengths[at] = sum_of_products(input, input) + 1.0;
            self.along[at] += sum_of_products(slope, output);
        }
    }

    /// Lanes that receive the gradients of a layer; [`Self::add_lanes`] follows.
    pub(super) fn lanes_mut(&mut self, index: usize) -> &mut [Lane] {
        match &mut self.layers[index] {
            LayerDirections::Lanes(gradients) => gradients.lanes_mut(),
            _ => &mut [],
        }
    }

    /// Adds the gradients of the parameters of a layer in lanes.
    pub(super) fn add_lanes(&mut self, set: InstructionSet, index: usize, w: &[f32]) {
        if let LayerDirections::Lanes(gradients) = &self.layers[index] {
            let (squares, along) = (&mut self.squares, &mut self.along);
            set.run(LaneProducts { gradients: gradients.lanes(), w, squares, along });
        }
    }

    /// Adds the gradients of a convolution.
    pub(super) fn add_convolution(
        &mut self,
        set: InstructionSet,
        (index, work): (usize, &ConvolutionWork),
        w: &[f32],
        (input, border, slope): (&[Lane], &mut [Lane], &[Lane]),
    ) {
        work.row_gradients(set, (input, border), slope, self.lanes_mut(index));
        self.add_lanes(set, index, w);
    }

    /// Computes the directions from the gradients of all layers.
    pub(super) fn project(
        &mut self,
        set: InstructionSet,
        network: &Network,
        w: &[f32],
        clip_norm: f32,
    ) {
        self.factors.clear();
        self.shares.clear();
        for (&square, along) in self.squares.iter().zip(&self.along) {
            let factor = clip_factor(clip_norm, square.sqrt());
            self.factors.push(factor);
            self.shares.push(if factor < 1.0 { (along / square) as f32 } else { 0.0 });
        }
        let (factors, shares) = (&self.factors[..], &self.shares[..]);
        for (layer, placed) in self.layers.iter_mut().zip(network.layers()) {
            match layer {
                LayerDirections::Linear { slopes, lengths, outputs } => {
                    let (values, width) = (outputs.floats_mut(), placed.output.len());
                    let values = &mut values[..width * factors.len()];
                    subtract(values, slopes.floats(), (factors, shares), |row| lengths[row]);
                }
                LayerDirections::Lanes(gradients) => {
                    let (gradients, w) = (gradients.lanes_mut(), &w[placed.parameters.clone()]);
                    if let (Some(factors), Some(shares)) =
                        (factors.first_chunk(), shares.first_chunk())
                    {
                        set.run(Project { gradients, w, factors, shares });
                    }
                }
                LayerDirections::None => {}
            }
        }
    }

    pub(super) fn of<'a>(&'a self, index: usize, w: &'a [f32]) -> Direction<'a> {
        let (factors, shares) = (&self.factors[..], &self.shares[..]);
        Direction::PerRow { w, rows: &self.layers[index], factors, shares }
    }
}

impl LayerDirections {
    /// u_b·(a, 1) of a linear layer, for `count` outputs in all rows.
    pub(super) fn outputs(&self, count: usize) -> &[f32] {
        match self {
            LayerDirections::Linear { outputs, .. } => &outputs.floats()[..count],
            _ => &[],
        }
    }

    /// Directions of a layer in lanes.
    pub(super) fn lanes(&self) -> &[Lane] {
        match self {
            LayerDirections::Lanes(directions) => directions.lanes(),
            _ => &[],
        }
    }
}

/// values ← factor · (values − share · length · other), row by row, where `length` returns that
/// of a row.
pub(super) fn subtract(
    values: &mut [f32],
    other: &[f32],
    (factors, shares): (&[f32], &[f32]),
    length: impl Fn(usize) -> f64,
) {
    let width = values.len() / factors.len();
    let rows = values.chunks_exact_mut(width).zip(other.chunks_exact(width));
    for (row, (values, other)) in rows.enumerate() {
        let factor = factors[row];
        let share = (f64::from(shares[row]) * length(row)) as f32;
        for (value, other) in values.iter_mut().zip(other) {
            *value = factor * (*value - share * other);
        }
    }
}

kernel! {
    /// Adds ‖g‖² and ⟨g, w⟩ per example: blocks are summed in f32, their sums in f64.
    LaneProducts {
        gradients: &'a [Lane],
        w: &'a [f32],
        squares: &'a mut [f64],
        along: &'a mut [f64],
    } => {
        for (gradients, w) in gradients.chunks(64).zip(w.chunks(64)) {
            let (mut of_squares, mut of_products) = ([0.0_f32; LANES], [0.0_f32; LANES]);
            for (lane, &w) in gradients.iter().zip(w) {
                for at in 0..LANES {
                    of_squares[at] += lane[at] * lane[at];
                    of_products[at] += lane[at] * w;
                }
            }
            for (sums, parts) in [(&mut *squares, of_squares), (&mut *along, of_products)] {
                for (sum, part) in sums.iter_mut().zip(parts) {
                    *sum += f64::from(part);
                }
            }
        }
    }
}

kernel! {
    /// g ← factor · (w − share · g), lane by lane.
    Project { gradients: &'a mut [Lane], w: &'a [f32], factors: &'a Lane, shares: &'a Lane } => {
        for (lane, &w) in gradients.iter_mut().zip(w) {
            for at in 0..LANES {
                lane[at] = factors[at] * (w - shares[at] * lane[at]);
            }
        }
    }
}
