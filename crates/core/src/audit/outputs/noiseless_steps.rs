//! Steps without noise: there an output alone shows the world.

use super::RecordedOutputs;
use crate::adjacency::World;
use crate::audit::scores::{AuditOptions, choosing_runs};
use crate::mechanism::{MechanismError, OutputScorer};
use crate::recorded::{is_near_noiseless, is_noiseless};

/// Steps of an epoch, from 0, that have no noise in the runs that choose thresholds.
#[derive(Debug)]
pub(super) struct NoiselessSteps<'a> {
    scorer: &'a OutputScorer,
    steps: Vec<usize>,
}

impl RecordedOutputs<'_> {
    /// The steps without noise; none where there are none.
    pub(super) fn noiseless_steps(&self, options: &AuditOptions) -> Option<NoiselessSteps<'_>> {
        let steps_per_epoch = self.steps_per_epoch() as usize;
        let chosen = World::BOTH.map(|world| {
            let runs = self.world(world);
            let chosen = runs.runs().zip(choosing_runs(options, world, runs.len()));
            (world, chosen.filter_map(|(run, chooses)| chooses.then_some(run)).collect::<Vec<_>>())
        });
        let has_no_noise = |step: &usize| {
            chosen.iter().all(|(world, runs)| {
                let outputs =
                    runs.iter().flat_map(|run| run[*step..].iter().step_by(steps_per_epoch));
                is_noiseless(self.scorer, *world, &outputs.copied().collect::<Vec<_>>())
            })
        };
        let steps: Vec<usize> = (0..steps_per_epoch).filter(has_no_noise).collect();
        (!steps.is_empty()).then_some(NoiselessSteps { scorer: self.scorer, steps })
    }
}

impl NoiselessSteps<'_> {
    /// 1 for a run with an output that only the target's batch in D has without noise, otherwise 0.
    pub(super) fn score(&self, run: &[f64]) -> Result<f64, MechanismError> {
        self.scorer.check(run)?;
        let (shift, other) = self.scorer.shift_and_other(World::Target)?;
        let steps_per_epoch = self.scorer.mechanism().steps_per_epoch as usize;
        let mut outputs = run
            .chunks(steps_per_epoch)
            .flat_map(|epoch| self.steps.iter().map(|step| epoch[*step]));
        let shows_target = outputs.any(|output| is_near_noiseless(output, other + shift));
        Ok(f64::from(u8::from(shows_target)))
    }
}
