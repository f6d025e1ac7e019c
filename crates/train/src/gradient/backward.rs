//! Backward pass of a layer on values, or on values and tangents.

use std::marker::PhantomData;

use super::batch::Inputs;
use super::buffer::{LANES, Lane, lanes, lanes_mut};
use super::convolution::ConvolutionWork;
use super::dual::DualPull;
use super::group_norm::{NormalizeGradient, Numbers, Planes};
use super::instruction_set::InstructionSet;
use super::linear::Direct;
use super::pointwise::{Pull, sum_of_products};
use super::pooling::{AverageGradient, MaximumGradient};
use super::products::total;
use super::row_directions::{Direction, RowDirections, subtract};
use crate::layers::{
    Convolution, Dual, Elementwise, GroupNorm, Layer, Linear, Pool, with_function,
};
use crate::model::PlacedLayer;

/// What becomes of the gradients of the parameters.
pub(super) enum Gradients<'a> {
    /// Added over the rows.
    Sum(&'a mut [f32]),
    /// Compared with a direction w, row by row.
    PerRow(&'a mut RowDirections, &'a [f32]),
}

/// The backward pass of a layer. Each pair is a value and its tangent.
pub(super) struct BackwardPass<'a> {
    pub(super) set: InstructionSet,
    pub(super) theta: &'a [f32],
    pub(super) direction: Option<Direction<'a>>,
    pub(super) input: [&'a [f32]; 2],
    pub(super) output: [&'a [f32]; 2],
    pub(super) slopes: [&'a [f32]; 2],
    /// Whether the input has a tangent other than 0.
    pub(super) has_tangent: bool,
    /// Whether gradients with respect to the inputs are known, and only their tangents are missing.
    pub(super) has_values: bool,
    /// The rows of a first layer whose gradient is summed input by input.
    pub(super) by_input: Option<Inputs<'a>>,
}

impl BackwardPass<'_> {
    /// Passes on the gradients of the parameters (their tangents, if there is a direction), and
    /// computes those with respect to the inputs if there is room `below`. Convolutions need their
    /// works, on values and in the direction.
    pub(super) fn run(
        &self,
        (index, placed): (usize, &PlacedLayer),
        works: (Option<&mut ConvolutionWork>, Option<&ConvolutionWork>),
        border: &mut [Lane],
        below: Option<[&mut [f32]; 2]>,
        gradients: &mut Gradients<'_>,
    ) {
        let (set, own) = (self.set, placed.parameters.clone());
        match (&placed.layer, works, below) {
            (Layer::Linear(layer), _, below) => {
                match gradients {
                    Gradients::Sum(out) => self.add_linear(layer, &mut out[own]),
                    Gradients::PerRow(rows, w) => {
                        let planes = (self.input[0], self.slopes[0]);
                        rows.add_linear(set, (index, layer), &w[own], planes);
                    }
                }
                below.into_iter().for_each(|below| self.linear(layer, below));
            }
            (Layer::Convolution(layer), (Some(work), Some(of_direction)), below) => {
                match gradients {
                    Gradients::Sum(out) => {
                        self.add_convolution(layer, work, border, &mut out[own]);
                    }
                    Gradients::PerRow(rows, w) => {
                        let planes = (lanes(self.input[0]), &mut *border, lanes(self.slopes[0]));
                        rows.add_convolution(set, (index, work), &w[own], planes);
                    }
                }
                let works = (&*work, of_direction);
                below.into_iter().for_each(|below| self.convolution(works, border, below));
            }
            (Layer::GroupNorm(layer), _, below) => match gradients {
                Gradients::Sum(out) => {
                    let mut lanes = vec![[0.0; LANES]; own.len()];
                    self.group_norm(layer, below, &mut lanes);
                    let out = out[own].iter_mut().zip(&lanes);
                    out.for_each(|(out, lane)| *out += total(lane));
                }
                Gradients::PerRow(rows, w) => {
                    self.group_norm(layer, below, rows.lanes_mut(index));
                    rows.add_lanes(set, index, &w[own]);
                }
            },
            (Layer::Elementwise(function), _, Some(below)) => self.elementwise(*function, below),
            (Layer::AveragePool(pool), _, Some(below)) => self.average(pool, below),
            (Layer::MaxPool(pool), _, Some(below)) => self.maximum(pool, below),
            _ => {}
        }
    }

    /// The planes that are computed: values unless known, and tangents if there is a direction.
    fn planes<'b>(
        &'b self,
        below: [&'b mut [f32]; 2],
    ) -> impl Iterator<Item = (&'b [Lane], &'b mut [Lane])> {
        let planes = self.slopes.into_iter().zip(below);
        let planes = planes.map(|(slope, below)| (lanes(slope), lanes_mut(below)));
        planes.take(1 + usize::from(self.direction.is_some())).skip(usize::from(self.has_values))
    }

    fn elementwise(&self, function: Elementwise, below: [&mut [f32]; 2]) {
        let (input, output, output_gradient) = (self.input, self.output, self.slopes);
        with_function!(function, function => {
            if self.direction.is_some() {
                let input_gradient = below;
                self.set.run(DualPull { function, input, output, output_gradient, input_gradient });
            } else {
                let [below, _] = below;
                below.copy_from_slice(output_gradient[0]);
                let (input, output, output_gradient) = (input[0], output[0], below);
                self.set.run(Pull { function, input, output, output_gradient });
            }
        });
    }

    /// Gradients of the parameters (their tangents, if there is a direction) per example.
    fn group_norm(&self, layer: &GroupNorm, below: Option<[&mut [f32]; 2]>, gradient: &mut [Lane]) {
        match self.direction {
            Some(_) => self.group_norm_on::<Dual<Numbers>>(layer, below, gradient),
            None => self.group_norm_on::<Numbers>(layer, below, gradient),
        }
    }

    fn group_norm_on<N: Planes>(
        &self,
        layer: &GroupNorm,
        below: Option<[&mut [f32]; 2]>,
        gradient: &mut [Lane],
    ) {
        self.set.run(NormalizeGradient::<N> {
            layer,
            theta: self.theta,
            direction: self.direction,
            input: self.input.map(lanes),
            output_gradient: self.slopes.map(lanes),
            gradient,
            input_gradient: below.map(|planes| planes.map(lanes_mut)),
            numbers: PhantomData,
        });
    }

    fn average(&self, pool: &Pool, below: [&mut [f32]; 2]) {
        for (output_gradient, input_gradient) in self.planes(below) {
            self.set.run(AverageGradient { pool, output_gradient, input_gradient });
        }
    }

    fn maximum(&self, pool: &Pool, below: [&mut [f32]; 2]) {
        let input = lanes(self.input[0]);
        for (output_gradient, input_gradient) in self.planes(below) {
            self.set.run(MaximumGradient { pool, input, output_gradient, input_gradient });
        }
    }

    /// Adds the gradients of the parameters of a linear layer, or their tangents.
    fn add_linear(&self, layer: &Linear, out: &mut [f32]) {
        let ([input, input_t], [slope, slope_t]) = (self.input, self.slopes);
        let (weights, biases) = out.split_at_mut(layer.inputs * layer.outputs);
        let slope_of_sum = if self.direction.is_some() { slope_t } else { slope };
        let direct = Direct(self.set);
        direct.add_bias_gradient(slope_of_sum, biases);
        if let Some(input) = self.by_input {
            return direct.add_weight_gradient_by_input(layer, input, slope_of_sum, weights);
        }
        direct.add_weight_gradient(layer, input, slope_of_sum, weights);
        if self.direction.is_some() && self.has_tangent {
            direct.add_weight_gradient(layer, input_t, slope, weights);
        }
    }

    fn linear(&self, layer: &Linear, [below, below_t]: [&mut [f32]; 2]) {
        let [slope, slope_t] = self.slopes;
        if !self.has_values {
            Direct(self.set).input_gradient(layer, self.theta, slope, below);
        }
        match self.direction {
            Some(Direction::Shared(w)) => {
                Direct(self.set).input_gradient(layer, self.theta, slope_t, below_t);
                Direct(self.set).add_input_gradient(layer, w, slope, below_t);
            }
            Some(Direction::PerRow { w, factors, shares, .. }) => {
                Direct(self.set).input_gradient(layer, w, slope, below_t);
                let length = |row: usize| {
                    let slope = &slope[row * layer.outputs..][..layer.outputs];
                    sum_of_products(slope, slope)
                };
                subtract(below_t, self.input[0], (factors, shares), length);
                Direct(self.set).add_input_gradient(layer, self.theta, slope_t, below_t);
            }
            None => {}
        }
    }

    /// Adds the gradients of the parameters of a convolution, or their tangents.
    fn add_convolution(
        &self,
        layer: &Convolution,
        work: &mut ConvolutionWork,
        border: &mut [Lane],
        out: &mut [f32],
    ) {
        let ([input, input_t], [slope, slope_t]) = (self.input.map(lanes), self.slopes.map(lanes));
        let (set, is_dual) = (self.set, self.direction.is_some());
        let (weights, biases) = out.split_at_mut(out.len() - layer.output.channels);
        let slope_of_sum = if is_dual { slope_t } else { slope };
        work.add_weight_gradient(set, (input, border), slope_of_sum, weights);
        work.add_bias_gradient(set, slope_of_sum, biases);
        if is_dual && self.has_tangent {
            work.add_weight_gradient(set, (input_t, border), slope, weights);
        }
    }

    fn convolution(
        &self,
        (work, of_direction): (&ConvolutionWork, &ConvolutionWork),
        border: &mut [Lane],
        below: [&mut [f32]; 2],
    ) {
        let ([slope, slope_t], [below, below_t]) = (self.slopes.map(lanes), below.map(lanes_mut));
        let set = self.set;
        if !self.has_values {
            work.input_gradient(set, (slope, border), below);
        }
        let Some(direction) = self.direction else { return };
        work.input_gradient(set, (slope_t, border), below_t);
        let slope = (slope, border);
        match direction {
            Direction::Shared(_) => of_direction.add_input_gradient(set, slope, below_t),
            Direction::PerRow { rows, .. } => {
                work.add_input_gradient_per_row(set, rows.lanes(), slope, below_t);
            }
        }
    }
}
