//! Saved states of every subject, recognised by their schema.

use std::path::Path;

use dpscope_engine::{Artefact, ArtefactError, Plan as _};
use dpscope_formats::Limits;
use dpscope_simulation::Plan;
use dpscope_simulation::noisy_sum::NoisySumPlan;
use dpscope_synth::workload::PateGanPlan;
use dpscope_train::federated::FederatedPlan;
use dpscope_train::one_run::OneRunPlan;

use crate::failure::Failure;
use crate::files::read_own;

/// The state of a run of any subject.
pub(crate) enum SavedRun {
    /// Runs with and without one canary.
    TwoWorlds(Box<Artefact<Plan>>),
    /// Trainings with many canaries.
    OneRun(Box<Artefact<OneRunPlan>>),
    /// Noisy sums of canary directions.
    NoisySum(Box<Artefact<NoisySumPlan>>),
    /// Federated trainings.
    Federated(Box<Artefact<FederatedPlan>>),
    /// Runs of PATE-GAN.
    PateGan(Box<Artefact<PateGanPlan>>),
}

impl SavedRun {
    /// Reads the file of a run, which the same command may write.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let max_bytes = [
            Plan::MAX_BYTES,
            OneRunPlan::MAX_BYTES,
            NoisySumPlan::MAX_BYTES,
            FederatedPlan::MAX_BYTES,
            PateGanPlan::MAX_BYTES,
        ];
        let max_bytes = max_bytes.into_iter().fold(0, usize::max) as u64;
        let bytes = read_own(path, &Limits { max_bytes, ..Limits::default() })?;
        // by the largest plan, so that the schema is read of files of every size
        let state = match Artefact::from_bytes(&bytes) {
            Err(ArtefactError::Schema { found, .. }) if found.as_str() == OneRunPlan::SCHEMA => {
                Artefact::from_bytes(&bytes).map(|state| SavedRun::OneRun(Box::new(state)))
            }
            Err(ArtefactError::Schema { found, .. }) if found.as_str() == FederatedPlan::SCHEMA => {
                Artefact::from_bytes(&bytes).map(|state| SavedRun::Federated(Box::new(state)))
            }
            Err(ArtefactError::Schema { found, .. }) if found.as_str() == NoisySumPlan::SCHEMA => {
                Artefact::from_bytes(&bytes).map(|state| SavedRun::NoisySum(Box::new(state)))
            }
            Err(ArtefactError::Schema { .. }) => {
                Artefact::from_bytes(&bytes).map(|state| SavedRun::TwoWorlds(Box::new(state)))
            }
            state => state.map(|state| SavedRun::PateGan(Box::new(state))),
        };
        state.map_err(|error| Failure::from(error).about(path))
    }
}
