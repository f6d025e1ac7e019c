//! Softmax cross-entropy.

use super::scalar::Scalar;

/// Cross-entropy ln Σ e^z − z_label for logits z.
pub(crate) fn loss<S: Scalar>(logits: &[S], label: usize) -> S {
    let centre = centre(logits);
    let mut total = S::from_f64(0.0);
    for &logit in logits {
        total += (logit - centre).exp();
    }
    total.ln() - (logits[label] - centre)
}

/// Gradient of the loss with respect to the logits: softmax − 1 at the label.
pub(crate) fn loss_gradient<S: Scalar>(logits: &[S], label: usize, output_gradient: &mut [S]) {
    let centre = centre(logits);
    let mut total = S::from_f64(0.0);
    for (derivative, &logit) in output_gradient.iter_mut().zip(logits) {
        *derivative = (logit - centre).exp();
        total += *derivative;
    }
    for derivative in output_gradient.iter_mut() {
        *derivative = *derivative / total;
    }
    output_gradient[label] += S::from_f64(-1.0);
}

/// The largest logit, as a constant.
fn centre<S: Scalar>(logits: &[S]) -> S {
    let largest = logits.iter().copied().reduce(Scalar::max);
    S::from_f64(largest.map_or(0.0, Scalar::to_f64))
}
