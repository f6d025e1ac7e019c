//! Softmax cross-entropy.

use super::scalar::Scalar;

/// ln Σ e^z − z at the label, for logits z.
pub(crate) fn loss<S: Scalar>(logits: &[S], label: usize) -> S {
    let centre = centre(logits);
    let mut total = S::from_f64(0.0);
    for &logit in logits {
        total += (logit - centre).exp();
    }
    total.ln() - (logits[label] - centre)
}

/// Slopes of the loss by the logits: the softmax, less 1 at the label.
pub(crate) fn loss_slopes<S: Scalar>(logits: &[S], label: usize, slopes: &mut [S]) {
    let centre = centre(logits);
    let mut total = S::from_f64(0.0);
    for (slope, &logit) in slopes.iter_mut().zip(logits) {
        *slope = (logit - centre).exp();
        total += *slope;
    }
    for slope in slopes.iter_mut() {
        *slope = *slope / total;
    }
    slopes[label] += S::from_f64(-1.0);
}

/// The largest logit, without its slope.
fn centre<S: Scalar>(logits: &[S]) -> S {
    let largest = logits.iter().copied().reduce(Scalar::max);
    S::from_f64(largest.map_or(0.0, Scalar::to_f64))
}
