//! The noise that a server really added.

use super::{CosineNull, OneShotError, check_significance};
use crate::special::chi_square;

/// The test of noise that is absent or too small, from the norm of one update.
///
/// ‖Σ‖²/C² of a sum with Gaussian noise is at least σ²χ² with d degrees of freedom, whatever the data
/// are, in distribution: a smaller one refutes σ. It bounds no ε.
///
/// # Example
/// ```
/// use dpscope_core::audit::one_shot::NoiseNorm;
/// let test = NoiseNorm::new(25_186, 50, 0.01)?;
/// assert_eq!(format!("{:.4}", test.noise_multiplier_upper(25_500.0)?), "1.0223");
/// # Ok::<(), dpscope_core::audit::one_shot::OneShotError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseNorm {
    quantile: f64,
}

impl NoiseNorm {
    /// Updates of d coordinates in T server rounds, at a significance for all of them together.
    ///
    /// # Errors
    /// [`OneShotError::Dimension`], [`OneShotError::ServerRounds`], [`OneShotError::Significance`].
    pub fn new(
        dimension: u64,
        server_rounds: u64,
        significance: f64,
    ) -> Result<Self, OneShotError> {
        CosineNull::new(dimension)?;
        check_significance(significance)?;
        if server_rounds == 0 {
            return Err(OneShotError::ServerRounds);
        }
        let level = significance / server_rounds as f64;
        Ok(Self { quantile: chi_square::quantile(dimension as f64, level) })
    }

    /// The α/T quantile of χ² with d degrees of freedom.
    #[must_use]
    pub const fn chi_square_quantile(&self) -> f64 {
        self.quantile
    }

    /// Upper limit of σ from ‖Σ‖²/C² of one server round; limits of all server rounds hold together.
    ///
    /// # Guarantee
    /// `unit::limits_hold_with_their_confidence_and_detect_half_of_the_noise`.
    ///
    /// # Errors
    /// [`OneShotError::SquareNorm`] if it is negative, infinite or NaN.
    pub fn noise_multiplier_upper(&self, square_norm: f64) -> Result<f64, OneShotError> {
        if !(0.0..f64::INFINITY).contains(&square_norm) {
            return Err(OneShotError::SquareNorm { square_norm });
        }
        Ok((square_norm / self.quantile).sqrt())
    }
}

/// Weights of the clients that replied, where the server adds noise σC/n to their weighted mean, n the
/// planned number of clients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReplyWeights {
    replies: u64,
    sum: f64,
    largest: f64,
}

impl ReplyWeights {
    /// One weight per reply.
    ///
    /// # Errors
    /// [`OneShotError::Weights`] if there is none, or one is not positive and finite.
    pub fn new(weights: &[f64]) -> Result<Self, OneShotError> {
        let is_weight = |weight: &f64| *weight > 0.0 && *weight < f64::INFINITY;
        if weights.is_empty() || !weights.iter().all(is_weight) {
            return Err(OneShotError::Weights);
        }
        let largest = weights.iter().copied().fold(0.0, f64::max);
        Ok(Self { replies: weights.len() as u64, sum: weights.iter().sum(), largest })
    }

    /// Number of clients that replied.
    #[must_use]
    pub const fn replies(&self) -> u64 {
        self.replies
    }

    /// The noise multiplier that protects the client with the largest weight: σ Σw/(n max w).
    #[must_use]
    pub fn noise_multiplier_of_heaviest(&self, noise_multiplier: f64, planned: u64) -> f64 {
        noise_multiplier * self.sum / (planned as f64 * self.largest)
    }

    /// The noise multiplier at equal weights: σ times replies over planned clients.
    #[must_use]
    pub fn noise_multiplier_at_equal_weights(&self, noise_multiplier: f64, planned: u64) -> f64 {
        noise_multiplier * self.replies as f64 / planned as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, WideNormals};

    #[test]
    fn limits_hold_with_their_confidence_and_detect_half_of_the_noise() {
        let test = NoiseNorm::new(400, 1, 0.05).unwrap();
        let mut normals = vec![0.0; 400];
        let (mut wrong, mut found) = (0, 0);
        for seed in 0..1_000 {
            WideNormals::new(seed, Purpose::Test, 33).fill(&mut normals);
            let square: f64 = normals.iter().map(|z| z * z).sum();
            let limit = |noise: f64| test.noise_multiplier_upper(noise * noise * square).unwrap();
            wrong += u32::from(limit(1.0) < 1.0);
            found += u32::from(limit(0.5) < 1.0);
        }
        assert!((25..80).contains(&wrong), "{wrong}");
        assert_eq!(found, 1_000);
    }

    #[test]
    fn one_heavy_client_has_little_noise() {
        let equal = ReplyWeights::new(&[3.0; 5]).unwrap();
        assert!((equal.noise_multiplier_of_heaviest(1.0, 5) - 1.0).abs() < 1e-15);
        let uneven = ReplyWeights::new(&[960.0, 10.0, 10.0, 10.0, 10.0]).unwrap();
        assert!((uneven.noise_multiplier_of_heaviest(1.0, 5) - 0.2 / 0.96).abs() < 1e-12);
        assert_eq!(uneven.noise_multiplier_at_equal_weights(0.8, 10), 0.4);
    }

    #[test]
    fn bad_arguments_are_refused() {
        assert!(NoiseNorm::new(1, 1, 0.05).is_err() && NoiseNorm::new(10, 0, 0.05).is_err());
        assert!(NoiseNorm::new(10, 1, 0.0).is_err());
        let test = NoiseNorm::new(10, 1, 0.05).unwrap();
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(test.noise_multiplier_upper(bad).is_err());
            assert!(ReplyWeights::new(&[1.0, bad]).is_err());
        }
        assert!(ReplyWeights::new(&[]).is_err());
    }
}
