//! The mechanism's parameters, and the score of an observation in f64.

use super::{BatchSampler, MechanismError, ScoreLaw, ThreatModel};

/// Parameters of the batched Gaussian mechanism under one attacker.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BatchedGaussian {
    /// Noise standard deviation ÷ clip norm, in [0.2, 20].
    pub noise_multiplier: f64,
    /// Batches an epoch T, 1 to 10⁵.
    pub steps_per_epoch: u32,
    /// Passes over the data E, 1 to 10³.
    pub epochs: u32,
    /// How batches are drawn.
    pub sampler: BatchSampler,
    /// Who attacks.
    pub threat_model: ThreatModel,
    /// Records a batch B; needed by the buffered samplers and by batch-then-shuffle.
    pub batch_size: Option<u32>,
}

impl BatchedGaussian {
    /// The law of this mechanism's score.
    ///
    /// # Errors
    /// A parameter outside its domain, or an undefined pair of sampler and threat model.
    pub fn law(&self) -> Result<ScoreLaw, MechanismError> {
        Ok(ScoreLaw {
            noise_multiplier: self.noise_multiplier,
            epochs: self.epochs,
            entries: self.steps_per_epoch,
            kind: super::LawKind::OneSlot { gap: 2.0, weights: super::SlotWeights::Uniform },
        })
    }
}
