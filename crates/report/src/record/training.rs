//! Facts about models that were trained.

use dpscope_core::audit::{Finding, Outcome, OutcomeKind};
use serde::{Deserialize, Serialize};

/// Models, and how far their outputs are from the idealised distribution.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrainingFacts {
    /// Model, data and settings.
    pub description: serde_json::Value,
    /// Runs whose outputs are not finite, counted against the attack.
    pub failed: u64,
    /// Mean of what outputs are above the mean of their batch, in noise standard deviations.
    pub bias: Option<f64>,
    /// Variance of the same about the mean, in noise variances.
    pub residual_variance: Option<f64>,
    /// Its standard error if only noise differs.
    pub residual_variance_error: Option<f64>,
    /// How far the outputs of the canary's batch lie above the mean, beside the others, in noise
    /// standard deviations.
    pub canary_shift: Option<f64>,
    /// Its standard error if nothing but noise and runs differ.
    pub canary_shift_error: Option<f64>,
    /// Share of held-out examples that trained models classify correctly.
    pub correct_share: Option<f64>,
    /// Predictions on held-out examples, over all evaluated models.
    pub asked: u64,
    /// ε of the idealised distribution at as many observations, by the same rule; none where that takes
    /// long.
    pub idealised: Option<Idealised>,
}

/// Result of the same audit on the batched Gaussian mechanism.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Idealised {
    /// Whether the value has coverage.
    pub kind: OutcomeKind,
    /// ε, nats.
    pub epsilon: f64,
}

impl From<&Outcome> for Idealised {
    fn from(outcome: &Outcome) -> Self {
        Idealised { kind: outcome.kind(), epsilon: outcome.value() }
    }
}

impl TrainingFacts {
    /// What is wrong with the trainer.
    pub fn findings(&self) -> impl Iterator<Item = Finding> + use<> {
        let noise = self.residual_variance.zip(self.residual_variance_error);
        let noise = noise.and_then(|(variance, error)| Finding::noise_too_small(variance, error));
        let canary = self.canary_shift.zip(self.canary_shift_error);
        let canary = canary.and_then(|(shift, error)| Finding::canary_shifted(shift, error));
        noise.into_iter().chain(canary)
    }
}
