//! Events with known probability in both worlds, which prove a bound without sampling.

use super::proposal::{Draw, DrawError};
use crate::accounting::Training;
use crate::accounting::shuffle::maximum::{Logarithm, Maximum};
use crate::math;
use crate::special::normal_ln_cdf;

/// An event A of one epoch's outputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Event {
    /// The largest output is above the threshold: max_t x_t > C
    Maximum { cut: f64 },
    /// The sum of the outputs is above the threshold: Σ_t x_t > C
    Total { cut: f64 },
}

impl Event {
    /// Whether A contains the draw.
    pub(super) fn contains(self, draw: &Draw) -> bool {
        match self {
            Event::Maximum { cut } => draw.maximum > cut,
            Event::Total { cut } => draw.total > cut,
        }
    }

    /// Whether the exact draw may be on the other side of the threshold.
    pub(super) fn is_doubtful(self, draw: &Draw, error: &DrawError) -> bool {
        match self {
            Event::Maximum { cut } => (draw.maximum - cut).abs() < error.maximum,
            Event::Total { cut } => (draw.total - cut).abs() < error.total,
        }
    }

    /// P(A) − e^ε Q(A), rounded down; may be negative.
    pub(super) fn advantage(self, run: &Training, epsilon: f64) -> f64 {
        let (with, without) = match self {
            Event::Maximum { cut } => {
                let distribution = Maximum::new(*run);
                (distribution.ln_above(cut, 2.0), distribution.ln_above(cut, 1.0))
            }
            Event::Total { cut } => {
                let deviation = run.noise_multiplier * (run.steps_per_epoch as f64).sqrt();
                let above = |mean: f64| {
                    let x = (cut - mean) / deviation;
                    Logarithm { value: normal_ln_cdf(-x), error: 2e-15 * (8.0 + x * x) }
                };
                (above(2.0), above(1.0))
            }
        };
        let rounding =
            4.0 * f64::EPSILON * (2.0 + epsilon + with.value.abs() + without.value.abs());
        let gain = math::exp(with.value - with.error - rounding);
        let loss = math::exp(epsilon + without.value + without.error + rounding);
        gain - loss
    }

    /// The event of the sum with the largest advantage at ε: its likelihood ratio is e^ε at the
    /// threshold.
    pub(super) fn of_total(run: &Training, epsilon: f64) -> Event {
        let steps = run.steps_per_epoch as f64;
        let variance = run.noise_multiplier * run.noise_multiplier;
        Event::Total { cut: 1.5 + epsilon * steps * variance }
    }
}
