//! Elementwise layers, the loss and norms, in vectorisable loops.

use super::buffer::{LANES, Lane};
use super::elementary;
use super::instruction_set::{Kernel, kernel};
use super::products::total;
use crate::layers::Pointwise;

/// Applies an elementwise function.
pub(super) struct Apply<'a, P> {
    pub(super) function: P,
    pub(super) input: &'a [f32],
    pub(super) output: &'a mut [f32],
}

impl<P: Pointwise> Kernel for Apply<'_, P> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(self) {
        for (value, &x) in self.output.iter_mut().zip(self.input) {
            *value = self.function.apply(x);
        }
    }
}

/// Converts the gradient with respect to the outputs of an elementwise function to that with
/// respect to its inputs.
pub(super) struct Pull<'a, P> {
    pub(super) function: P,
    pub(super) input: &'a [f32],
    pub(super) output: &'a [f32],
    pub(super) output_gradient: &'a mut [f32],
}

impl<P: Pointwise> Kernel for Pull<'_, P> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(self) {
        let places = self.input.iter().zip(self.output);
        for (derivative, (&x, &y)) in self.output_gradient.iter_mut().zip(places) {
            *derivative = self.function.pull(x, y, *derivative);
        }
    }
}

kernel! {
    /// Gradient of the loss with respect to the logits, row by row: softmax − 1 at the label. An
    /// invalid label yields NaN. At least a lane follows the rows, where any numbers are written.
    LossGradient {
        logits: &'a [f32],
        labels: &'a [u32],
        classes: usize,
        output_gradient: &'a mut [f32],
    } => {
        let windows = Windows::new(classes);
        for (row, &label) in labels.iter().enumerate() {
            let start = row * classes;
            let mut maxima = [f32::NEG_INFINITY; LANES];
            for at in 0..windows.count {
                let logits = windows.load(at, &logits[start..], f32::NEG_INFINITY);
                for (max, logit) in maxima.iter_mut().zip(logits) {
                    *max = if logit > *max { logit } else { *max };
                }
            }
            let mut width = LANES / 2;
            while width > 0 {
                for at in 0..width {
                    let (max, other) = (maxima[at], maxima[at + width]);
                    maxima[at] = if other > max { other } else { max };
                }
                width /= 2;
            }
            let (centre, mut sums) = (maxima[0], [0.0; LANES]);
            let output_gradient = &mut output_gradient[start..];
            for at in 0..windows.count {
                let mut powers = windows.load(at, &logits[start..], f32::NEG_INFINITY);
                for (sum, value) in sums.iter_mut().zip(&mut powers) {
                    *value = elementary::exp(*value - centre);
                    *sum += *value;
                }
                output_gradient[at * LANES..][..LANES].copy_from_slice(&powers);
            }
            let scale = 1.0 / total(&sums);
            for at in 0..windows.count {
                let shares = &mut output_gradient[at * LANES..][..LANES];
                shares.iter_mut().for_each(|share| *share *= scale);
            }
            let output_gradient = &mut output_gradient[..classes];
            match output_gradient.get_mut(label as usize) {
                Some(derivative) => *derivative -= 1.0,
                None => output_gradient.fill(f32::NAN),
            }
        }
    }
}

kernel! {
    /// Tangents of [`LossGradient`], row by row: p∘(ż − ⟨p, ż⟩) for logits with tangents ż and
    /// softmax p. A row with an invalid label is NaN.
    LossGradientTangent {
        output_gradient: &'a [f32],
        changes: &'a [f32],
        labels: &'a [u32],
        classes: usize,
        tangents: &'a mut [f32],
    } => {
        let rows = output_gradient.chunks_exact(classes).zip(changes.chunks_exact(classes));
        let rows = rows.zip(tangents.chunks_exact_mut(classes));
        for (((slopes, changes), tangents), &label) in rows.zip(labels) {
            tangents.copy_from_slice(slopes);
            if let Some(derivative) = tangents.get_mut(label as usize) {
                *derivative += 1.0;
            }
            let mean = sum_of_products(tangents, changes) as f32;
            for (tangent, change) in tangents.iter_mut().zip(changes) {
                *tangent *= change - mean;
            }
        }
    }
}

