//! What a report tells of the models that were trained.

use dpscope_core::audit::Outcome;
use dpscope_core::shown::rounded;
use dpscope_core::theory::Kind;
use dpscope_engine::{TrainingState, TrainingTally};
use serde::Serialize;

use super::{counted, plain, row};

/// A variance of the residuals is worth a finding from this many standard errors on.
const NOTABLE: f64 = 6.0;

/// Models, and how far their outputs are from the idealised law.
#[derive(Debug, Serialize)]
pub(crate) struct TrainingFacts {
    /// Model, data and settings.
    pub(crate) description: serde_json::Value,
    /// Runs whose outputs are not finite, counted against the attack.
    pub(crate) failed: u64,
    /// Mean of what outputs are above the mean of their batch, in noise standard deviations.
    pub(crate) bias: Option<f64>,
    /// Variance of the same about the mean, in noise variances.
    pub(crate) residual_variance: Option<f64>,
    /// Its standard error if only noise differs.
    pub(crate) residual_variance_error: Option<f64>,
    /// How far the outputs of the canary's batch lie above the mean, beside the others, in noise
    /// standard deviations.
    pub(crate) canary_shift: Option<f64>,
    /// Its standard error if nothing but noise and runs differ.
    pub(crate) canary_shift_error: Option<f64>,
    /// Share of held-out examples that trained models classify correctly.
    pub(crate) correct_share: Option<f64>,
    /// Held-out examples asked about, over all models asked.
    pub(crate) asked: u64,
    /// ε of the idealised law at as many observations, by the same rule; none where that takes long.
    pub(crate) idealised: Option<Idealised>,
}

/// What the same audit says of the batched Gaussian mechanism.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Idealised {
    kind: &'static str,
    epsilon: f64,
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
    pub(super) fn of(training: &TrainingState, idealised: Option<Idealised>) -> Self {
        let whole = training.whole();
        let error = (2.0 / whole.outputs as f64).sqrt();
        TrainingFacts {
            description: serde_json::from_str(&training.description).unwrap_or_default(),
            failed: whole.failed,
            bias: whole.bias(),
            residual_variance: whole.residual_variance(),
            residual_variance_error: (whole.outputs > 0).then_some(error),
            canary_shift: whole.canary_shift(),
            canary_shift_error: (whole.canaries > 0).then(|| canary_error(&whole)),
            correct_share: whole.correct_share(),
            asked: whole.asked,
            idealised,
        }
    }

    /// What looks wrong with the trainer, in words.
    pub(super) fn findings(&self) -> Vec<String> {
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

    pub(super) fn to_text(&self) -> String {
        let name = |place: &[&str]| {
            let found = place.iter().try_fold(&self.description, |value, key| value.get(key));
            found.map_or(String::new(), |value| match value {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            })
        };
        let mut out = row(
            "trained",
            &format!(
                "on {} records of {}, learning rate {}",
                name(&["data", "records"]),
                name(&["data", "name"]),
                name(&["settings", "learning_rate"])
            ),
        );
        if let Some(share) = self.correct_share {
            let asked = counted(self.asked, "answer");
            out.push_str(&row(
                "models",
                &format!("{:.1} % of {asked} on held-out examples right", 100.0 * share),
            ));
        }
        if let (Some(bias), Some(variance), Some(error)) =
            (self.bias, self.residual_variance, self.residual_variance_error)
        {
            let text = format!(
                "outputs lie {} σ beside the idealised mean and vary by {} ± {error:.4} of the noise \
                 variance",
                signed(bias),
                rounded(variance, 4)
            );
            out.push_str(&row("residuals", &text));
        }
        if let Some(Idealised { kind, epsilon }) = self.idealised {
            let shown = if kind == "bound" {
                format!("≥ {}", plain(epsilon, Kind::Lower, 4))
            } else {
                format!("≈ {epsilon:.4}")
            };
            let text = format!(
                "ε {shown} by the same audit of the batched Gaussian mechanism: what these \
                 runs could show if no record but the canary's mattered"
            );
            out.push_str(&row("idealised", &text));
        }
        out
    }
}

/// With four decimals and a sign.
fn signed(value: f64) -> String {
    let sign = if value.is_sign_negative() { "" } else { "+" };
    format!("{sign}{}", rounded(value, 4))
}

/// Of the difference of two means, at the variance seen: that of the noise at least.
fn canary_error(tally: &TrainingTally) -> f64 {
    let others = tally.outputs.saturating_sub(tally.canaries).max(1);
    let variance = tally.residual_variance().unwrap_or(1.0).max(1.0);
    (variance * (1.0 / tally.canaries as f64 + 1.0 / others as f64)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Residuals of ±`spread`, those of one in ten outputs, the canary's, higher by ½.
    fn is_notable(spread: f64) -> bool {
        let mut tally = TrainingTally::default();
        for place in 0..10_000 {
            let sign = if place / 10 % 2 == 0 { spread } else { -spread };
            let is_canary = place % 10 == 0;
            tally.add_residual(sign + if is_canary { 0.5 } else { 0.0 }, is_canary);
        }
        tally.canary_shift().unwrap().abs() > NOTABLE * canary_error(&tally)
    }

    #[test]
    fn what_other_records_add_is_not_blamed_on_the_canary() {
        assert!(is_notable(1.0));
        assert!(!is_notable(4.0));
    }
}
