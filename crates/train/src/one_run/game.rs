//! From the scores of models to canaries whose coins are guessed.

use dpscope_core::audit::one_run::{CanaryError, CanaryScores};

use super::calibration::calibrated;
use super::evidence::{OneRunEvidence, OneRunScore, TrainedUnit};
use super::plan::OneRunPlan;

/// Canaries of one or more repeats with their coins.
#[derive(Debug, Clone, PartialEq)]
pub struct OneRunGame {
    /// Scores, repeat by repeat; larger where a canary is more likely included.
    pub scores: Vec<f64>,
    /// Whether each canary was included.
    pub coins: Vec<bool>,
}

impl OneRunGame {
    /// The canaries, to be ranked and guessed.
    ///
    /// # Errors
    /// As [`CanaryScores::coins`].
    pub fn canary_scores(&self) -> Result<CanaryScores<'_>, CanaryError> {
        CanaryScores::coins(&self.scores, &self.coins)
    }
}

impl OneRunEvidence {
    /// The canaries of repeats `range` as one game, with the score of the plan: scores are calibrated by
    /// the reference models, if there are any, and those of a failed repeat are NaN.
    #[must_use]
    pub fn game(&self, plan: &OneRunPlan, repeats: std::ops::Range<u32>) -> OneRunGame {
        self.game_of(plan, plan.score, repeats)
    }

    /// The canaries of the repeats that are trained so far and did not diverge.
    #[must_use]
    pub fn game_so_far(&self, plan: &OneRunPlan) -> OneRunGame {
        let is_scored =
            |model: &&TrainedUnit| model.unit < u64::from(plan.repeats) && !model.has_failed;
        let units = self.models.iter().filter(is_scored).map(|model| model.unit);
        self.game_of_units(plan, plan.score, units)
    }

    /// As [`game`](Self::game), with another score: for a summary, not for the bound.
    #[must_use]
    pub fn game_of(
        &self,
        plan: &OneRunPlan,
        score: OneRunScore,
        repeats: std::ops::Range<u32>,
    ) -> OneRunGame {
        let units = repeats.start.into()..repeats.end.min(plan.repeats).into();
        self.game_of_units(plan, score, units)
    }

    fn game_of_units(
        &self,
        plan: &OneRunPlan,
        score: OneRunScore,
        units: impl Iterator<Item = u64>,
    ) -> OneRunGame {
        let is_reference =
            |model: &&TrainedUnit| model.unit >= u64::from(plan.repeats) && !model.has_failed;
        let spent: Vec<(Vec<bool>, &[f32])> = self
            .models
            .iter()
            .filter(is_reference)
            .map(|model| (plan.coins(model.unit), model.scores(score)))
            .collect();
        let references: Vec<(&[bool], &[f32])> =
            spent.iter().map(|(coins, scores)| (&coins[..], *scores)).collect();
        let mut game = OneRunGame { scores: Vec::new(), coins: Vec::new() };
        for unit in units {
            let found = self.models.iter().find(|model| model.unit == unit && !model.has_failed);
            match found {
                Some(model) => {
                    game.scores.extend(calibrated(model.scores(score), &references));
                }
                None => game.scores.extend((0..plan.canaries).map(|_| f64::NAN)),
            }
            game.coins.extend(plan.coins(unit));
        }
        game
    }
}
