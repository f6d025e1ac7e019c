//! Gradients of a batch and products with its Hessian: one pass on values, or on values and
//! tangents. A weighted layer is bilinear, so its tangent is the layer applied twice, to (w, a) and
//! to (θ, ȧ).

use std::ops::Range;

use super::backward::{BackwardPass, Gradients};
use super::buffer::{Buffer, LANES, lanes_to_rows, rows_to_lanes};
use super::convolution::ConvolutionWork;
use super::forward::{self, TangentPass};
use super::instruction_set::InstructionSet;
use super::linear::Direct;
use super::norm_method::NormMethod;
use super::plan::{Layout, layouts};
use super::pointwise::{LossGradient, LossGradientTangent};
use super::row_directions::{Direction, RowDirections};
use crate::layers::{Layer, loss};
use crate::model::Network;

/// Rows per group of a network without lanes.
const ROWS: usize = 80;

/// Values of every layer for one group of rows; index 0 is the input.
#[derive(Debug)]
struct Plane {
    values: Vec<Buffer>,
    /// Gradients with respect to them.
    slopes: Vec<Buffer>,
    /// Weights in the order of the backward pass.
    convolutions: Vec<Option<ConvolutionWork>>,
}

/// Scratch memory for one network and one thread.
#[derive(Debug)]
pub(crate) struct SecondOrderWorkspace {
    network: Network,
    set: InstructionSet,
    layouts: Vec<Layout>,
    /// Maximum number of rows per group.
    group: usize,
    /// Rows that the current group takes: lanes are always filled completely.
    processed: usize,
    /// The first layer with parameters.
    lowest: usize,
    primal: Plane,
    tangent: Plane,
    /// Values and tangents in the other layout.
    converted: [Buffer; 2],
    border: Buffer,
    row_directions: Option<RowDirections>,
    /// Factors of the losses in a step.
    factors: Vec<f64>,
}

/// The pass that one group of rows takes.
#[derive(Clone, Copy)]
struct Pass<'a> {
    theta: &'a [f32],
    /// Direction w of the tangents, and the directions of the rows if they differ.
    direction: Option<(&'a [f32], Option<&'a RowDirections>)>,
    examples: &'a [f32],
    labels: &'a [u32],
    /// Factors of the losses; 1 if empty.
    weights: &'a [f64],
    needs_input_gradient: bool,
}

impl<'a> Pass<'a> {
    /// Direction of the parameters of a layer.
    fn direction(&self, index: usize, parameters: Range<usize>) -> Option<Direction<'a>> {
        self.direction.map(|(w, rows)| match rows {
            Some(rows) => rows.of(index, &w[parameters]),
            None => Direction::Shared(&w[parameters]),
        })
    }

    /// The examples, where a layer reads them as they are; they are copied for lanes.
    fn input(&self, index: usize, group: usize) -> Option<&'a [f32]> {
        (index == 0 && group == ROWS).then_some(self.examples)
    }

    /// Whether values and gradients are known, and only their tangents are missing.
    fn has_values(&self) -> bool {
        matches!(self.direction, Some((_, Some(_))))
    }
}

