//! Backward pass of a layer on values, or on values and tangents.

use std::marker::PhantomData;

use super::buffer::{LANES, Lane, lanes, lanes_mut};
use super::convolution::ConvolutionWork;
use super::dual::DualPull;
use super::group_norm::{NormalizeGradient, Numbers, Planes};
use super::instruction_set::InstructionSet;
use super::linear;
use super::pointwise::Pull;
use super::pooling::{AverageGradient, MaximumGradient};
use super::products::total;
use crate::layers::{Convolution, Dual, Elementwise, GroupNorm, Linear, Pool, with_function};

/// The backward pass of a layer. Each pair is a value and its tangent.
pub(super) struct BackwardPass<'a> {
    pub(super) set: InstructionSet,
    pub(super) theta: &'a [f32],
    pub(super) direction: Option<&'a [f32]>,
    pub(super) input: [&'a [f32]; 2],
    pub(super) slopes: [&'a [f32]; 2],
    /// Whether the input has a tangent other than 0.
    pub(super) has_tangent: bool,
}

impl BackwardPass<'_> {
    /// The planes that are computed: values, and tangents if there is a direction.
    fn planes<'b>(
        &'b self,
        below: [&'b mut [f32]; 2],
    ) -> impl Iterator<Item = (&'b [Lane], &'b mut [Lane])> {
        let planes = self.slopes.into_iter().zip(below);
        let planes = planes.map(|(slope, below)| (lanes(slope), lanes_mut(below)));
        planes.take(1 + usize::from(self.direction.is_some()))
    }

    pub(super) fn elementwise(
        &self,
        function: Elementwise,
        output: [&[f32]; 2],
        below: [&mut [f32]; 2],
    ) {
        let (input, output_gradient) = (self.input, self.slopes);
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

    pub(super) fn group_norm(
        &self,
        layer: &GroupNorm,
        below: Option<[&mut [f32]; 2]>,
        out: &mut [f32],
    ) {
        match self.direction {
            Some(_) => self.group_norm_on::<Dual<Numbers>>(layer, below, out),
            None => self.group_norm_on::<Numbers>(layer, below, out),
        }
    }

    fn group_norm_on<N: Planes>(
        &self,
        layer: &GroupNorm,
        below: Option<[&mut [f32]; 2]>,
        out: &mut [f32],
    ) {
        let mut gradient = vec![[0.0; LANES]; out.len()];
        self.set.run(NormalizeGradient::<N> {
            layer,
            theta: [self.theta, self.direction.unwrap_or_default()],
            input: self.input.map(lanes),
            output_gradient: self.slopes.map(lanes),
            gradient: &mut gradient,
            input_gradient: below.map(|planes| planes.map(lanes_mut)),
            numbers: PhantomData,
        });
        out.iter_mut().zip(&gradient).for_each(|(out, lane)| *out += total(lane));
    }

    pub(super) fn average(&self, pool: &Pool, below: [&mut [f32]; 2]) {
        for (output_gradient, input_gradient) in self.planes(below) {
            self.set.run(AverageGradient { pool, output_gradient, input_gradient });
        }
    }

    pub(super) fn maximum(&self, pool: &Pool, below: [&mut [f32]; 2]) {
        let input = lanes(self.input[0]);
        for (output_gradient, input_gradient) in self.planes(below) {
            self.set.run(MaximumGradient { pool, input, output_gradient, input_gradient });
        }
    }

    pub(super) fn linear(&self, layer: &Linear, below: Option<[&mut [f32]; 2]>, out: &mut [f32]) {
        let ([input, input_t], [slope, slope_t]) = (self.input, self.slopes);
        let (weights, biases) = out.split_at_mut(layer.inputs * layer.outputs);
        let slope_of_sum = if self.direction.is_some() { slope_t } else { slope };
        linear::add_weight_gradient(layer, input, slope_of_sum, weights);
        for row in slope_of_sum.chunks_exact(layer.outputs) {
            biases.iter_mut().zip(row).for_each(|(bias, value)| *bias += value);
        }
        if self.direction.is_some() && self.has_tangent {
            linear::add_weight_gradient(layer, input_t, slope, weights);
        }
        let Some([below, below_t]) = below else { return };
        linear::input_gradient(layer, self.theta, slope, below);
        if let Some(direction) = self.direction {
            linear::input_gradient(layer, self.theta, slope_t, below_t);
            linear::add_input_gradient(layer, direction, slope, below_t);
        }
    }

    pub(super) fn convolution(
        &self,
        layer: &Convolution,
        (work, of_direction): (&mut ConvolutionWork, &ConvolutionWork),
        border: &mut [Lane],
        below: Option<[&mut [f32]; 2]>,
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
        let Some([below, below_t]) = below.map(|planes| planes.map(lanes_mut)) else { return };
        work.input_gradient(set, (slope, border), below);
        if is_dual {
            work.input_gradient(set, (slope_t, border), below_t);
            of_direction.add_input_gradient(set, (slope, border), below_t);
        }
    }
}
