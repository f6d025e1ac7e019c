//! The layers, one example at a time and for any [`Scalar`]: clear rather than fast.
//!
//! Each has a forward pass, a backward pass (adds to the gradient of the loss, and gives the slopes
//! by its inputs) and a tangent (the derivative of its outputs along a direction).

mod loss;
mod pooling;
mod scalar;
mod weighted;

pub(crate) use loss::{loss, loss_slopes};
pub(crate) use pooling::Pool;
pub use scalar::{Dual, Scalar};
pub(crate) use weighted::{Convolution, Linear, Weighted};

/// A layer, checked against what comes in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Layer {
    Linear(Linear),
    Convolution(Convolution),
    Tanh,
    Relu,
    AveragePool(Pool),
    MaxPool(Pool),
}

impl Layer {
    fn weighted(&self) -> Option<&dyn Weighted> {
        match self {
            Layer::Linear(linear) => Some(linear),
            Layer::Convolution(convolution) => Some(convolution),
            _ => None,
        }
    }

    /// Weights and biases.
    pub(crate) fn parameters(&self) -> usize {
        self.weighted().map_or(0, |layer| layer.weights().saturating_add(layer.biases()))
    }

    pub(crate) fn inputs_of_an_output(&self) -> usize {
        self.weighted().map_or(1, |layer| layer.weights() / layer.biases())
    }

    /// Products of weights and inputs in a forward pass.
    pub(crate) fn products(&self) -> u64 {
        match self {
            Layer::Linear(linear) => linear.weights() as u64,
            Layer::Convolution(convolution) => {
                (convolution.weights() * convolution.output.positions()) as u64
            }
            _ => 0,
        }
    }

    /// What padding adds to the values of an example.
    pub(crate) fn padded_values(&self) -> usize {
        match self {
            Layer::Convolution(convolution) => convolution.padded_values(),
            _ => 0,
        }
    }

    /// Outputs from inputs, of which the former are overwritten.
    pub(crate) fn forward<S: Scalar>(&self, theta: &[S], input: &[S], output: &mut [S]) {
        let zero = S::from_f64(0.0);
        match self {
            Layer::Linear(_) | Layer::Convolution(_) => {
                let Some(layer) = self.weighted() else { return };
                let (weights, biases) = theta.split_at(layer.weights());
                for (at, value) in output.iter_mut().enumerate() {
                    *value = biases[layer.bias_of(at)];
                }
                layer.products(&mut |o, w, i| output[o] += weights[w] * input[i]);
            }
            Layer::Tanh => {
                for (value, &x) in output.iter_mut().zip(input) {
                    *value = x.tanh();
                }
            }
            Layer::Relu => {
                for (value, &x) in output.iter_mut().zip(input) {
                    *value = zero.max(x);
                }
            }
            Layer::AveragePool(pool) => {
                output.fill(zero);
                pool.members(|o, i| output[o] += input[i] * S::from_f64(pool.share()));
            }
            Layer::MaxPool(pool) => pool.winners(input, |o, i| output[o] = input[i]),
        }
    }

    /// Adds to the gradient, and overwrites the slopes of the loss by the inputs, from those by the
    /// outputs.
    pub(crate) fn backward<S: Scalar>(
        &self,
        theta: &[S],
        (input, output): (&[S], &[S]),
        slopes: &[S],
        gradient: &mut [S],
        input_slopes: &mut [S],
    ) {
        let (zero, one) = (S::from_f64(0.0), S::from_f64(1.0));
        input_slopes.fill(zero);
        match self {
            Layer::Linear(_) | Layer::Convolution(_) => {
                let Some(layer) = self.weighted() else { return };
                let (weights, biases) = gradient.split_at_mut(layer.weights());
                for (at, &slope) in slopes.iter().enumerate() {
                    biases[layer.bias_of(at)] += slope;
                }
                layer.products(&mut |o, w, i| {
                    weights[w] += slopes[o] * input[i];
                    input_slopes[i] += slopes[o] * theta[w];
                });
            }
            Layer::Tanh => {
                for (at, slope) in input_slopes.iter_mut().enumerate() {
                    *slope = slopes[at] * (one - output[at] * output[at]);
                }
            }
            Layer::Relu => {
                for (at, slope) in input_slopes.iter_mut().enumerate() {
                    *slope = if input[at].to_f64() > 0.0 { slopes[at] } else { zero };
                }
            }
            Layer::AveragePool(pool) => {
                pool.members(|o, i| input_slopes[i] = slopes[o] * S::from_f64(pool.share()));
            }
            Layer::MaxPool(pool) => pool.winners(input, |o, i| input_slopes[i] = slopes[o]),
        }
    }

    /// The change of the outputs, which is overwritten, along `direction` in the parameters and
    /// `change` in the inputs.
    pub(crate) fn tangent<S: Scalar>(
        &self,
        (theta, direction): (&[S], &[S]),
        (input, change): (&[S], &[S]),
        output: &[S],
        output_change: &mut [S],
    ) {
        let (zero, one) = (S::from_f64(0.0), S::from_f64(1.0));
        match self {
            Layer::Linear(_) | Layer::Convolution(_) => {
                let Some(layer) = self.weighted() else { return };
                for (at, value) in output_change.iter_mut().enumerate() {
                    *value = direction[layer.weights() + layer.bias_of(at)];
                }
                layer.products(&mut |o, w, i| {
                    output_change[o] += direction[w] * input[i];
                    output_change[o] += theta[w] * change[i];
                });
            }
            Layer::Tanh => {
                for (at, value) in output_change.iter_mut().enumerate() {
                    *value = change[at] * (one - output[at] * output[at]);
                }
            }
            Layer::Relu => {
                for (at, value) in output_change.iter_mut().enumerate() {
                    *value = if input[at].to_f64() > 0.0 { change[at] } else { zero };
                }
            }
            Layer::AveragePool(pool) => {
                output_change.fill(zero);
                pool.members(|o, i| output_change[o] += change[i] * S::from_f64(pool.share()));
            }
            Layer::MaxPool(pool) => pool.winners(input, |o, i| output_change[o] = change[i]),
        }
    }
}
