//! Saved states of every subject, recognised by their schema.

use std::path::Path;

use dpscope_engine::{Artefact, ArtefactError, Plan as _};
use dpscope_formats::Limits;
use dpscope_simulation::Plan;
use dpscope_train::one_run::OneRunPlan;

use crate::failure::Failure;
use crate::files::read;

/// The state of a run of any subject.
pub(crate) enum SavedRun {
    /// Runs with and without one canary.
    TwoWorlds(Box<Artefact<Plan>>),
    /// Trainings with many canaries.
    OneRun(Box<Artefact<OneRunPlan>>),
}

impl SavedRun {
    /// Reads the file of a run.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let max_bytes = Plan::MAX_BYTES.max(OneRunPlan::MAX_BYTES) as u64;
        let bytes = read(path, &Limits { max_bytes, ..Limits::default() })?;
        let state = match Artefact::from_bytes(&bytes) {
            Err(ArtefactError::Schema { found, .. }) if found == OneRunPlan::SCHEMA => {
                Artefact::from_bytes(&bytes).map(|state| SavedRun::OneRun(Box::new(state)))
            }
            // counts of two worlds are smaller
            Err(ArtefactError::TooLarge { .. }) => {
                Artefact::from_bytes(&bytes).map(|state| SavedRun::OneRun(Box::new(state)))
            }
            state => state.map(|state| SavedRun::TwoWorlds(Box::new(state))),
        };
        state.map_err(|error| Failure::from(error).about(path))
    }
}
