//! Facts about models that were trained.

use dpscope_core::audit::Outcome;
use dpscope_core::format::rounded;
use serde::Serialize;

use crate::number::signed;

/// A residual is a finding from this many standard errors on.
pub const NOTABLE: f64 = 6.0;

/// Models, and how far their outputs are from the idealised law.
#[derive(Debug, Serialize)]
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
    /// Held-out examples asked about, over all models asked.
    pub asked: u64,
    /// ε of the idealised law at as many observations, by the same rule; none where that takes long.
    pub idealised: Option<Idealised>,
}

/// What the same audit says of the batched Gaussian mechanism.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Idealised {
    /// `bound` or `estimate`.
    pub kind: &'static str,
    /// ε, nats.
    pub epsilon: f64,
}

impl From<&Outcome> for Idealised {
    fn from(outcome: &Outcome) -> Self {
        let kind = match outcome {
            Outcome::Bound(_) => "bound",
            Outcome::Estimate(_) => "estimate",
        };
        Idealised { kind, epsilon: outcome.value() }
    }
}

impl TrainingFacts {
    /// What looks wrong with the trainer, in words.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        let noise = self.residual_variance.zip(self.residual_variance_error);
        if let Some((variance, _)) = noise.filter(|(seen, error)| *seen < 1.0 - NOTABLE * error) {
            findings.push(format!(
                "the outputs vary by {} of the noise variance, less than the noise alone \
                 would: the noise is too small",
                rounded(variance, 4)
            ));
        }
        let canary = self.canary_shift.zip(self.canary_shift_error);
        if let Some((shift, _)) = canary.filter(|(seen, error)| seen.abs() > NOTABLE * error) {
            findings.push(format!(
                "the outputs of the canary's batch lie {} σ beside where its gradient puts them: \
                 it is not clipped to the clip norm, or the other records' gradients along it differ \
                 between its batch and the others",
                signed(shift)
            ));
        }
        findings
    }
}
