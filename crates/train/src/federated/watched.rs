//! One federated training as a person watches it.

use dpscope_core::audit::one_shot::{CosineNull, OneShotError};
use dpscope_engine::EngineError;

use super::evidence::FederatedUnit;
use super::protocol::FederatedModels;
use crate::TrainError;
use crate::models::Protocol;

/// A model after some rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchedRounds {
    /// Server rounds so far.
    pub rounds: usize,
    /// The model so far, scored by its change alone before the last round.
    pub unit: FederatedUnit,
}

impl FederatedUnit {
    /// The normal scores of its canaries in the change of the model.
    ///
    /// # Errors
    /// The errors of [`CosineNull`].
    pub fn normal_scores(&self, parameters: usize) -> Result<Vec<f64>, OneShotError> {
        let tails = CosineNull::new(parameters as u64)?.tails(&self.final_model)?;
        Ok(tails.normal_scores().collect())
    }
}

impl FederatedModels {
    /// Trains a model, the same as in the audit, and scores it about `evaluations` times.
    ///
    /// # Guarantee
    /// The last scores are those of the audited model
    /// (`crates/train/tests/federated/watched.rs::a_watched_model_is_the_audited_one`).
    ///
    /// # Errors
    /// `keep_going` returned false.
    pub fn watch(
        &self,
        unit: u64,
        evaluations: usize,
        keep_going: &dyn Fn() -> bool,
    ) -> Result<Vec<WatchedRounds>, TrainError> {
        let length = self.training().settings().rounds as usize;
        let every = (length / evaluations.max(1)).max(1);
        let mut found = Vec::new();
        let task = self.trainer.context.task(unit);
        let mut scratch = self.training().scratch();
        let trained = scratch.train(task, keep_going, &mut |server, rounds| {
            if rounds.is_multiple_of(every) && rounds < length {
                found.push(WatchedRounds { rounds, unit: server.finish_so_far() });
            }
        });
        let unit = trained.ok_or(EngineError::Stopped)?;
        found.push(WatchedRounds { rounds: length, unit });
        Ok(found)
    }
}
