//! What the engine needs to know about plans and evidence.

use std::fmt::{Debug, Display};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{ArtefactError, EngineError};

/// Everything that determines the evidence of a run: subject, protocol, statement, size and seed.
/// Two runs of one plan have the same evidence.
pub trait Plan: Clone + Debug + PartialEq + Serialize + DeserializeOwned {
    /// Schema of the artefacts of such plans.
    const SCHEMA: &'static str;
    /// Maximum size of an artefact, in bytes.
    const MAX_BYTES: usize;
    /// Results of the plan per unit, for progress: 2 if a unit is an observation of each of two worlds.
    const RESULTS_PER_UNIT: u64;

    /// What is fixed before the units of a stage are computed, a function of the plan and of the
    /// evidence of earlier stages.
    type Stage: Clone + Debug + PartialEq + Serialize + DeserializeOwned;
    /// What a stage yields.
    type Evidence: Evidence;

    /// Number of units of each stage.
    fn units(&self) -> u64;

    /// Number of units that are computed together.
    fn group(&self) -> u64 {
        1
    }

    /// Names ranges of units in messages, for example as "observations 3..6 of each world".
    fn named(ranges: &str) -> String;

    /// Evidence of no units.
    fn empty(&self, stage: &Self::Stage) -> Self::Evidence;

    /// Whether evidence of all units of this stage is the result of the plan.
    fn is_last(&self, _stage: &Self::Stage) -> bool {
        true
    }

    /// The fields in which two plans differ, as text; by default those of their JSON objects.
    fn differences(&self, other: &Self) -> String {
        differing_fields(json_fields(self), json_fields(other))
    }

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

/// The fields of an object by name, each as JSON.
fn json_fields(plan: &impl Serialize) -> Vec<(String, String)> {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(plan) else {
        return Vec::new();
    };
    fields.into_iter().map(|(name, value)| (name, value.to_string())).collect()
}

/// The fields that differ, as text; both sides have the same names in the same order.
pub fn differing_fields<N: PartialEq + Display>(
    mine: impl IntoIterator<Item = (N, String)>,
    theirs: impl IntoIterator<Item = (N, String)>,
) -> String {
    let differing = mine.into_iter().zip(theirs).filter(|(mine, theirs)| mine != theirs);
    let described =
        differing.map(|((name, mine), (_, theirs))| format!("{name}: {mine} here, {theirs} there"));
    described.collect::<Vec<_>>().join("; ")
}

/// Adds results of other units, in the order of their indices.
///
/// # Errors
/// `twice`, as the end of a sentence, if an index occurs twice.
pub fn join_by_index<R: Clone>(
    results: &mut Vec<R>,
    others: &[R],
    index: impl Fn(&R) -> u64,
    twice: &'static str,
) -> Result<(), EngineError> {
    results.extend_from_slice(others);
    results.sort_by_key(&index);
    if results.windows(2).any(|next| index(&next[0]) == index(&next[1])) {
        return Err(ArtefactError::Inconsistent { what: twice }.into());
    }
    Ok(())
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
