//! Reference implementation of the layers, for one example and any [`Scalar`]: simple rather than
//! fast.
//!
//! Each layer has a forward pass, a backward pass (vector-Jacobian product) and a tangent
//! (Jacobian-vector product).

pub(crate) mod elementwise;
mod group_norm;
mod loss;
mod pooling;
mod scalar;
mod weighted;

pub(crate) use elementwise::{Elementwise, Pointwise, with_function};
pub(crate) use group_norm::GroupNorm;
pub(crate) use loss::{loss, loss_gradient};
pub(crate) use pooling::Pool;
pub use scalar::{Arithmetic, Dual, Scalar};
pub(crate) use weighted::{Convolution, Linear, Weighted};

/// A layer, checked against its input shape.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Layer {
    Linear(Linear),
    Convolution(Convolution),
    Elementwise(Elementwise),
    GroupNorm(GroupNorm),
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
        match self {
            Layer::GroupNorm(norm) => norm.parameters(),
            _ => self.weighted().map_or(0, |layer| layer.weights().saturating_add(layer.biases())),
        }
    }

    /// Initial value of a parameter, from a number in [−1, 1): uniform in ±1/√n, where n is the
    /// number of inputs per output; for group norm, weight 1 and bias 0.
    pub(crate) fn initial(&self, at: usize, draw: impl FnOnce() -> f64) -> f64 {
        if let Layer::GroupNorm(norm) = self {
            return if at < norm.input.channels { 1.0 } else { 0.0 };
        }
        let inputs = self.weighted().map_or(1, |layer| layer.weights() / layer.biases());
        draw() * (1.0 / (inputs as f64).sqrt())
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
        match self {
            Layer::Linear(_) | Layer::Convolution(_) => {
                let Some(layer) = self.weighted() else { return };
                let (weights, biases) = theta.split_at(layer.weights());
                for (at, value) in output.iter_mut().enumerate() {
                    *value = biases[layer.bias_of(at)];
                }
                layer.products(&mut |o, w, i| output[o] += weights[w] * input[i]);
            }
            Layer::Elementwise(function) => function.apply(input, output),
            Layer::GroupNorm(norm) => {
                norm.forward(|at| theta[at], |at| input[at], |at, value| output[at] = value);
            }
            Layer::AveragePool(pool) => {
                output.fill(S::from_f64(0.0));
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
        input_gradient.fill(S::from_f64(0.0));
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
            Layer::Elementwise(function) => {
                function.pull((input, output), output_gradient, input_gradient);
            }
            Layer::GroupNorm(norm) => norm.backward(
                |at| theta[at],
                |at| input[at],
                |at| output_gradient[at],
                |at, value| gradient[at] += value,
                |at, value| input_gradient[at] = value,
            ),
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
            Layer::Elementwise(function) => function.pull((input, output), change, output_change),
            Layer::GroupNorm(norm) => norm.forward(
                |at| Dual { value: theta[at], derivative: direction[at] },
                |at| Dual { value: input[at], derivative: change[at] },
                |at, value| output_change[at] = value.derivative,
            ),
            Layer::AveragePool(pool) => {
                output_change.fill(S::from_f64(0.0));
                pool.members(|o, i| output_change[o] += change[i] * S::from_f64(pool.share()));
            }
            Layer::MaxPool(pool) => pool.maxima(input, |o, i| output_change[o] = change[i]),
        }
    }
}
