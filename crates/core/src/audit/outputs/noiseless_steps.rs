//! Steps without noise: there an output alone shows the world.

use super::RecordedOutputs;
use crate::adjacency::World;
use crate::audit::scores::{AuditOptions, choosing_runs};
use crate::mechanism::{MechanismError, OutputScorer};
use crate::recorded::{NoiselessCells, is_near_noiseless};

/// Epochs and steps that have no noise in D in the runs that choose thresholds.
#[derive(Debug)]
pub(super) struct NoiselessSteps<'a> {
    scorer: &'a OutputScorer,
    /// Indices into the outputs of a run.
    cells: Vec<usize>,
}

impl RecordedOutputs<'_> {
    /// The epochs and steps without noise; none where there are none, and where D alone has no noise at
    /// all, which is a fault of the recording.
    pub(super) fn noiseless_steps(&self, options: &AuditOptions) -> Option<NoiselessSteps<'_>> {
        let runs = World::BOTH.map(|world| {
            let runs = self.world(world);
            let chosen = runs.runs().zip(choosing_runs(options, world, runs.len()));
            chosen.filter_map(|(run, chooses)| chooses.then_some(run))
        });
        let found = NoiselessCells::of(self.scorer, runs, self.shape());
        if found.is_whole(World::Target) && !found.is_whole(World::ZeroOut) {
            return None;
        }
        let of_target = found.world(World::Target).iter().enumerate();
        let cells: Vec<usize> =
            of_target.filter_map(|(cell, is_noiseless)| is_noiseless.then_some(cell)).collect();
        (!cells.is_empty()).then_some(NoiselessSteps { scorer: self.scorer, cells })
    }
}

impl NoiselessSteps<'_> {
    /// 1 for a run with an output that only the target's batch in D has without noise, otherwise 0.
    pub(super) fn score(&self, run: &[f64]) -> Result<f64, MechanismError> {
        self.scorer.check(run)?;
        let (shift, other) = self.scorer.shift_and_other(World::Target)?;
        let mut outputs = self.cells.iter().map(|cell| run[*cell]);
        let shows_target = outputs.any(|output| is_near_noiseless(output, other + shift));
        Ok(f64::from(u8::from(shows_target)))
    }
}
