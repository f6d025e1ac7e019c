//! Buffered linear Toeplitz matrices.

use super::minimum::{Minimum, minimise};
use super::participation::Spread;
use crate::accounting::AccountingError;
use crate::accounting::error::argument;
use crate::math;

/// A Toeplitz matrix with c₀ = 1 and c_t = Σᵢ ωᵢθᵢ^{t−1}, whose noise needs one vector of memory per
/// buffer i: (C⁻¹z)_t = z_t − Σᵢ ωᵢuᵢ, after which uᵢ becomes θᵢuᵢ + (C⁻¹z)_t.
///
/// # Reference
/// Dvijotham et al., arXiv 2404.16706; McMahan, Xu and Zhang, arXiv 2408.08868, algorithm 3.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LinearBuffers {
    /// Decays θ, one per buffer.
    decays: Vec<f64>,
    /// Output scales ω, one per buffer.
    output_scales: Vec<f64>,
}

/// Most buffers.
pub(super) const MOST_BUFFERS: usize = 16;

/// Most buffers that are optimised.
pub(super) const MOST_OPTIMISED_BUFFERS: usize = 8;

impl LinearBuffers {
    /// Buffers.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `decays` | θ | 1 to 16 numbers in [0, 1) |
    /// | `output_scales` | ω | as many, in [0, 1e6] |
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    pub fn new(decays: &[f64], output_scales: &[f64]) -> Result<Self, AccountingError> {
        if !(1..=MOST_BUFFERS).contains(&decays.len()) {
            return Err(argument("buffers", decays.len() as f64, "in 1 to 16"));
        }
        if decays.len() != output_scales.len() {
            let count = output_scales.len() as f64;
            return Err(argument("output_scale", count, "as many numbers as there are decays"));
        }
        if let Some(decay) = decays.iter().find(|decay| !(0.0..1.0).contains(*decay)) {
            return Err(argument("buffer_decay", *decay, "in [0, 1)"));
        }
        if let Some(value) = output_scales.iter().find(|value| !(0.0..=1e6).contains(*value)) {
            return Err(argument("output_scale", *value, "in [0, 1e6]"));
        }
        Ok(Self { decays: decays.to_vec(), output_scales: output_scales.to_vec() })
    }

    /// Decay θᵢ of each buffer.
    #[must_use]
    pub fn decays(&self) -> &[f64] {
        &self.decays
    }

    /// Output scale ωᵢ of each buffer.
    #[must_use]
    pub fn output_scales(&self) -> &[f64] {
        &self.output_scales
    }

    /// c₀ … c_{n−1}, without zeros at the end.
    pub(super) fn coefficients(&self, count: usize) -> Vec<f64> {
        let mut terms = self.output_scales.clone();
        let mut coefficients = vec![1.0];
        for _ in 1..count {
            let next = terms.iter().sum();
            if next == 0.0 {
                break;
            }
            coefficients.push(next);
            terms.iter_mut().zip(&self.decays).for_each(|(term, decay)| *term *= decay);
        }
        coefficients
    }

    /// C⁻¹·1, which is the first column of the matrix of prefix sums times C⁻¹.
    pub(super) fn prefix_column(&self, count: usize) -> Vec<f64> {
        let mut buffers = vec![0.0; self.decays.len()];
        let mut column = Vec::with_capacity(count);
        for _ in 0..count {
            let shown: f64 = buffers.iter().zip(&self.output_scales).map(|(u, w)| u * w).sum();
            let value = 1.0 - shown;
            column.push(value);
            buffers.iter_mut().zip(&self.decays).for_each(|(u, decay)| *u = decay * *u + value);
        }
        column
    }