impl SecondOrderWorkspace {
    pub(crate) fn new(network: &Network) -> Self {
        let sizes = std::iter::once(network.inputs())
            .chain(network.layers().iter().map(|placed| placed.output.len()));
        let layouts = layouts(network);
        let group = if layouts.contains(&Layout::Lanes) { LANES } else { ROWS };
        let sizes: Vec<usize> = sizes.map(|values| values * group).collect();
        let buffers = || sizes.iter().map(|&floats| Buffer::new(floats)).collect::<Vec<_>>();
        let plane = || Plane {
            values: buffers(),
            slopes: buffers(),
            convolutions: network
                .layers()
                .iter()
                .map(|placed| match placed.layer {
                    // The other method stores per-example gradients.
                    Layer::Convolution(layer) => {
                        Some(ConvolutionWork::new(layer, Some(NormMethod::Gram)))
                    }
                    _ => None,
                })
                .collect(),
        };
        let bordered = network.layers().iter().map(|placed| match &placed.layer {
            Layer::Convolution(layer) => layer.padded().len().max(layer.dilated().len()) * LANES,
            _ => 0,
        });
        let with_parameters = |placed: &crate::model::PlacedLayer| !placed.parameters.is_empty();
        Self {
            set: InstructionSet::detect(),
            layouts,
            group,
            processed: group,
            lowest: network.layers().iter().position(with_parameters).unwrap_or(0),
            primal: plane(),
            tangent: plane(),
            converted: [(); 2].map(|()| Buffer::new(sizes.iter().copied().max().unwrap_or(0))),
            border: Buffer::new(bordered.max().unwrap_or(0)),
            row_directions: None,
            factors: Vec::new(),
            network: network.clone(),
        }
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    /// out = Σ weight · gradient over the rows, and, unless it is empty, weight · gradient with
    /// respect to each example, into `inputs`; returns Σ weight · loss. Without weights they are 1,
    /// and 0 is returned.
    pub(crate) fn gradient(
        &mut self,
        theta: &[f32],
        (examples, labels): (&[f32], &[u32]),
        weights: &[f64],
        out: &mut [f32],
        inputs: &mut [f32],
    ) -> f64 {
        out.fill(0.0);
        prepare(&mut self.primal, &self.network, theta);
        let (count, mut objective) = (self.network.inputs(), 0.0);
        for first in (0..labels.len()).step_by(self.group) {
            let end = (first + self.group).min(labels.len());
            let pass = Pass {
                theta,
                direction: None,
                examples: &examples[first * count..end * count],
                labels: &labels[first..end],
                weights: if weights.is_empty() { &[] } else { &weights[first..end] },
                needs_input_gradient: !inputs.is_empty(),
            };
            objective += self.run(pass, &mut Gradients::Sum(out));
            if pass.needs_input_gradient {
                let out = &mut inputs[first * count..end * count];
                input_rows(self.layouts[0], &self.primal.slopes[0], count, out);
            }
        }
        objective
    }

    /// A step of gradient descent: θ −= rate · Σ gradient over the rows; `scratch` is as long as θ.
    pub(crate) fn descend(
        &mut self,
        theta: &mut [f32],
        rows: (&[f32], &[u32]),
        rate: f32,
        scratch: &mut [f32],
    ) {
        let (examples, labels) = rows;
        if labels.len() > self.group {
            self.gradient(theta, rows, &[], scratch, &mut []);
            let entries = theta.iter_mut().zip(scratch);
            return entries.for_each(|(theta, sum)| *theta -= rate * *sum);
        }
        prepare(&mut self.primal, &self.network, theta);
        let mut factors = std::mem::take(&mut self.factors);
        factors.clear();
        factors.resize(labels.len(), -f64::from(rate));
        let weights = &factors[..];
        let (direction, needs_input_gradient) = (None, false);
        self.evaluate(&Pass { theta, direction, examples, labels, weights, needs_input_gradient });
        // the lowest layer passes nothing on, so that its weights are not read again
        let lowest = self.network.layers().get(self.lowest);
        let above = lowest.map_or(0, |placed| placed.parameters.end);
        scratch[above..].copy_from_slice(&theta[above..]);
        let pass =
            Pass { theta: scratch, direction, examples, labels, weights, needs_input_gradient };
        self.propagate(&pass, &mut Gradients::Sum(theta));
        self.factors = factors;
    }

    /// `out` = Σ Hessian · direction over the rows; `cross` receives, for each of the first
    /// examples, the tangent along the direction of the gradient with respect to it. With a
    /// clipping norm, the derivative of clipping, which is symmetric, maps the direction first.
    pub(crate) fn product(
        &mut self,
        (theta, direction): (&[f32], &[f32]),
        (examples, labels): (&[f32], &[u32]),
        clip_norm: Option<f32>,
        out: &mut [f32],
        cross: &mut [f32],
    ) {
        out.fill(0.0);
        prepare(&mut self.primal, &self.network, theta);
        prepare(&mut self.tangent, &self.network, direction);
        let count = self.network.inputs();
        // Only the rows of `cross` need the gradient with respect to the examples.
        let (canaries, mut first) = (cross.len() / count, 0);
        while first < labels.len() {
            let mut end = (first + self.group).min(labels.len());
            if self.group == ROWS && first < canaries {
                end = end.min(canaries);
            }
            let cross = cross.get_mut(first * count..).unwrap_or_default();
            let wanted = cross.len().min((end - first) * count);
            let pass = Pass {
                theta,
                direction: Some((direction, None)),
                examples: &examples[first * count..end * count],
                labels: &labels[first..end],
                weights: &[],
                needs_input_gradient: wanted > 0,
            };
            match clip_norm {
                Some(clip_norm) => self.clipped_product(pass, direction, clip_norm, out),
                None => {
                    self.run(pass, &mut Gradients::Sum(out));
                }
            }
            if wanted > 0 {
                input_rows(self.layouts[0], &self.tangent.slopes[0], count, &mut cross[..wanted]);
            }
            first = end;
        }
    }

    /// Appends ‖g‖² and ⟨g, w⟩ of the gradient g of each row.
    pub(crate) fn inner_products(
        &mut self,
        (theta, w): (&[f32], &[f32]),
        (examples, labels): (&[f32], &[u32]),
        products: &mut Vec<(f64, f64)>,
    ) {
        prepare(&mut self.primal, &self.network, theta);
        let count = self.network.inputs();
        let rows = self.row_directions.take();
        let mut rows = rows.unwrap_or_else(|| RowDirections::new(&self.network, self.group));
        let groups = examples.chunks(self.group * count).zip(labels.chunks(self.group));
        for (examples, labels) in groups {
            rows.clear(if self.group == LANES { LANES } else { labels.len() });
            let pass = Pass {
                theta,
                direction: None,
                examples,
                labels,
                weights: &[],
                needs_input_gradient: false,
            };
            self.run(pass, &mut Gradients::PerRow(&mut rows, w));
            products.extend(rows.products().take(labels.len()));
        }
        self.row_directions = Some(rows);
    }

    /// One group of rows, first on values, then on tangents along the direction of each row.
    fn clipped_product(&mut self, pass: Pass<'_>, w: &[f32], clip_norm: f32, out: &mut [f32]) {
        let rows = self.row_directions.take();
        let mut rows = rows.unwrap_or_else(|| RowDirections::new(&self.network, self.group));
        rows.clear(if self.group == LANES { LANES } else { pass.labels.len() });
        let values = Pass { direction: None, ..pass };
        self.run(values, &mut Gradients::PerRow(&mut rows, w));
        rows.project(self.set, &self.network, w, clip_norm);
        let tangents = Pass { direction: Some((w, Some(&rows))), ..pass };
        self.run(tangents, &mut Gradients::Sum(out));
        self.row_directions = Some(rows);
    }

    /// One group of rows; returns the weighted sum of its losses.
    fn run(&mut self, pass: Pass<'_>, gradients: &mut Gradients<'_>) -> f64 {
        let objective = self.evaluate(&pass);
        self.propagate(&pass, gradients);
        objective
    }

    /// Values of every layer and the gradients with respect to the logits; returns the weighted sum of
    /// the losses.
    fn evaluate(&mut self, pass: &Pass<'_>) -> f64 {
        let is_filled = self.group == LANES;
        self.processed = if is_filled { LANES } else { pass.labels.len() };
        if !pass.has_values() && pass.input(0, self.group).is_none() {
            self.load(pass.examples);
        }
        for index in 0..self.network.layers().len() {
            self.forward(index, pass);
        }
        self.loss(pass)
    }

    /// Gradients of every layer with parameters.
    fn propagate(&mut self, pass: &Pass<'_>, gradients: &mut Gradients<'_>) {
        let last = if pass.needs_input_gradient { 0 } else { self.lowest };
        for index in (last..self.network.layers().len()).rev() {
            self.backward(index, pass, index > last || pass.needs_input_gradient, gradients);
        }
    }

    /// Copies the examples; missing rows repeat the last.
    fn load(&mut self, examples: &[f32]) {
        let inputs = self.network.inputs();
        let input = &mut self.primal.values[0];
        match self.layouts[0] {
            Layout::Lanes => rows_to_lanes(examples, inputs, input.lanes_mut()),
            Layout::Rows => {
                let rows = input.floats_mut().chunks_exact_mut(inputs).take(self.processed);
                let last = examples.len() / inputs - 1;
                for (at, row) in rows.enumerate() {
                    row.copy_from_slice(&examples[at.min(last) * inputs..][..inputs]);
                }
            }
        }
    }

    fn forward(&mut self, index: usize, pass: &Pass<'_>) {
        let placed = &self.network.layers()[index];
        let (set, own) = (self.set, placed.parameters.clone());
        let (inputs, outputs) =
            (placed.input.len() * self.processed, placed.output.len() * self.processed);
        let changes_layout = self.layouts[index] != self.layouts[index + 1];
        let theta = &pass.theta[own.clone()];
        let (before, after) = self.primal.values.split_at_mut(index + 1);
        let input = pass.input(index, self.group);
        let input = input.unwrap_or_else(|| &before[index].floats()[..inputs]);
        let layer = (&placed.layer, self.primal.convolutions[index].as_ref());
        if !pass.has_values() {
            let output = if changes_layout { &mut self.converted[0] } else { &mut after[0] };
            let output = &mut output.floats_mut()[..outputs];
            match layer.0 {
                Layer::Linear(layer) => Direct(set).forward(layer, theta, input, output),
                _ => forward::values(set, layer, theta, (input, &mut self.border), output),
            }
            if changes_layout {
                let from = self.layouts[index];
                convert(from, placed.output.len(), &self.converted[0], &mut after[0]);
            }
        }
        let direction = pass.direction(index, own).filter(|_| index >= self.lowest);
        let Some(direction) = direction else { return };
        let value = &after[0].floats()[..outputs];
        let (before, after) = self.tangent.values.split_at_mut(index + 1);
        let change = &before[index].floats()[..inputs];
        let out = if changes_layout { &mut self.converted[0] } else { &mut after[0] };
        let out = &mut out.floats_mut()[..outputs];
        let tangents = TangentPass {
            set,
            theta,
            direction,
            input: [input, change],
            output: value,
            // Inputs below the first layer with parameters have no tangent.
            has_tangent: index > self.lowest,
        };
        tangents.run(layer, &mut self.border, out);
        if changes_layout {
            convert(self.layouts[index], placed.output.len(), &self.converted[0], &mut after[0]);
        }
    }

    /// Gradients with respect to the logits; 0 for missing rows. Returns Σ weight · loss; 0 if there
    /// are no weights.
    fn loss(&mut self, pass: &Pass<'_>) -> f64 {
        let (last, classes) = (self.network.layers().len(), self.network.classes());
        let (set, labels, rows) = (self.set, pass.labels, pass.labels.len() * classes);
        let (primal, tangent) = (&mut self.primal, &mut self.tangent);
        let logits = &primal.values[last].floats()[..rows];
        let slopes = &mut primal.slopes[last].floats_mut()[..self.processed * classes];
        slopes[rows..].fill(0.0);
        let slopes = &mut slopes[..rows];
        set.run(LossGradient { logits, labels, classes, output_gradient: slopes });
        if pass.direction.is_some() {
            let tangents = &mut tangent.slopes[last].floats_mut()[..self.processed * classes];
            tangents[rows..].fill(0.0);
            let changes = &tangent.values[last].floats()[..rows];
            set.run(LossGradientTangent {
                output_gradient: slopes,
                changes,
                labels,
                classes,
                tangents,
            });
        }
        let mut objective = 0.0;
        let values = logits.chunks_exact(classes).zip(slopes.chunks_exact_mut(classes));
        for ((&weight, &label), (logits, slopes)) in pass.weights.iter().zip(labels).zip(values) {
            let is_valid = (label as usize) < classes;
            let loss = if is_valid { loss(logits, label as usize) } else { f32::NAN };
            objective += weight * f64::from(loss);
            slopes.iter_mut().for_each(|slope| *slope *= weight as f32);
        }
        objective
    }

    /// Adds the gradients of the parameters of a layer (their tangents, if there is a direction),
    /// and computes the gradient with respect to its inputs if `needs_below`.
    fn backward(
        &mut self,
        index: usize,
        pass: &Pass<'_>,
        needs_below: bool,
        gradients: &mut Gradients<'_>,
    ) {
        let placed = &self.network.layers()[index];
        let (inputs, outputs) =
            (placed.input.len() * self.processed, placed.output.len() * self.processed);
        let changes_layout = self.layouts[index] != self.layouts[index + 1];
        if changes_layout {
            let (from, values) = (self.layouts[index + 1], placed.output.len());
            let planes = [&self.primal, &self.tangent].into_iter().zip(&mut self.converted);
            for (plane, out) in planes {
                convert(from, values, &plane.slopes[index + 1], out);
            }
        }
        let (primal, tangent) = (&mut self.primal, &mut self.tangent);
        let (below, above) = primal.slopes.split_at_mut(index + 1);
        let [converted, converted_t] = &self.converted;
        let above = if changes_layout { converted } else { &above[0] };
        let slope = &above.floats()[..outputs];
        let below = &mut below[index].floats_mut()[..inputs];
        let (below_t, above_t) = tangent.slopes.split_at_mut(index + 1);
        let above_t = if changes_layout { converted_t } else { &above_t[0] };
        let slope_t = &above_t.floats()[..outputs];
        let below_t = &mut below_t[index].floats_mut()[..inputs];
        let input = pass.input(index, self.group);
        let input = input.unwrap_or_else(|| &primal.values[index].floats()[..inputs]);
        let input_t = &tangent.values[index].floats()[..inputs];
        let border = self.border.lanes_mut();
        let set = self.set;
        let own = placed.parameters.clone();
        // The output of an elementwise layer has the layout of its input.
        let pass_of_layer = BackwardPass {
            set,
            theta: &pass.theta[own.clone()],
            direction: pass.direction(index, own.clone()),
            input: [input, input_t],
            slopes: [slope, slope_t],
            has_tangent: index > self.lowest,
            output: [&primal.values, &tangent.values]
                .map(|plane| &plane[index + 1].floats()[..outputs]),
            has_values: pass.has_values(),
        };
        let below = needs_below.then_some([below, below_t]);
        let works = (primal.convolutions[index].as_mut(), tangent.convolutions[index].as_ref());
        pass_of_layer.run((index, placed), works, border, below, gradients);
    }
}

/// Updates the weights in the order of the backward pass.
fn prepare(plane: &mut Plane, network: &Network, theta: &[f32]) {
    for (work, placed) in plane.convolutions.iter_mut().zip(network.layers()) {
        if let Some(work) = work {
            work.prepare(&theta[placed.parameters.clone()]);
        }
    }
}

/// The first rows of values of the input.
fn input_rows(layout: Layout, values: &Buffer, inputs: usize, out: &mut [f32]) {
    match layout {
        Layout::Lanes => lanes_to_rows(values.lanes(), inputs, out),
        Layout::Rows => out.copy_from_slice(&values.floats()[..out.len()]),
    }
}

/// Converts values from a layout to the other.
fn convert(from: Layout, values: usize, input: &Buffer, output: &mut Buffer) {
    let floats = values * LANES;
    match from {
        Layout::Rows => rows_to_lanes(&input.floats()[..floats], values, output.lanes_mut()),
        Layout::Lanes => lanes_to_rows(input.lanes(), values, &mut output.floats_mut()[..floats]),
    }
}
