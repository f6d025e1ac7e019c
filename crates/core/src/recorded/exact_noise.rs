//! The noise of outputs whose sums were recorded.

use super::output_parameter::OutputParameter;
use crate::special::chi_square;

/// Noise e = output − sum of many steps: Σ e²/σ² is χ² with as many degrees of freedom as there are
/// outputs, for any sampler, threat model and drift.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ExactNoise {
    squares: f64,
    outputs: f64,
}

impl ExactNoise {
    /// The noise of `outputs` steps with this Σ e², in squared clip norms.
    #[must_use]
    pub const fn new(sum_of_squares: f64, outputs: u64) -> Self {
        ExactNoise { squares: sum_of_squares, outputs: outputs as f64 }
    }

    pub(crate) fn add(&mut self, output: f64, sum: f64) {
        let noise = output - sum;
        if noise.is_finite() {
            self.squares += noise * noise;
            self.outputs += 1.0;
        }
    }

    /// Number of outputs.
    pub(crate) const fn outputs(&self) -> f64 {
        self.outputs
    }

    pub(crate) fn joined(self, other: Self) -> Self {
        ExactNoise { squares: self.squares + other.squares, outputs: self.outputs + other.outputs }
    }

    /// √(Σ e²/N) with its interval.
    ///
    /// # Guarantee
    /// With independent normal noise, the interval misses σ with probability `significance`, in (0, 1)
    /// (`tests/oracles/recorded_outputs.rs::noise_beside_sums_has_its_chi_square_interval`).
    ///
    /// # Example
    /// ```
    /// let noise = dpscope_core::recorded::ExactNoise::new(900.0, 1000).noise_multiplier(0.05);
    /// println!("{:.3} ({:.3} to {:.3})", noise.value, noise.lower, noise.upper);
    /// // 0.949 (0.909 to 0.992)
    /// # assert_eq!(format!("{:.3} {:.3} {:.3}", noise.value, noise.lower, noise.upper), "0.949 0.909 0.992");
    /// ```
    #[must_use]
    pub fn noise_multiplier(&self, significance: f64) -> OutputParameter {
        let limit =
            |probability| (self.squares / chi_square::quantile(self.outputs, probability)).sqrt();
        OutputParameter {
            value: (self.squares / self.outputs).sqrt(),
            lower: limit(1.0 - 0.5 * significance),
            upper: limit(0.5 * significance),
        }
    }

    /// Two-sided p-value of a noise multiplier.
    #[must_use]
    pub fn p_value(&self, noise_multiplier: f64) -> f64 {
        let variance = noise_multiplier * noise_multiplier;
        chi_square::two_sided(self.outputs, self.squares / variance)
    }
}
