//! The variance of the sums of outputs over an epoch.

use super::independence::RecordedRuns;
use super::output_model::OutputModel;
use super::placement::Placement;
use crate::special::BetaDistribution;

/// Variances of the sums of outputs over an epoch, with the target and without.
///
/// Uses of the target add κ each. A shuffle, which uses it once, adds nothing to the variance;
/// Poisson batches at rate q add κ²·Tq(1 − q).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EpochSums {
    /// Variance of D ÷ variance of D′; 1 on average if the target is used once per epoch.
    pub ratio: f64,
    /// Chance of at least this ratio if the target is used once per epoch of independent noise,
    /// whatever its size is.
    pub p_value: f64,
    /// Variance of D.
    pub variance: f64,
    /// Epochs of D.
    pub epochs: u64,
}

impl EpochSums {
    /// The variances; none with fewer than two epochs of a world without failed runs, or without
    /// noise.
    #[must_use]
    pub fn of(target: RecordedRuns<'_>, zero_out: RecordedRuns<'_>) -> Option<Self> {
        let (variance, epochs) = variance(target)?;
        let (other, other_epochs) = self::variance(zero_out)?;
        let ratio = variance / other;
        let [own, others] = [epochs, other_epochs].map(|count| count - 1.0);
        // F(m, n) exceeds f with the probability that Beta(n/2, m/2) is below n/(n + m f)
        let distribution = BetaDistribution::new(others / 2.0, own / 2.0).ok()?;
        let p_value = distribution.cdf(others / (others + own * ratio)).ok()?;
        Some(EpochSums { ratio, p_value, variance, epochs: epochs as u64 })
    }

    /// Standard errors by which the variance of D exceeds the one under a placement: that of the
    /// noise Tσ², and κ²·Tq(1 − q) where each step is drawn independently.
    ///
    /// For `steps` T, and `rate` q of independent steps. The standard error has the fourth cumulant
    /// κ⁴·Tq(1 − q)(1 − 6q(1 − q)) of the uses.
    #[must_use]
    pub fn standard_errors(
        &self,
        model: &OutputModel,
        placement: Placement,
        steps: usize,
        rate: f64,
    ) -> f64 {
        let OutputModel { contrast, noise_multiplier, .. } = *model;
        let square = contrast * contrast;
        let spread = rate * (1.0 - rate);
        let uses = match placement {
            Placement::Poisson => steps as f64 * spread,
            _ => 0.0,
        };
        let expected = steps as f64 * noise_multiplier * noise_multiplier + uses * square;
        let cumulant = uses * (1.0 - 6.0 * spread) * square * square;
        let n = self.epochs as f64;
        let error = 2.0 * expected * expected / (n - 1.0) + cumulant / n;
        (self.variance - expected) / error.sqrt()
    }
}

fn variance(runs: RecordedRuns<'_>) -> Option<(f64, f64)> {
    let epochs = runs.finite_runs().flat_map(|run| run.chunks_exact(runs.steps()));
    let sums: Vec<f64> = epochs.map(|epoch| epoch.iter().sum()).collect();
    let n = sums.len() as f64;
    let mean = sums.iter().sum::<f64>() / n;
    let variance = sums.iter().map(|sum| (sum - mean) * (sum - mean)).sum::<f64>() / (n - 1.0);
    (variance > 0.0 && variance.is_finite()).then_some((variance, n))
}
