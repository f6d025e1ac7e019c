//! What the engine needs to know about plans and evidence.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::EngineError;

/// Everything that determines the evidence of a run: subject, protocol, statement, size and seed.
/// Two runs of one plan have the same evidence.
pub trait Plan: Clone + Debug + PartialEq + Serialize + DeserializeOwned {
    /// Schema of the artefacts of such plans.
    const SCHEMA: &'static str;
    /// Maximum size of an artefact, in bytes.
    const MAX_BYTES: usize;
    /// Results of the plan per unit, for progress: 2 if a unit is an observation of each of two worlds.
    const RESULTS_PER_UNIT: u64;
    /// Number of units that are computed together.
    const GROUP: u64;

    /// What is fixed before the units of a stage are computed, a function of the plan and of the
    /// evidence of earlier stages.
    type Stage: Clone + Debug + PartialEq + Serialize + DeserializeOwned;
    /// What a stage yields.
    type Evidence: Evidence;

    /// Number of units of each stage.
    fn units(&self) -> u64;

    /// Names ranges of units in messages, for example as "observations 3..6 of each world".
    fn named(ranges: &str) -> String;

    /// Evidence of no units.
    fn empty(&self, stage: &Self::Stage) -> Self::Evidence;

    /// Whether evidence of all units of this stage is the result of the plan.
    fn is_last(&self, _stage: &Self::Stage) -> bool {
        true
    }

    /// The fields in which two plans differ, as text.
    fn differences(&self, other: &Self) -> String;

    /// Checks what was read from a file: a valid plan, its stage, and evidence of `units` units.
    ///
    /// # Errors
    /// What is wrong, as the end of a sentence.
    fn check(
        &self,
        stage: &Self::Stage,
        evidence: &Self::Evidence,
        units: u64,
    ) -> Result<(), &'static str>;
}

/// What units yield; a sum, which does not depend on the order of its terms.
pub trait Evidence: Clone + Debug + PartialEq + Serialize + DeserializeOwned {
    /// Adds the evidence of other units of the same stage.
    ///
    /// # Errors
    /// Evidence of another stage.
    fn join(&mut self, other: &Self) -> Result<(), EngineError>;

    /// Whether it is the evidence of exactly so many units, failed ones included.
    fn is_of(&self, units: u64) -> bool;
}
