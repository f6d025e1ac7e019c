//! Elementwise layers, the loss and norms, in loops that vectorise.

use super::elementary;
use super::instruction_set::Kernel;

/// Values become their hyperbolic tangents.
pub(super) struct Tanh<'a> {
    pub(super) input: &'a [f32],
    pub(super) output: &'a mut [f32],
}

impl Kernel for Tanh<'_> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(self) {
        for (value, &x) in self.output.iter_mut().zip(self.input) {
            *value = elementary::tanh(x);
        }
    }
}

/// Slopes by the inputs of tanh from those by its outputs, in place.
pub(super) fn tanh_slopes(output: &[f32], slopes: &mut [f32]) {
    for (slope, &value) in slopes.iter_mut().zip(output) {
        *slope *= 1.0 - value * value;
    }
}

/// max(x, 0); NaN stays.
pub(super) fn relu(input: &[f32], output: &mut [f32]) {
    for (value, &x) in output.iter_mut().zip(input) {
        *value = if x <= 0.0 { 0.0 } else { x };
    }
}

/// As [`tanh_slopes`]; an output is above 0 where its input is.
pub(super) fn relu_slopes(output: &[f32], slopes: &mut [f32]) {
    for (slope, &value) in slopes.iter_mut().zip(output) {
        *slope = if value > 0.0 { *slope } else { 0.0 };
    }
}

/// Slopes of the loss by the logits, row by row: the softmax, less 1 at the label. A label that is
/// no class gives NaN.
pub(super) struct LossSlopes<'a> {
    pub(super) logits: &'a [f32],
    pub(super) labels: &'a [u32],
    pub(super) classes: usize,
    pub(super) slopes: &'a mut [f32],
}

impl Kernel for LossSlopes<'_> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(self) {
        let rows = self.logits.chunks_exact(self.classes);
        let slopes = self.slopes.chunks_exact_mut(self.classes);
        for ((logits, slopes), &label) in rows.zip(slopes).zip(self.labels) {
            let mut most = [f32::NEG_INFINITY; 16];
            let (chunks, rest) = logits.as_chunks::<16>();
            for chunk in chunks {
                for (most, &logit) in most.iter_mut().zip(chunk) {
                    *most = if logit > *most { logit } else { *most };
                }
            }
            let larger = |most: f32, logit: &f32| if *logit > most { *logit } else { most };
            let centre = most.iter().chain(rest).fold(f32::NEG_INFINITY, larger);
            for (slope, &logit) in slopes.iter_mut().zip(logits) {
                *slope = elementary::exp(logit - centre);
            }
            let part = 1.0 / sum(slopes, |value| value);
            for slope in slopes.iter_mut() {
                *slope *= part;
            }
            match slopes.get_mut(label as usize) {
                Some(slope) => *slope -= 1.0,
                None => slopes.fill(f32::NAN),
            }
        }
    }
}

/// Σ f(x) in 16 sums side by side.
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
    super::products::total(&sums)
}

/// Adds (‖a‖² + 1)·‖δ‖², with a row of inputs a and one of slopes δ: the square of the norm of their
/// product and of δ, the gradients of a linear layer's weights and biases.
pub(super) struct LinearSquares<'a> {
    pub(super) inputs: &'a [f32],
    pub(super) slopes: &'a [f32],
    pub(super) squares: &'a mut [f64],
}

impl Kernel for LinearSquares<'_> {
    #[inline(always)]
    fn run<const WIDTH: usize, const COLUMNS: usize, const FUSED: bool>(self) {
        let rows = self.squares.len();
        let inputs = self.inputs.chunks_exact(self.inputs.len() / rows);
        let slopes = self.slopes.chunks_exact(self.slopes.len() / rows);
        for ((square, inputs), slopes) in self.squares.iter_mut().zip(inputs).zip(slopes) {
            *square += (squares(inputs) + 1.0) * squares(slopes);
        }
    }
}

/// Σ x²: short sums in f32 are added in f64.
#[inline(always)]
fn squares(values: &[f32]) -> f64 {
    values.chunks(256).map(|chunk| f64::from(sum(chunk, |value| value * value))).sum()
}
