//! Gradients of a batch and products with its Hessian: one pass on values, or on values and
//! tangents. A weighted layer is bilinear, so its tangent is the layer applied twice, to (w, a) and
//! to (θ, ȧ).

use super::backward::{BackwardPass, Gradients};
use super::batch::{BatchRows, Inputs, SparseRow};
use super::buffer::{Buffer, LANES, rows_to_lanes};
use super::forward::{self, TangentPass};
use super::instruction_set::InstructionSet;
use super::linear::Direct;
use super::pass::Pass;
use super::plan::{Layout, layouts};
use super::plane::{Plane, convert, expand, has_finite_inputs, input_rows, take_kept};
use super::pointwise::{LossGradient, LossGradientTangent};
use super::row_directions::{Direction, RowDirections};
use super::transposition::Transposition;
use crate::layers::{Layer, loss};
use crate::model::Network;

/// Rows per group of a network without lanes.
const ROWS: usize = 80;

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
    /// Whether parameters have the weights of the first layer input by input.
    by_input: bool,
    /// Parameters, a direction and a sum of gradients in that order.
    ordered: [Buffer; 3],
}

impl SecondOrderWorkspace {
    pub(crate) fn new(network: &Network) -> Self {
        let layouts = layouts(network);
        let group = if layouts.contains(&Layout::Lanes) { LANES } else { ROWS };
        let outputs = network.layers().iter().map(|placed| placed.output.len());
        let largest = outputs.chain([network.inputs()]).max().unwrap_or(0);
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
            primal: Plane::new(network, group),
            tangent: Plane::new(network, group),
            converted: [(); 2].map(|()| Buffer::new(largest * group)),
            border: Buffer::new(bordered.max().unwrap_or(0)),
            row_directions: None,
            factors: Vec::new(),
            by_input: false,
            ordered: Default::default(),
            network: network.clone(),
        }
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }

    /// Whether batches may contain sparse rows.
    pub(crate) fn reads_sparse_rows(&self) -> bool {
        let first = self.network.layers().first();
        self.group == ROWS && first.is_some_and(|placed| matches!(placed.layer, Layer::Linear(_)))
    }

    /// Chooses the order of the first layer's weights in the parameters, directions and gradients of
    /// [`Self::gradient`] and [`Self::product`] without clipping: input by input, in which they take
    /// less time, or output by output. Returns the numbers of inputs and outputs, or `None` if the
    /// network has one order only.
    pub(crate) fn order_by_input(&mut self, by_input: bool) -> Option<[usize; 2]> {
        let layer = self.network.layers().first().filter(|_| self.reads_sparse_rows())?;
        self.by_input = by_input;
        Some([layer.input.len(), layer.output.len()])
    }

    /// Copies parameters, or what has their shape, from one order to the other.
    fn reorder(&self, [rows, columns]: [usize; 2], from: &[f32], out: &mut [f32]) {
        let (from, rest) = from.split_at(rows * columns);
        let (out, out_of_rest) = out.split_at_mut(rows * columns);
        self.set.run(Transposition { from, columns, out });
        out_of_rest.copy_from_slice(rest);
    }

    /// out = Σ weight · gradient over the rows, and, unless it is empty, weight · gradient with
    /// respect to each example, into `inputs`; returns Σ weight · loss. Without weights they are 1,
    /// and 0 is returned. Appends to `kept` what [`Self::product`] then need not compute again.
    pub(crate) fn gradient(
        &mut self,
        theta: &[f32],
        batch: BatchRows<'_, f32>,
        weights: &[f64],
        (out, inputs): (&mut [f32], &mut [f32]),
        kept: Option<&mut Vec<f32>>,
    ) -> f64 {
        if self.by_input {
            return self.sums(theta, batch, weights, (out, inputs), kept);
        }
        let Some([count, outputs]) = self.order_by_input(true) else {
            return self.sums(theta, batch, weights, (out, inputs), kept);
        };
        let mut ordered = std::mem::take(&mut self.ordered);
        if ordered[0].floats().is_empty() {
            ordered = [(); 3].map(|()| Buffer::new(theta.len()));
        }
        let [own, _, sums] = ordered.each_mut().map(Buffer::floats_mut);
        self.reorder([outputs, count], theta, own);
        let objective = self.sums(own, batch, weights, (sums, inputs), kept);
        self.reorder([count, outputs], sums, out);
        (self.ordered, self.by_input) = (ordered, false);
        objective
    }

    /// [`Self::gradient`] in the order of the parameters.
    fn sums(
        &mut self,
        theta: &[f32],
        batch: BatchRows<'_, f32>,
        weights: &[f64],
        (out, inputs): (&mut [f32], &mut [f32]),
        mut kept: Option<&mut Vec<f32>>,
    ) -> f64 {
        out.fill(0.0);
        let is_finite = self.prepare((theta, None), !batch.sparse.is_empty(), !inputs.is_empty());
        let (count, mut first, mut objective) = (self.network.inputs(), 0, 0.0);
        while first < batch.labels.len() {
            let (rows, labels) = self.group(&batch, first);
            let end = first + labels.len();
            let pass = Pass {
                theta,
                direction: None,
                inputs: self.load(rows, labels.len(), is_finite),
                is_transposed: true,
                by_input: self.by_input,
                labels,
                weights: if weights.is_empty() { &[] } else { &weights[first..end] },
                needs_input_gradient: !inputs.is_empty(),
                kept: None,
            };
            objective += self.evaluate(&pass);
            if let Some(kept) = &mut kept {
                self.primal.keep(labels.len(), self.kept_per_row(), kept);
            }
            self.propagate(&pass, &mut Gradients::Sum(out));
            if pass.needs_input_gradient {
                let out = &mut inputs[first * count..end * count];
                input_rows(self.layouts[0], &self.primal.slopes[0], count, out);
            }
            first = end;
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
            let batch = BatchRows { examples, sparse: &[], labels, canaries: 0 };
            self.sums(theta, batch, &[], (scratch, &mut []), None);
            let entries = theta.iter_mut().zip(scratch);
            return entries.for_each(|(theta, sum)| *theta -= rate * *sum);
        }
        self.primal.prepare(&self.network, theta);
        let mut factors = std::mem::take(&mut self.factors);
        factors.clear();
        factors.resize(labels.len(), -f64::from(rate));
        let inputs = self.load(Inputs::Dense(examples), labels.len(), true);
        let weights = &factors[..];
        let pass = Pass { weights, ..Pass::of_values(theta, inputs, labels) };
        self.evaluate(&pass);
        // the lowest layer passes nothing on, so that its weights are not read again
        let lowest = self.network.layers().get(self.lowest);
        let above = lowest.map_or(0, |placed| placed.parameters.end);
        scratch[above..].copy_from_slice(&theta[above..]);
        let pass = Pass { weights, ..Pass::of_values(scratch, inputs, labels) };
        self.propagate(&pass, &mut Gradients::Sum(theta));
        self.factors = factors;
    }

    /// `out` = Σ Hessian · direction over the rows; `cross` receives, for each of the first
    /// examples, the tangent along the direction of the gradient with respect to it. With a
    /// clipping norm, the derivative of clipping, which is symmetric, maps the direction first.
    /// `kept` is empty, or what [`Self::gradient`] kept at the same parameters, for the same batch.
    pub(crate) fn product(
        &mut self,
        (theta, direction): (&[f32], &[f32]),
        batch: BatchRows<'_, f32>,
        clip_norm: Option<f32>,
        mut kept: &[f32],
        (out, cross): (&mut [f32], &mut [f32]),
    ) {
        if !self.by_input
            && clip_norm.is_none()
            && let Some([count, outputs]) = self.order_by_input(true)
        {
            let mut ordered = std::mem::take(&mut self.ordered);
            if ordered[0].floats().is_empty() {
                ordered = [(); 3].map(|()| Buffer::new(theta.len()));
            }
            let [own, own_direction, sums] = ordered.each_mut().map(Buffer::floats_mut);
            self.reorder([outputs, count], theta, own);
            self.reorder([outputs, count], direction, own_direction);
            self.product((own, own_direction), batch, None, kept, (sums, cross));
            self.reorder([count, outputs], sums, out);
            (self.ordered, self.by_input) = (ordered, false);
            return;
        }
        out.fill(0.0);
        let parameters = (theta, Some(direction));
        let is_finite = self.prepare(parameters, !batch.sparse.is_empty(), !cross.is_empty());
        let (count, mut first) = (self.network.inputs(), 0);
        while first < batch.labels.len() {
            let (rows, labels) = self.group(&batch, first);
            // Only the rows of `cross` need the gradient with respect to the examples.
            let cross = cross.get_mut(first * count..).unwrap_or_default();
            let wanted = cross.len().min(labels.len() * count);
            let pass = Pass {
                direction: Some((direction, None)),
                is_transposed: true,
                by_input: self.by_input,
                needs_input_gradient: wanted > 0,
                kept: take_kept(labels.len(), self.kept_per_row(), &mut kept),
                ..Pass::of_values(theta, self.load(rows, labels.len(), is_finite), labels)
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
            first += labels.len();
        }
    }

    /// Prepares weights for new parameters and a direction. Returns whether zeros of sparse rows can
    /// be left out, which must be `has_sparse`: products of 0 and infinity are NaN.
    fn prepare(
        &mut self,
        (theta, direction): (&[f32], Option<&[f32]>),
        has_sparse: bool,
        needs_input_gradient: bool,
    ) -> bool {
        let mut is_finite = has_sparse;
        let left_out = usize::from(self.by_input && !needs_input_gradient);
        let tangent = direction.map(|direction| (&mut self.tangent, direction));
        for (plane, theta) in [(&mut self.primal, theta)].into_iter().chain(tangent) {
            plane.prepare(&self.network, theta);
            plane.transpose(self.set, &self.network, theta, (self.by_input, left_out));
            is_finite = is_finite && has_finite_inputs(self.set, &self.network, theta);
        }
        is_finite
    }

    /// Appends ‖g‖² and ⟨g, w⟩ of the gradient g of each row.
    pub(crate) fn inner_products(
        &mut self,
        (theta, w): (&[f32], &[f32]),
        (examples, labels): (&[f32], &[u32]),
        products: &mut Vec<(f64, f64)>,
    ) {
        self.primal.prepare(&self.network, theta);
        let count = self.network.inputs();
        let rows = self.row_directions.take();
        let mut rows = rows.unwrap_or_else(|| RowDirections::new(&self.network, self.group));
        let groups = examples.chunks(self.group * count).zip(labels.chunks(self.group));
        for (examples, labels) in groups {
            rows.clear(if self.group == LANES { LANES } else { labels.len() });
            let inputs = self.load(Inputs::Dense(examples), labels.len(), true);
            let pass = Pass::of_values(theta, inputs, labels);
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
        let last = self.network.layers().len();
        pass.kept.iter().for_each(|kept| self.primal.restore(*kept));
        for index in 0..last {
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

    /// Numbers per row that are kept: outputs of the first layer and gradients with respect to the
    /// logits. 0 in a network with lanes.
    pub(crate) fn kept_per_row(&self) -> [usize; 2] {
        let layers = self.network.layers();
        let first = layers.first().filter(|_| self.group == ROWS && layers.len() > 1);
        first.map_or([0; 2], |placed| [placed.output.len(), self.network.classes()])
    }

    /// The rows of a batch from `first` that are processed together, and their labels.
    fn group<'a>(&self, batch: &BatchRows<'a, f32>, first: usize) -> (Inputs<'a>, &'a [u32]) {
        match self.group {
            LANES => BatchRows { canaries: 0, ..*batch }.group(first, LANES),
            group => batch.group(first, group),
        }
    }

    /// Begins a group of rows. Copies them unless the first layer reads them in place: it has no
    /// lanes, and weights that are finite if rows are sparse. In lanes, missing rows repeat the last.
    fn load<'a>(&mut self, rows: Inputs<'a>, count: usize, is_finite: bool) -> Option<Inputs<'a>> {
        let inputs = self.network.inputs();
        self.processed = if self.group == LANES { LANES } else { count };
        let input = &mut self.primal.values[0];
        match rows {
            Inputs::Sparse(rows) if !is_finite => {
                expand(rows, inputs, input);
                None
            }
            Inputs::Dense(examples) if self.group == LANES => {
                match self.layouts[0] {
                    Layout::Lanes => rows_to_lanes(examples, inputs, input.lanes_mut()),
                    Layout::Rows => {
                        let copies = input.floats_mut().chunks_exact_mut(inputs).take(LANES);
                        for (at, copy) in copies.enumerate() {
                            copy.copy_from_slice(&examples[at.min(count - 1) * inputs..][..inputs]);
                        }
                    }
                }
                None
            }
            _ => Some(rows),
        }
    }

    fn forward(&mut self, index: usize, pass: &Pass<'_>) {
        let placed = &self.network.layers()[index];
        let (set, own) = (self.set, placed.parameters.clone());
        let (inputs, outputs) =
            (placed.input.len() * self.processed, placed.output.len() * self.processed);
        let changes_layout = self.layouts[index] != self.layouts[index + 1];
        let theta = &pass.theta[own.clone()];
        let Plane { values, convolutions, transposed, .. } = &mut self.primal;
        let (before, after) = values.split_at_mut(index + 1);
        let input = pass.dense(index).unwrap_or_else(|| &before[index].floats()[..inputs]);
        let rows = pass.sparse(index).map_or(Inputs::Dense(input), Inputs::Sparse);
        let direction = pass.direction(index, own.clone()).filter(|_| index >= self.lowest);
        let [transposed, transposed_t] = if pass.is_by_input(index) {
            [Some(theta), pass.direction.map(|(w, _)| &w[own])].map(Option::unwrap_or_default)
        } else {
            [&*transposed, &self.tangent.transposed]
                .map(|layers| if pass.is_transposed { layers[index].floats() } else { &[] })
        };
        let layer = (&placed.layer, convolutions[index].as_ref());
        let is_kept = pass.kept.is_some() && (index == 0 || index + 1 == self.layouts.len() - 1);
        if !pass.has_values() && !is_kept {
            let output = if changes_layout { &mut self.converted[0] } else { &mut after[0] };
            let output = &mut output.floats_mut()[..outputs];
            match layer.0 {
                Layer::Linear(layer) => {
                    Direct(set).forward(layer, (theta, transposed), rows, output);
                }
                _ => forward::values(set, layer, theta, (input, &mut self.border), output),
            }
            if changes_layout {
                let from = self.layouts[index];
                convert(from, placed.output.len(), &self.converted[0], &mut after[0]);
            }
        }
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
            rows,
            input: [input, change],
            transposed: [transposed, transposed_t],
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
        let missing = rows..self.processed * classes;
        let (logits, slopes) = (primal.values[last].padded(), primal.slopes[last].padded_mut());
        if pass.kept.is_none() {
            set.run(LossGradient { logits, labels, classes, output_gradient: slopes });
            slopes[missing.clone()].fill(0.0);
        }
        if pass.direction.is_some() {
            let (changes, output_gradient) = (tangent.values[last].floats(), &slopes[..rows]);
            let tangents = tangent.slopes[last].floats_mut();
            tangents[missing].fill(0.0);
            set.run(LossGradientTangent { output_gradient, changes, labels, classes, tangents });
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

    /// Whether zeros of sparse rows can be left out of sums of gradients. Copies the rows if not.
    fn leaves_zeros_out(&mut self, pass: &Pass<'_>, rows: &[SparseRow<'_, f32>]) -> bool {
        let placed = &self.network.layers()[0];
        let plane = if pass.direction.is_some() { &self.tangent } else { &self.primal };
        let slope = &plane.slopes[1].floats()[..rows.len() * placed.output.len()];
        let is_finite = Direct(self.set).all_finite(slope);
        if !is_finite {
            expand(rows, placed.input.len(), &mut self.primal.values[0]);
        }
        is_finite
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
        let sparse = pass.sparse(index).filter(|rows| self.leaves_zeros_out(pass, rows));
        let placed = &self.network.layers()[index];
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
        let input = pass.dense(index);
        let input = input.unwrap_or_else(|| &primal.values[index].floats()[..inputs]);
        let input_t = &tangent.values[index].floats()[..inputs];
        let border = self.border.lanes_mut();
        let set = self.set;
        let own = placed.parameters.clone();
        let (mut theta, mut direction) = (&pass.theta[own.clone()], pass.direction(index, own));
        if pass.is_by_input(index) {
            theta = primal.transposed[index].floats();
            let w = Direction::Shared(tangent.transposed[index].floats());
            direction = direction.map(|_| w);
        }
        // The output of an elementwise layer has the layout of its input.
        let pass_of_layer = BackwardPass {
            set,
            theta,
            direction,
            input: [input, input_t],
            slopes: [slope, slope_t],
            has_tangent: index > self.lowest,
            output: [&primal.values, &tangent.values]
                .map(|plane| &plane[index + 1].floats()[..outputs]),
            // Nothing reads the gradient with respect to the examples beside its tangent.
            has_values: pass.has_values() || (index == 0 && pass.direction.is_some()),
            by_input: pass
                .is_by_input(index)
                .then(|| sparse.map_or(Inputs::Dense(input), Inputs::Sparse)),
        };
        let below = needs_below.then_some([below, below_t]);
        let works = (primal.convolutions[index].as_mut(), tangent.convolutions[index].as_ref());
        pass_of_layer.run((index, placed), works, border, below, gradients);
    }
}
