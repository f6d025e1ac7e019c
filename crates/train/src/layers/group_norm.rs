//! Group normalisation.

use std::ops::Range;

use super::scalar::Arithmetic;
use crate::model::Shape;

/// w·(x − mean)/√(variance + ε) + b, with statistics of one example and one group of channels, and
/// w and b of a channel. It depends on no other example, so that gradients per example are defined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GroupNorm {
    pub(crate) input: Shape,
    pub(crate) groups: usize,
    pub(crate) epsilon: f64,
}

impl GroupNorm {
    /// Weights and biases.
    pub(crate) fn parameters(&self) -> usize {
        2 * self.input.channels
    }

    #[inline(always)]
    fn channels(&self, group: usize) -> Range<usize> {
        let channels = self.input.channels / self.groups;
        group * channels..(group + 1) * channels
    }

    /// Indices of the values of a channel.
    #[inline(always)]
    fn values(&self, channel: usize) -> Range<usize> {
        let positions = self.input.positions();
        channel * positions..(channel + 1) * positions
    }

    /// 1 ÷ number of values per group.
    #[inline(always)]
    fn share<S: Arithmetic>(&self) -> S {
        S::from_f64(self.groups as f64 / self.input.len() as f64)
    }

    /// Mean and 1/√(variance + ε) of a group.
    #[inline(always)]
    fn statistics<S: Arithmetic>(&self, group: usize, input: &impl Fn(usize) -> S) -> (S, S) {
        let channels = self.channels(group);
        let values = self.values(channels.start).start..self.values(channels.end).start;
        let (mut sum, mut squares) = (S::from_f64(0.0), S::from_f64(0.0));
        for at in values.clone() {
            sum += input(at);
        }
        let mean = sum * self.share();
        for at in values {
            let deviation = input(at) - mean;
            squares += deviation * deviation;
        }
        let variance = squares * self.share() + S::from_f64(self.epsilon);
        (mean, S::from_f64(1.0) / variance.sqrt())
    }

    /// Calls `output` with each index and its output.
    #[inline(always)]
    pub(crate) fn forward<S: Arithmetic>(
        &self,
        theta: impl Fn(usize) -> S,
        input: impl Fn(usize) -> S,
        mut output: impl FnMut(usize, S),
    ) {
        for group in 0..self.groups {
            let (mean, scale) = self.statistics(group, &input);
            for channel in self.channels(group) {
                let (weight, bias) = (theta(channel), theta(self.input.channels + channel));
                for at in self.values(channel) {
                    output(at, (input(at) - mean) * scale * weight + bias);
                }
            }
        }
    }

    /// From the gradient with respect to the outputs, calls `gradient` with that with respect to
    /// each parameter, and `input_gradient` with that with respect to each input.
    ///
    /// With x̂ the normalised inputs and δ the gradient with respect to the outputs, the latter is
    /// (wδ − mean(wδ) − x̂·mean(wδx̂))/√(variance + ε).
    #[inline(always)]
    pub(crate) fn backward<S: Arithmetic>(
        &self,
        theta: impl Fn(usize) -> S,
        input: impl Fn(usize) -> S,
        output_gradient: impl Fn(usize) -> S,
        mut gradient: impl FnMut(usize, S),
        mut input_gradient: impl FnMut(usize, S),
    ) {
        for group in 0..self.groups {
            let (mean, scale) = self.statistics(group, &input);
            let (mut sum, mut along) = (S::from_f64(0.0), S::from_f64(0.0));
            for channel in self.channels(group) {
                let (mut of_weight, mut of_bias) = (S::from_f64(0.0), S::from_f64(0.0));
                for at in self.values(channel) {
                    of_weight += output_gradient(at) * ((input(at) - mean) * scale);
                    of_bias += output_gradient(at);
                }
                gradient(channel, of_weight);
                gradient(self.input.channels + channel, of_bias);
                sum += theta(channel) * of_bias;
                along += theta(channel) * of_weight;
            }
            let (sum, along) = (sum * self.share(), along * self.share());
            for channel in self.channels(group) {
                let weight = theta(channel);
                for at in self.values(channel) {
                    let normalised = (input(at) - mean) * scale;
                    let centred = weight * output_gradient(at) - sum - normalised * along;
                    input_gradient(at, scale * centred);
                }
            }
        }
    }
}
