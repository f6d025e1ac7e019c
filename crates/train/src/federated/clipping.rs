//! Clipping of updates.

use dpscope_core::math;
use serde::{Deserialize, Serialize};

/// The norm C that updates are clipped to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum UpdateClipping {
    /// One norm for all rounds.
    Fixed {
        /// Clipping norm C, in [10⁻⁶, 10⁶].
        norm: f64,
    },
    /// C ← C·exp(−η(b̃ − γ)) after every round, where b̃ is the noisy share of clients with
    /// ‖update‖ ≤ C: Andrew et al., Differentially Private Learning with Adaptive Clipping, 2021.
    ///
    /// Canaries do not count: they always reach C, and above a share of 1 − γ they would raise it
    /// without end.
    Adaptive {
        /// C of the first round, in [10⁻⁶, 10⁶].
        initial: f64,
        /// Target share γ of clients with ‖update‖ ≤ C, in (0, 1).
        quantile: f64,
        /// Learning rate η of C, in (0, 10].
        learning_rate: f64,
    },
}

impl UpdateClipping {
    /// C of the first round.
    #[must_use]
    pub const fn initial(&self) -> f64 {
        match *self {
            UpdateClipping::Fixed { norm } => norm,
            UpdateClipping::Adaptive { initial, .. } => initial,
        }
    }

    /// Standard deviation of the noise of the count of clipped updates among `clients` expected ones.
    #[must_use]
    pub(super) fn count_noise(&self, clients: f64) -> f64 {
        match self {
            UpdateClipping::Fixed { .. } => 0.0,
            UpdateClipping::Adaptive { .. } => clients / 20.0,
        }
    }

    /// Noise multiplier of the sum, (σ⁻² − (2σ_b)⁻²)^−½, so that sum and count together cost as much as
    /// one sum with σ; none if the count alone costs more.
    #[must_use]
    pub fn sum_noise(&self, noise_multiplier: f64, clients: f64) -> Option<f64> {
        if matches!(self, UpdateClipping::Fixed { .. }) || noise_multiplier == 0.0 {
            return Some(noise_multiplier);
        }
        let count = 2.0 * self.count_noise(clients);
        let square = 1.0 / (noise_multiplier * noise_multiplier) - 1.0 / (count * count);
        (square > 0.0).then(|| 1.0 / square.sqrt())
    }

    /// The quantile of the norms of clients at which C would rest if canaries counted, as a share of
    /// all participants; none if C grew without end, or without adaptive clipping.
    ///
    /// γ/(1 − share)
    #[must_use]
    pub fn quantile_with_canaries(&self, share: f64) -> Option<f64> {
        match *self {
            UpdateClipping::Fixed { .. } => None,
            UpdateClipping::Adaptive { quantile, .. } => {
                (share < 1.0 - quantile).then(|| quantile / (1.0 - share))
            }
        }
    }

    /// C of the next round.
    #[must_use]
    pub fn next(&self, norm: f64, share_within: f64) -> f64 {
        match *self {
            UpdateClipping::Fixed { .. } => norm,
            UpdateClipping::Adaptive { quantile, learning_rate, .. } => {
                norm * math::exp(-learning_rate * (share_within - quantile))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_and_sum_cost_as_much_as_one_sum() {
        let adaptive = UpdateClipping::Adaptive { initial: 0.1, quantile: 0.5, learning_rate: 0.2 };
        let sum = adaptive.sum_noise(1.0, 100.0).unwrap();
        let count = adaptive.count_noise(100.0);
        // μ² of both releases adds up; a count of ±½ has sensitivity 1/2
        assert!((1.0 / (sum * sum) + 0.25 / (count * count) - 1.0).abs() < 1e-12);
        assert_eq!(adaptive.sum_noise(10.0, 100.0), None);
        assert_eq!(UpdateClipping::Fixed { norm: 1.0 }.sum_noise(2.0, 100.0), Some(2.0));
    }

    #[test]
    fn the_norm_approaches_the_quantile() {
        let adaptive = UpdateClipping::Adaptive { initial: 0.1, quantile: 0.5, learning_rate: 0.2 };
        let mut norm = adaptive.initial();
        // norms of updates are uniform on [0, 4]
        for _ in 0..200 {
            norm = adaptive.next(norm, (norm / 4.0).min(1.0));
        }
        assert!((norm - 2.0).abs() < 1e-3, "{norm}");
    }
}
