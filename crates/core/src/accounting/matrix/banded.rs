//! Bands of a Toeplitz matrix whose prefix sums have the least error.

use super::minimum::{Minimum, minimise};
use super::strategy::square_root_coefficients;
use crate::math;

/// Bands of norm 1 that minimise ‖c‖²·Σ_t w_t g_t² with C·g = 1, from those of the square root.
pub(super) fn optimised_bands(bands: u32, weights: &[f64]) -> (Vec<f64>, Minimum) {
    let start = square_root_coefficients(bands)[1..].to_vec();
    let mut error = BandedError::new(bands as usize, weights);
    let minimum = minimise(start, &mut |point, gradient| error.evaluate(point, gradient));
    let mut coefficients = vec![1.0];
    coefficients.extend_from_slice(&minimum.point);
    let norm = coefficients.iter().map(|c| c * c).sum::<f64>().sqrt();
    coefficients.iter_mut().for_each(|c| *c /= norm);
    (coefficients, minimum)
}

/// C⁻¹·1: the first column of the matrix of prefix sums times C⁻¹, for bands c.
pub(super) fn prefix_column(coefficients: &[f64], steps: usize) -> Vec<f64> {
    let mut column = vec![1.0; steps];
    solve(coefficients, &mut column);
    column
}

/// Solves C·x = b in place.
fn solve(coefficients: &[f64], x: &mut [f64]) {
    let (diagonal, below) = (coefficients[0], &coefficients[1..]);
    for step in 0..x.len() {
        let (done, open) = x.split_at_mut(step + 1);
        done[step] /= diagonal;
        let value = done[step];
        open.iter_mut().zip(below).for_each(|(x, c)| *x -= c * value);
    }
}

/// ln(‖c‖²·Σ w_t g_t²) as a function of c₁, c₂, … with c₀ = 1.
struct BandedError<'a> {
    weights: &'a [f64],
    /// Coefficients c₀, c₁, ….
    coefficients: Vec<f64>,
    /// Coefficients in reverse order: …, c₂, c₁.
    reversed: Vec<f64>,
    column: Vec<f64>,
    adjoint: Vec<f64>,
}

impl<'a> BandedError<'a> {
    fn new(bands: usize, weights: &'a [f64]) -> Self {
        let zeros = || vec![0.0; weights.len()];
        BandedError {
            weights,
            coefficients: vec![1.0; bands],
            reversed: vec![0.0; bands - 1],
            column: zeros(),
            adjoint: zeros(),
        }
    }

    /// With Cᵀλ = w∘g: ∂ Σ w_t g_t²/∂c_j = −2 Σ_t λ_t g_{t−j}.
    fn evaluate(&mut self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let width = point.len();
        self.coefficients[1..].copy_from_slice(point);
        self.reversed.copy_from_slice(point);
        self.reversed.reverse();
        self.column.fill(1.0);
        solve(&self.coefficients, &mut self.column);
        let parts = self.adjoint.iter_mut().zip(&self.column).zip(self.weights);
        parts.for_each(|((adjoint, g), weight)| *adjoint = weight * g);
        let error: f64 = self.adjoint.iter().zip(&self.column).map(|(a, g)| a * g).sum();
        // gradient[width − j] sums λ_t g_{t−j}, in the order of memory
        gradient.fill(0.0);
        for step in (1..self.adjoint.len()).rev() {
            let count = width.min(step);
            let value = self.adjoint[step];
            let earlier = &mut self.adjoint[step - count..step];
            let factors = &self.reversed[width - count..];
            earlier.iter_mut().zip(factors).for_each(|(a, c)| *a -= c * value);
            let outputs = &self.column[step - count..step];
            let sums = gradient[width - count..].iter_mut();
            sums.zip(outputs).for_each(|(sum, g)| *sum += value * g);
        }
        gradient.reverse();
        let square = 1.0 + point.iter().map(|c| c * c).sum::<f64>();
        let derivative = |(g, c): (&mut f64, &f64)| *g = 2.0 * c / square - 2.0 * *g / error;
        gradient.iter_mut().zip(point).for_each(derivative);
        math::ln(square) + math::ln(error)
    }
}
