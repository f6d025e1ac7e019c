//! The state of an optimisation.

use super::error::OptimizationError;

/// A mean of AUCs, an estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanAuc {
    /// The mean.
    pub value: f64,
    /// Its standard error over splits; a split and its complement count once.
    pub standard_error: f64,
}

/// Everything that changes from metastep to metastep.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OptimizationState {
    /// Features of the canaries, canary by canary.
    pub canaries: Vec<f32>,
    /// Moving sum of gradients; empty unless the update has momentum.
    pub velocity: Vec<f32>,
    /// Mean objective per canary of each metastep; none where it was skipped, because a training
    /// diverged.
    pub objectives: Vec<Option<f64>>,
    /// Validations so far.
    pub validations: Vec<Validation>,
    /// The validated canaries with the highest AUC per canary.
    pub best: Option<BestCanaries>,
}

/// Canaries evaluated on fresh splits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Validation {
    /// Metasteps before it.
    pub metasteps: u32,
    /// AUC of all canaries by their losses; mean over trainings.
    pub raw: MeanAuc,
    /// AUC of a canary by its losses in several trainings; mean over canaries.
    pub per_canary: MeanAuc,
}

/// The best canaries so far.
#[derive(Debug, Clone, PartialEq)]
pub struct BestCanaries {
    /// Metasteps before them.
    pub metasteps: u32,
    /// Their features.
    pub canaries: Vec<f32>,
}

impl OptimizationState {
    pub(super) fn new(canaries: Vec<f32>) -> Self {
        OptimizationState {
            canaries,
            velocity: Vec::new(),
            objectives: Vec::new(),
            validations: Vec::new(),
            best: None,
        }
    }

    /// Metasteps so far, those that were skipped included.
    #[must_use]
    pub fn metasteps(&self) -> u32 {
        self.objectives.len() as u32
    }

    /// Metasteps without effect, because a training diverged.
    #[must_use]
    pub fn skipped(&self) -> u32 {
        self.objectives.iter().filter(|objective| objective.is_none()).count() as u32
    }

    /// The best validated canaries; the current ones before the first validation.
    #[must_use]
    pub fn best_canaries(&self) -> &[f32] {
        self.best.as_ref().map_or(&self.canaries, |best| &best.canaries)
    }

    /// Rejects a state, for example of a file, whose canaries have another size.
    ///
    /// # Errors
    /// What differs.
    pub fn check(&self, values: usize) -> Result<(), OptimizationError> {
        let sizes = [
            ("the number of canaries", self.canaries.len() == values),
            ("the velocity", self.velocity.is_empty() || self.velocity.len() == values),
            (
                "the size of the best canaries",
                self.best.as_ref().is_none_or(|best| best.canaries.len() == values),
            ),
        ];
        match sizes.iter().find(|(_, is_right)| !is_right) {
            Some(&(what, _)) => Err(OptimizationError::OtherState { what }),
            None => Ok(()),
        }
    }
}
