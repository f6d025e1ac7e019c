//! One training with canaries as a person watches it.

use dpscope_engine::EngineError;

use super::evidence::TrainedUnit;
use super::protocol::OneRunModels;
use super::run::OneRunner;
use super::training::OneRunTraining;
use crate::TrainError;

/// The canaries of a model after some steps.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchedCanaries {
    /// Steps so far.
    pub steps: usize,
    /// Scores and quality of the model so far.
    pub unit: TrainedUnit,
}

impl OneRunModels {
    /// Trains a model, the same as in the audit, and scores its canaries before the first step, about
    /// `evaluations` times, and after the last step.
    ///
    /// # Guarantee
    /// The last scores are those of the audited model
    /// (`crates/train/tests/one_run/watched.rs::a_watched_model_is_the_audited_one`).
    ///
    /// # Errors
    /// `keep_going` returned false.
    pub fn watch(
        &self,
        unit: u64,
        evaluations: usize,
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Vec<WatchedCanaries>, TrainError> {
        let length = self.training().steps();
        let every = (length / evaluations.max(1)).max(1);
        let mut found = Vec::new();
        let mut runner = OneRunner::new(self.training());
        let trained = runner.run_observed(unit, keep_going, &mut |runner, so_far| {
            if so_far.steps.is_multiple_of(every) && so_far.steps < length {
                let unit = runner.scores_so_far(so_far);
                found.extend(unit.map(|unit| WatchedCanaries { steps: so_far.steps, unit }));
            }
        });
        let unit = trained.ok_or(EngineError::Stopped)?;
        found.push(WatchedCanaries { steps: length, unit });
        Ok(found)
    }
}

impl OneRunTraining {
    /// Steps of a training, over all epochs.
    fn steps(&self) -> usize {
        self.mechanism.steps_per_epoch as usize * self.mechanism.epochs as usize
    }
}
