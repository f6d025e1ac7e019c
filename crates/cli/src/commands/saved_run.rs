//! Saved states of every audit, recognised by their schema.

use std::path::Path;
use web_time::Instant;

use dpscope_engine::{Artefact, Plan as _, schema_of};
use dpscope_formats::Limits;
use dpscope_simulation::Plan;
use dpscope_simulation::noisy_sum::NoisySumPlan;
use dpscope_synth::workload::PateGanPlan;
use dpscope_train::federated::FederatedPlan;
use dpscope_train::one_run::OneRunPlan;

use super::merge::MergeArgs;
use super::resume::ResumeArgs;
use crate::failure::{CommandResult, Failure};
use crate::files::read_own;
use crate::job::RunPlan;

/// An audit whose saved states `resume` and `merge` read.
pub(crate) trait SavedAudit: RunPlan {
    /// Resumes a checkpoint.
    fn resume(args: &ResumeArgs, state: Artefact<Self>) -> CommandResult;

    /// Reports merged shards.
    fn merge(args: &MergeArgs, merged: &Artefact<Self>, started: Instant) -> CommandResult;
}

/// What is done with a state whose audit only its schema says.
pub(super) trait SavedVisitor {
    /// Called with the state.
    fn visit<A: SavedAudit>(self, state: Artefact<A>) -> CommandResult;
}

macro_rules! audits {
    ($first:ty, $($audit:ty),*) => {
        const MOST_BYTES: &[usize] = &[<$first>::MAX_BYTES, $(<$audit>::MAX_BYTES),*];

        /// Reads the state in a file, which the same command may write.
        pub(super) fn read(path: &Path, visitor: impl SavedVisitor) -> CommandResult {
            let max_bytes = MOST_BYTES.iter().fold(0, |most, &bytes| most.max(bytes as u64));
            let bytes = read_own(path, &Limits { max_bytes, ..Limits::default() })?;
            let wrong = |error| Failure::from(error).about(path);
            match schema_of(&bytes).map_err(wrong)?.as_str() {
                $(<$audit>::SCHEMA => {
                    visitor.visit(Artefact::<$audit>::from_bytes(&bytes).map_err(wrong)?)
                })*
                _ => visitor.visit(Artefact::<$first>::from_bytes(&bytes).map_err(wrong)?),
            }
        }
    };
}

// another schema is refused as no state of the first
audits!(Plan, OneRunPlan, NoisySumPlan, FederatedPlan, PateGanPlan);
