//! Scores of trained models.

use serde::{Deserialize, Serialize};

use crate::model_evidence::{MOST_RECORDS, ModelEvidence, ModelResult};

/// A score of a canary; larger where the canary is more likely included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OneRunScore {
    /// Minus the loss at the final parameters θ_T. Needs queries to the final model.
    FinalLoss,
    /// Loss at the initial parameters θ₀ minus loss at θ_T. Needs the initial model, too.
    LossDifference,
    /// Log-likelihood ratio of the released noisy sums, in nats. Needs every θ_t.
    WhiteBox,
}

impl OneRunScore {
    /// Every score.
    pub const ALL: [OneRunScore; 3] =
        [OneRunScore::FinalLoss, OneRunScore::LossDifference, OneRunScore::WhiteBox];

    /// The name in commands and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            OneRunScore::FinalLoss => "final-loss",
            OneRunScore::LossDifference => "loss-difference",
            OneRunScore::WhiteBox => "white-box",
        }
    }
}

/// Scores and quality of one trained model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainedUnit {
    /// Its index in the plan.
    pub unit: u64,
    /// Whether the training diverged; a failed model has no scores.
    pub has_failed: bool,
    /// Minus the loss of each canary at θ_T.
    pub final_loss: Vec<f32>,
    /// Loss at θ₀ minus loss at θ_T of each canary.
    pub loss_difference: Vec<f32>,
    /// White-box score of each canary; empty if the settings ask for none.
    pub white_box: Vec<f32>,
    /// Number of held-out examples that the model classified.
    pub evaluated: u64,
    /// Number of these classified correctly.
    pub correct: u64,
    /// Sum of the losses of these, in nats.
    pub held_out_loss: f64,
}

impl TrainedUnit {
    /// The scores of one kind, canary by canary.
    #[must_use]
    pub fn scores(&self, score: OneRunScore) -> &[f32] {
        match score {
            OneRunScore::FinalLoss => &self.final_loss,
            OneRunScore::LossDifference => &self.loss_difference,
            OneRunScore::WhiteBox => &self.white_box,
        }
    }

    /// Share of held-out examples classified correctly.
    #[must_use]
    pub fn accuracy(&self) -> Option<f64> {
        (self.evaluated > 0).then(|| self.correct as f64 / self.evaluated as f64)
    }

    /// Whether it has the right number of finite scores of each kind, or none if it failed.
    fn is_whole(&self, canaries: usize, has_white_box: bool) -> bool {
        let length = if self.has_failed { 0 } else { canaries };
        let white_box = if has_white_box { length } else { 0 };
        let has = |scores: &[f32], length| {
            scores.len() == length && scores.iter().all(|score| score.is_finite())
        };
        has(&self.final_loss, length)
            && has(&self.loss_difference, length)
            && has(&self.white_box, white_box)
            && self.correct <= self.evaluated
            && self.evaluated <= MOST_RECORDS
            && self.held_out_loss.is_finite()
    }
}

impl ModelResult for TrainedUnit {
    fn unit(&self) -> u64 {
        self.unit
    }

    fn has_failed(&self) -> bool {
        self.has_failed
    }
}

/// Scores of some models of a plan, in the order of their indices.
pub type OneRunEvidence = ModelEvidence<TrainedUnit>;

impl OneRunEvidence {
    /// Checks what was read from a file.
    pub(super) fn check(
        &self,
        (canaries, models): (usize, u64),
        has_white_box: bool,
        units: u64,
    ) -> Result<(), &'static str> {
        self.check_indices(models, units)?;
        let is_whole = |model: &TrainedUnit| model.is_whole(canaries, has_white_box);
        if !self.models.iter().all(is_whole) {
            return Err("its scores are missing or not finite, or its counts impossible");
        }
        Ok(())
    }
}
