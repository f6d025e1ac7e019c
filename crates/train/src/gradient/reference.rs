//! Loss, gradient and directional derivative of one example, for any [`Scalar`].

use crate::layers::{Scalar, loss, loss_gradient};
use crate::model::Network;

impl Network {
    /// The loss of one example: softmax cross-entropy, in nats.
    ///
    /// | argument | meaning | shape |
    /// |---|---|---|
    /// | `theta` | parameters | `parameters()` |
    /// | `example` | features | `inputs()` |
    /// | `label` | class | below `classes()` |
    #[must_use]
    pub fn loss<S: Scalar>(&self, theta: &[S], example: &[S], label: usize) -> S {
        let values = self.values(theta, example);
        loss(last(&values), label)
    }

    /// Writes the gradient of one example's loss to `out` and returns the loss.
    ///
    /// # Guarantee
    /// Central differences converge to it with the square of their step
    /// (`crates/train/tests/derivatives.rs::differences_converge_to_the_gradient`).
    pub fn gradient<S: Scalar>(
        &self,
        theta: &[S],
        example: &[S],
        label: usize,
        out: &mut [S],
    ) -> S {
        self.gradient_and_input_gradient(theta, example, label, out).0
    }

    /// As [`Network::gradient`]; also returns the gradient with respect to the example.
    pub fn gradient_and_input_gradient<S: Scalar>(
        &self,
        theta: &[S],
        example: &[S],
        label: usize,
        out: &mut [S],
    ) -> (S, Vec<S>) {
        let values = self.values(theta, example);
        let logits = last(&values);
        let mut output_gradient = vec![S::from_f64(0.0); logits.len()];
        loss_gradient(logits, label, &mut output_gradient);
        out.fill(S::from_f64(0.0));
        for (placed, values) in self.layers().iter().zip(values.windows(2)).rev() {
            let range = placed.parameters.clone();
            let mut input_gradient = vec![S::from_f64(0.0); placed.input.len()];
            let (gradient, theta) = (&mut out[range.clone()], &theta[range]);
            let values = (&values[0][..], &values[1][..]);
            placed.layer.backward(theta, values, &output_gradient, gradient, &mut input_gradient);
            output_gradient = input_gradient;
        }
        (loss(logits, label), output_gradient)
    }

    /// The loss of one example and its derivative along `direction` in the parameters, in one
    /// forward pass.
    ///
    /// # Guarantee
    /// The derivative is the inner product of gradient and direction
    /// (`crates/train/tests/derivatives.rs::tangents_are_inner_products_with_the_gradient`).
    #[must_use]
    pub fn tangent<S: Scalar>(
        &self,
        theta: &[S],
        direction: &[S],
        example: &[S],
        label: usize,
    ) -> (S, S) {
        let values = self.values(theta, example);
        let mut change = vec![S::from_f64(0.0); example.len()];
        for (placed, values) in self.layers().iter().zip(values.windows(2)) {
            let range = placed.parameters.clone();
            let mut next = vec![S::from_f64(0.0); placed.output.len()];
            let parameters = (&theta[range.clone()], &direction[range]);
            let input = (&values[0][..], &change[..]);
            placed.layer.tangent(parameters, input, &values[1], &mut next);
            change = next;
        }
        let logits = last(&values);
        let mut output_gradient = vec![S::from_f64(0.0); logits.len()];
        loss_gradient(logits, label, &mut output_gradient);
        let mut derivative = S::from_f64(0.0);
        for (&gradient, &change) in output_gradient.iter().zip(&change) {
            derivative += gradient * change;
        }
        (loss(logits, label), derivative)
    }

    /// The example and the output of each layer.
    fn values<S: Scalar>(&self, theta: &[S], example: &[S]) -> Vec<Vec<S>> {
        let mut values = vec![example.to_vec()];
        for placed in self.layers() {
            let mut output = vec![S::from_f64(0.0); placed.output.len()];
            placed.layer.forward(&theta[placed.parameters.clone()], last(&values), &mut output);
            values.push(output);
        }
        values
    }
}

fn last<S>(values: &[Vec<S>]) -> &[S] {
    values.last().map_or(&[], Vec::as_slice)
}
