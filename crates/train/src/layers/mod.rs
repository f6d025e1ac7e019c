//! Reference implementation of the layers, for one example and any [`Scalar`]: simple rather than
//! fast.
//!
//! Each layer has a forward pass, a backward pass (vector-Jacobian product) and a tangent
//! (Jacobian-vector product).

mod loss;
mod pooling;
mod scalar;
mod weighted;

pub(crate) use loss::{loss, loss_gradient};
pub(crate) use pooling::Pool;
pub use scalar::{Dual, Scalar};
pub(crate) use weighted::{Convolution, Linear, Weighted};

/// A layer, checked against its input shape.
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

    /// Number of weights and biases.
    pub(crate) fn parameters(&self) -> usize {
        self.weighted().map_or(0, |layer| layer.weights().saturating_add(layer.biases()))
    }

    pub(crate) fn inputs_per_output(&self) -> usize {
        self.weighted().map_or(1, |layer| layer.weights() / layer.biases())
    }

    /// Number of multiplications in a forward pass.
    pub(crate) fn products(&self) -> u64 {
        match self {
            Layer::Linear(linear) => linear.weights() as u64,
            Layer::Convolution(convolution) => {
                (convolution.weights() * convolution.output.positions()) as u64
            }
            _ => 0,
        }
    }

    /// Number of values per example for padding.
    pub(crate) fn padded_values(&self) -> usize {
        match self {
            Layer::Convolution(convolution) => convolution.padded_values(),
            _ => 0,
        }
    }

    /// Computes the outputs from the inputs.
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
            Layer::MaxPool(pool) => pool.maxima(input, |o, i| output[o] = input[i]),
        }
    }

    /// From the gradient of the loss with respect to the outputs, adds to that with respect to the
    /// parameters and overwrites that with respect to the inputs.
    pub(crate) fn backward<S: Scalar>(
        &self,
        theta: &[S],
        (input, output): (&[S], &[S]),
        output_gradient: &[S],
        gradient: &mut [S],
        input_gradient: &mut [S],
    ) {
        let (zero, one) = (S::from_f64(0.0), S::from_f64(1.0));
        input_gradient.fill(zero);
        match self {
            Layer::Linear(_) | Layer::Convolution(_) => {
                let Some(layer) = self.weighted() else { return };
                let (weights, biases) = gradient.split_at_mut(layer.weights());
                for (at, &derivative) in output_gradient.iter().enumerate() {
                    biases[layer.bias_of(at)] += derivative;
                }
                layer.products(&mut |o, w, i| {
                    weights[w] += output_gradient[o] * input[i];
                    input_gradient[i] += output_gradient[o] * theta[w];
                });
            }
            Layer::Tanh => {
                for (at, derivative) in input_gradient.iter_mut().enumerate() {
                    *derivative = output_gradient[at] * (one - output[at] * output[at]);
                }
            }
            Layer::Relu => {
                for (at, derivative) in input_gradient.iter_mut().enumerate() {
                    *derivative = if input[at].to_f64() > 0.0 { output_gradient[at] } else { zero };
                }
            }
            Layer::AveragePool(pool) => {
                pool.members(|o, i| {
                    input_gradient[i] = output_gradient[o] * S::from_f64(pool.share());
                });
            }
            Layer::MaxPool(pool) => {
                pool.maxima(input, |o, i| input_gradient[i] = output_gradient[o]);
            }
        }
    }

    /// Computes the derivative of the outputs along `direction` in the parameters and `change` in
    /// the inputs.
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
            Layer::MaxPool(pool) => pool.maxima(input, |o, i| output_change[o] = change[i]),
        }
    }
}