    /// Buffers whose prefix sums have the least squared error, weighted step by step, relative to
    /// the square of the norm that the worst steps show.
    ///
    /// Starts from a quadrature of c_t ≈ 1/√(πt) = ∫ e^{−st} s^{−½} ds/π over ln s, and minimises over
    /// ln θ/(1 − θ) and ln ω under Σω ≤ 1, so that coefficients decrease and the worst steps stay so.
    pub(super) fn optimised(count: usize, weights: &[f64], worst: Spread) -> (Self, Minimum) {
        let steps = weights.len();
        let lowest = -math::ln(steps.max(4) as f64);
        let width = -lowest / count as f64;
        let mut start = Vec::with_capacity(2 * count);
        for i in 0..count {
            let y = lowest + (i as f64 + 0.5) * width;
            let rate = math::exp(y);
            // ln θ/(1 − θ) with θ = e^{−rate}
            start.push(-rate - math::ln(-math::exp_m1(-rate)));
        }
        let mut scales: Vec<f64> = (0..count)
            .map(|i| math::exp(0.5 * (lowest + (i as f64 + 0.5) * width)) * width)
            .collect();
        let total: f64 = scales.iter().sum();
        scales.iter_mut().for_each(|scale| *scale *= 0.5 / total);
        start.extend(scales.iter().map(|&scale| math::ln(scale)));
        let mut trajectory = Trajectory::new(count, steps);
        let mut evaluate = |point: &[f64], gradient: &mut [f64]| {
            let buffers = Self::at(point);
            if !(buffers.output_scales.iter().sum::<f64>() <= 1.0) {
                return f64::INFINITY;
            }
            trajectory.evaluate(&buffers, weights, worst, gradient)
        };
        let minimum = minimise(start, &mut evaluate);
        (Self::at(&minimum.point), minimum)
    }

    fn at(point: &[f64]) -> Self {
        let (logits, logs) = point.split_at(point.len() / 2);
        // below 1 after rounding
        let decay = |&x: &f64| (1.0 / (1.0 + math::exp(-x))).min(1.0 - 1e-12);
        Self {
            decays: logits.iter().map(decay).collect(),
            output_scales: logs.iter().map(|&x| math::exp(x)).collect(),
        }
    }
}

/// Scratch memory of derivatives: buffers before each step, and outputs.
struct Trajectory {
    buffers: Vec<f64>,
    outputs: Vec<f64>,
}

impl Trajectory {
    fn new(count: usize, steps: usize) -> Self {
        Self { buffers: vec![0.0; count * steps], outputs: vec![0.0; steps] }
    }

    /// ln(Σ w_t g_t² · ‖C·1_R‖²) with g = C⁻¹·1, and its gradient with respect to ln θ/(1 − θ), ln ω.
    fn evaluate(
        &mut self,
        buffers: &LinearBuffers,
        weights: &[f64],
        worst: Spread,
        gradient: &mut [f64],
    ) -> f64 {
        gradient.fill(0.0);
        let error = self.add_part(buffers, -1.0, |_| 1.0, |step| weights[step], gradient);
        let input = |step| f64::from(u8::from(worst.contains(step)));
        let square = self.add_part(buffers, 1.0, input, |_| 1.0, gradient);
        let count = buffers.decays.len();
        for i in 0..count {
            gradient[i] *= buffers.decays[i] * (1.0 - buffers.decays[i]);
            gradient[count + i] *= buffers.output_scales[i];
        }
        math::ln(error) + math::ln(square)
    }

    /// Q = Σ w_t y_t² with y_t = x_t ± Σᵢ ωᵢuᵢ, after which uᵢ becomes θᵢuᵢ + x_t, or θᵢuᵢ + y_t for the
    /// inverse (sign −). Adds the gradient of ln Q with respect to θ and ω, by reverse
    /// differentiation.
    fn add_part(
        &mut self,
        buffers: &LinearBuffers,
        sign: f64,
        input: impl Fn(usize) -> f64,
        weight: impl Fn(usize) -> f64,
        gradient: &mut [f64],
    ) -> f64 {
        let LinearBuffers { decays, output_scales } = buffers;
        let count = decays.len();
        let mut state = [0.0; MOST_BUFFERS];
        let mut total = 0.0;
        for step in 0..self.outputs.len() {
            let kept = &mut self.buffers[step * count..][..count];
            kept.copy_from_slice(&state[..count]);
            let shown: f64 = kept.iter().zip(output_scales).map(|(u, w)| u * w).sum();
            let output = input(step) + sign * shown;
            self.outputs[step] = output;
            total += weight(step) * output * output;
            let fed = if sign < 0.0 { output } else { input(step) };
            for i in 0..count {
                state[i] = decays[i] * state[i] + fed;
            }
        }
        let mut adjoint = [0.0; MOST_BUFFERS];
        for step in (0..self.outputs.len()).rev() {
            let kept = &self.buffers[step * count..][..count];
            let mut output = 2.0 * weight(step) * self.outputs[step] / total;
            if sign < 0.0 {
                output += adjoint[..count].iter().sum::<f64>();
            }
            for i in 0..count {
                gradient[i] += kept[i] * adjoint[i];
                gradient[count + i] += sign * kept[i] * output;
                adjoint[i] = decays[i] * adjoint[i] + sign * output_scales[i] * output;
            }
        }
        total
    }
}