/// A row as lanes, the last of which ends behind it.
struct Windows {
    count: usize,
    /// All bits of the numbers in the row, for the last lane.
    last: [u32; LANES],
}

impl Windows {
    #[inline(always)]
    fn new(length: usize) -> Self {
        let (count, mut last) = (length.div_ceil(LANES), [0; LANES]);
        for (at, mask) in last.iter_mut().enumerate() {
            *mask = if (count - 1) * LANES + at < length { u32::MAX } else { 0 };
        }
        Windows { count, last }
    }

    /// A lane, with `other` in place of numbers behind the row. These are read too, because a copy of
    /// variable length takes longer.
    #[inline(always)]
    fn load(&self, at: usize, row: &[f32], other: f32) -> Lane {
        let mut lane = [0.0; LANES];
        lane.copy_from_slice(&row[at * LANES..][..LANES]);
        if at + 1 == self.count {
            for (value, mask) in lane.iter_mut().zip(self.last) {
                *value = f32::from_bits(value.to_bits() & mask | other.to_bits() & !mask);
            }
        }
        lane
    }
}

/// Σ f(x), accumulated in 16 partial sums.
#[inline(always)]
fn sum(values: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0_f32; 16];
    let (chunks, rest) = values.as_chunks::<16>();
    for chunk in chunks {
        for (sum, &value) in sums.iter_mut().zip(chunk) {
            *sum += term(value);
        }
    }
    for (sum, &value) in sums.iter_mut().zip(rest) {
        *sum += term(value);
    }
    total(&sums)
}

kernel! {
    /// Adds the squared gradient norm of a linear layer, (‖a‖² + 1)·‖δ‖², for inputs a and output
    /// gradient δ: the squared norms of δaᵀ (weights) and δ (biases).
    LinearSquares {
        inputs: &'a [f32],
        output_gradient: &'a [f32],
        squares: &'a mut [f64],
    } => {
        let rows = squares.len();
        let inputs = inputs.chunks_exact(inputs.len() / rows);
        let output_gradient = output_gradient.chunks_exact(output_gradient.len() / rows);
        for ((square, inputs), output_gradient) in squares.iter_mut().zip(inputs).zip(output_gradient) {
            *square += (sum_of_squares(inputs) + 1.0) * sum_of_squares(output_gradient);
        }
    }
}

/// Clipping factor of a gradient, min(1, `clip_norm` ÷ `norm`). The quotient is reduced by a factor
/// of 1 − 2⁻¹⁸, so that rounding cannot raise a clipped gradient above `clip_norm`. NaN if the norm
/// is not finite.
pub(super) fn clip_factor(clip_norm: f32, norm: f64) -> f32 {
    const DOWN: f64 = 1.0 - 1.0 / 262_144.0;
    let quotient = DOWN * f64::from(clip_norm) / norm;
    let factor = if quotient > 1.0 { 1.0 } else { quotient };
    if norm.is_finite() { factor as f32 } else { f32::NAN }
}

/// Σ xy: blocks are summed in f32, their sums in f64.
#[inline(always)]
pub(super) fn sum_of_products(left: &[f32], right: &[f32]) -> f64 {
    let mut sum = 0.0;
    for (left, right) in left.chunks(256).zip(right.chunks(256)) {
        let mut sums = [0.0_f32; 16];
        let ((left, left_rest), (right, right_rest)) = (left.as_chunks(), right.as_chunks());
        for (left, right) in left.iter().zip(right) {
            let (left, right): (&[f32; 16], &[f32; 16]) = (left, right);
            for (sum, (x, y)) in sums.iter_mut().zip(left.iter().zip(right)) {
                *sum += x * y;
            }
        }
        for (sum, (x, y)) in sums.iter_mut().zip(left_rest.iter().zip(right_rest)) {
            *sum += x * y;
        }
        sum += f64::from(total(&sums));
    }
    sum
}

/// Σ x²: blocks are summed in f32, their sums in f64.
#[inline(always)]
fn sum_of_squares(values: &[f32]) -> f64 {
    values.chunks(256).map(|chunk| f64::from(sum(chunk, |value| value * value))).sum()
}
