//! Results of several trained models.

use std::fmt::Debug;

use dpscope_engine::{ArtefactError, EngineError, Evidence, join_by_index};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Most held-out records and canaries of a model: data sets have fewer records, and sums over the models
/// of a plan do not overflow.
pub(crate) const MOST_RECORDS: u64 = u32::MAX as u64;

/// The result of one trained model of a plan.
pub trait ModelResult: Clone + Debug + PartialEq + Serialize + DeserializeOwned {
    /// Its index in the plan.
    fn unit(&self) -> u64;

    /// Whether the training diverged.
    fn has_failed(&self) -> bool;
}

/// Results of some models of a plan, in the order of their indices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelEvidence<M> {
    /// Everything that determines the training except the plan, as JSON.
    pub description: String,
    /// The models.
    pub models: Vec<M>,
}

impl<M: ModelResult> ModelEvidence<M> {
    /// The results of some models of a training.
    pub(crate) fn of(description: &str, models: Vec<M>) -> Self {
        ModelEvidence { description: description.to_owned(), models }
    }

    /// Number of models whose training diverged.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.models.iter().filter(|model| model.has_failed()).count() as u64
    }

    /// Checks what was read from a file: the indices of `units` models among `planned`.
    pub(crate) fn check_indices(&self, planned: u64, units: u64) -> Result<(), &'static str> {
        if !self.is_of(units) {
            return Err("its models do not match its counted ranges");
        }
        let is_inside = |model: &M| model.unit() < planned;
        let is_sorted = self.models.windows(2).all(|pair| pair[0].unit() < pair[1].unit());
        if !is_sorted || !self.models.iter().all(is_inside) {
            return Err("its models are not in order");
        }
        Ok(())
    }
}

impl<M> Default for ModelEvidence<M> {
    fn default() -> Self {
        ModelEvidence { description: String::new(), models: Vec::new() }
    }
}

impl<M: ModelResult> Evidence for ModelEvidence<M> {
    fn join(&mut self, other: &Self) -> Result<(), EngineError> {
        if self.models.is_empty() && self.description.is_empty() {
            self.description.clone_from(&other.description);
        }
        if self.description != other.description {
            let what = "its training differs from that of the other models";
            return Err(ArtefactError::Inconsistent { what }.into());
        }
        join_by_index(&mut self.models, &other.models, M::unit, "it contains a model twice")
    }

    fn is_of(&self, units: u64) -> bool {
        self.models.len() as u64 == units
    }
}
