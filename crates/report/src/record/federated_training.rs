//! Federated trainings behind an audit with canaries.

use dpscope_core::audit::one_shot::OneShotBounds;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::SeedSource;
use crate::words::OneShotAttacker;

/// The trainings, what each attack showed, and what canaries cost.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FederatedTrainings {
    /// Model, data and settings.
    pub description: Value,
    /// Parameters of the model.
    pub parameters: u64,
    /// Trainings with canaries; one bound covers all.
    pub repeats: u64,
    /// Trainings without canaries.
    pub without_canaries: u64,
    /// Trainings that diverged.
    pub failed: u64,
    /// Every attack; the verdict uses the one that was chosen.
    pub attacks: Vec<FederatedAttackRecord>,
    /// Accuracy on held-out data with canaries; none without such data.
    pub accuracy: Option<FederatedAccuracy>,
    /// Accuracy of the trainings without canaries.
    pub accuracy_without_canaries: Option<FederatedAccuracy>,
    /// What is proven about the training; none where nothing is.
    pub accounted: Option<FederatedAccounted>,
    /// What single updates show, composed as the accountant would; none where it does not apply.
    pub round_by_round: Option<RoundByRound>,
    /// Seed of every random word, a decimal number below 2⁵³.
    pub seed: String,
    /// Where the seed comes from.
    pub seed_source: SeedSource,
    /// Devices that computed.
    pub device: String,
    /// Trainings in the state that was resumed.
    pub resumed_from: Option<u64>,
}

/// One attack on the canaries of all trainings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FederatedAttackRecord {
    /// What the attacker sees.
    pub attacker: OneShotAttacker,
    /// Whether the verdict uses it.
    pub is_chosen: bool,
    /// Lower bounds, each with all of the significance.
    pub bounds: OneShotBounds,
    /// Mean of the normal scores; none where null probabilities are only limits.
    pub mean_score: Option<f64>,
}

/// Share of held-out examples that are classified correctly, over trainings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FederatedAccuracy {
    /// Mean.
    pub mean: f64,
    /// Standard error of the mean; none of one training.
    pub standard_error: Option<f64>,
    /// Number of trainings.
    pub trainings: u64,
}

impl FederatedAccuracy {
    /// Mean and standard error of the shares of several trainings; none without any.
    #[must_use]
    pub fn of(shares: &[f64]) -> Option<Self> {
        let count = shares.len() as f64;
        if shares.is_empty() {
            return None;
        }
        let mean = shares.iter().sum::<f64>() / count;
        let square: f64 = shares.iter().map(|share| (share - mean) * (share - mean)).sum();
        let standard_error = (shares.len() > 1).then(|| (square / (count * (count - 1.0))).sqrt());
        Some(Self { mean, standard_error, trainings: shares.len() as u64 })
    }
}

/// An upper bound on ε that is proven for an attacker who sees every update.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FederatedAccounted {
    /// ε at δ.
    pub epsilon: f64,
    /// μ of the Gaussian mechanisms that it composes; none with sampling.
    pub gdp_mu: Option<f64>,
    /// L2 sensitivity of all releases over the clipping norm; none if rounds have independent noise.
    pub l2_sensitivity: Option<f64>,
    /// The most server rounds of one participant.
    pub most_rounds: u32,
}

/// ε estimated from the canaries in each update and composed by the accountant, as if the noise of a
/// round were what its canaries show (CANIFE, arXiv:2210.02912). An estimate, which decides nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundByRound {
    /// μ of one server round.
    pub gdp_mu: f64,
    /// ε of all server rounds at δ.
    pub epsilon: f64,
    /// ε where the square of μ is two standard errors smaller and larger.
    pub range: [f64; 2],
    /// The largest ε that the method can find with these canaries, whatever leaks; none where the
    /// accountant has no finite value.
    pub ceiling: Option<f64>,
    /// Server rounds with two canaries or more.
    pub server_rounds: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracies_have_a_standard_error() {
        let found = FederatedAccuracy::of(&[0.8, 0.9]).unwrap();
        assert!((found.mean - 0.85).abs() < 1e-12);
        assert!((found.standard_error.unwrap() - 0.05).abs() < 1e-12);
        assert_eq!(FederatedAccuracy::of(&[0.8]).unwrap().standard_error, None);
        assert_eq!(FederatedAccuracy::of(&[]), None);
    }
}
