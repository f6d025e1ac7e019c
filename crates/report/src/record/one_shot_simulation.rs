//! Simulated runs of the Gaussian mechanism behind an audit with canaries.

use dpscope_core::audit::one_shot::{EpsilonEstimator, OneShotBounds};
use dpscope_core::gdp::gdp_epsilon;
use serde::{Deserialize, Serialize};

use super::SeedSource;

/// The simulated mechanism, and what all of its runs showed.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneShotSimulation {
    /// Standard deviation of the noise per coordinate over the norm of a canary.
    pub noise_multiplier: f64,
    /// μ of the mechanism, 1/σ; none without noise.
    pub gdp_mu: Option<f64>,
    /// ε of the mechanism at δ; none where it is not finite.
    pub epsilon: Option<f64>,
    /// Whether every coordinate was drawn, or the cosines by their joint distribution.
    pub is_full_dimension: bool,
    /// Independent runs; bounds, estimates and verdict of the report are those of the first.
    pub repeats: u64,
    /// All runs, by what each of them showed; none of a single run.
    pub summaries: Vec<OneShotSummary>,
    /// Seed of every random word, a decimal number below 2⁵³.
    pub seed: String,
    /// Where the seed comes from.
    pub seed_source: SeedSource,
    /// Devices that computed.
    pub device: String,
    /// Runs in the state that was resumed.
    pub resumed_from: Option<u64>,
}

/// One bound or estimate in many runs, beside the truth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneShotSummary {
    /// What was computed.
    pub quantity: OneShotQuantity,
    /// ε or μ of the mechanism; none where it is not finite.
    pub truth: Option<f64>,
    /// Runs with a value.
    pub runs: u64,
    /// Median, the lower of two.
    pub median: f64,
    /// 5 % of the runs show less.
    pub low: f64,
    /// 5 % of the runs show more.
    pub high: f64,
    /// Runs with a value above the truth.
    pub runs_above: u64,
}

/// A bound or an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OneShotQuantity {
    /// Bound on ε for any training algorithm.
    Epsilon,
    /// Bound on ε for independent canaries.
    IndependentEpsilon,
    /// Bound on μ for any training algorithm.
    GdpMu,
    /// Bound on μ for independent canaries.
    IndependentGdpMu,
    /// Estimate of ε by the mean score.
    MeanEstimate,
    /// Estimate of ε by two fitted Gaussians.
    TwoGaussiansEstimate,
}

impl OneShotQuantity {
    /// Bounds first.
    pub const ALL: [Self; 6] = [
        Self::Epsilon,
        Self::IndependentEpsilon,
        Self::GdpMu,
        Self::IndependentGdpMu,
        Self::MeanEstimate,
        Self::TwoGaussiansEstimate,
    ];

    /// Whether it is a μ, not an ε.
    #[must_use]
    pub const fn is_mu(self) -> bool {
        matches!(self, Self::GdpMu | Self::IndependentGdpMu)
    }

    /// Its value in a run; none where the run has none.
    #[must_use]
    pub fn value(
        self,
        bounds: &OneShotBounds,
        estimate: impl Fn(EpsilonEstimator) -> Option<f64>,
    ) -> Option<f64> {
        match self {
            Self::Epsilon => Some(bounds.epsilon),
            Self::IndependentEpsilon => Some(bounds.independent_epsilon),
            Self::GdpMu => Some(bounds.gdp_mu),
            Self::IndependentGdpMu => bounds.independent_gdp_mu,
            Self::MeanEstimate => estimate(EpsilonEstimator::Mean),
            Self::TwoGaussiansEstimate => estimate(EpsilonEstimator::TwoGaussians),
        }
    }
}

impl OneShotSimulation {
    /// μ and ε of the Gaussian mechanism, each none where it is not finite.
    #[must_use]
    pub fn truth(noise_multiplier: f64, delta: f64) -> (Option<f64>, Option<f64>) {
        let gdp_mu = (noise_multiplier > 0.0).then(|| noise_multiplier.recip());
        let epsilon = gdp_mu.and_then(|mu| gdp_epsilon(mu, delta).ok());
        (gdp_mu, epsilon.filter(|epsilon| epsilon.is_finite()))
    }

    /// The truth of a quantity.
    #[must_use]
    pub const fn truth_of(&self, quantity: OneShotQuantity) -> Option<f64> {
        if quantity.is_mu() { self.gdp_mu } else { self.epsilon }
    }
}

impl OneShotSummary {
    /// Summary of the values of all runs; none without any.
    #[must_use]
    pub fn of(quantity: OneShotQuantity, truth: Option<f64>, mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let at = |share: f64| values[(share * last as f64).floor() as usize];
        let above = |truth: f64| values.len() - values.partition_point(|&value| value <= truth);
        Some(Self {
            quantity,
            truth,
            runs: values.len() as u64,
            median: at(0.5),
            low: at(0.05),
            high: at(0.95),
            runs_above: truth.map_or(0, above) as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_orders_the_runs_and_counts_those_above_the_truth() {
        let values = (0..101).map(|value| f64::from(100 - value)).collect();
        let summary = OneShotSummary::of(OneShotQuantity::Epsilon, Some(97.0), values).unwrap();
        assert_eq!((summary.low, summary.median, summary.high), (5.0, 50.0, 95.0));
        assert_eq!((summary.runs, summary.runs_above), (101, 3));
        assert_eq!(OneShotSummary::of(OneShotQuantity::GdpMu, None, Vec::new()), None);
    }

    #[test]
    fn no_noise_has_no_finite_truth() {
        assert_eq!(OneShotSimulation::truth(0.0, 1e-6), (None, None));
        assert_eq!(OneShotSimulation::truth(2.0, 0.0), (Some(0.5), None));
        let (mu, epsilon) = OneShotSimulation::truth(4.224_678_889_327_171, 1e-6);
        assert!(mu.is_some() && (epsilon.unwrap() - 1.0).abs() < 1e-9, "{epsilon:?}");
    }
}
