//! What an attacker sees of runs: their outputs, scored and counted.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::ThreatModel;
use dpscope_engine::TrainingTally;
#[cfg(feature = "gpu")]
use dpscope_shaders::train::EpochBatches;

use crate::training::Training;

/// Runs of each world whose models are asked about the held-out examples.
const EVALUATED_RUNS: u64 = 8;

/// The target's record.
const TARGET: u32 = 0;

/// What an attacker sees of one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RunResult {
    /// o, epoch-major; short where the run failed.
    pub(crate) outputs: Vec<f32>,
    /// In nats; NaN where the run failed.
    pub(crate) score: f64,
}

/// What the attacker put into a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Batch {
    /// The multiple of C·ĝ in the sum: what the output would be in the mean if the other records had no
    /// gradient along ĝ.
    pub(crate) mean: f64,
    /// Whether it holds the target, or ⊥ in its place.
    pub(crate) is_canarys: bool,
}

impl Training {
    /// Puts the records of a batch whose own gradients count into `kept`.
    pub(crate) fn keep(&self, world: World, members: &[u32], kept: &mut Vec<u32>) -> Batch {
        kept.clear();
        kept.extend(members.iter().filter(|&&record| record != TARGET));
        let is_canarys = kept.len() < members.len();
        if !is_canarys && self.is_informed() {
            kept.pop();
        }
        self.batch(world, is_canarys)
    }

    /// What each batch of a run holds.
    #[cfg(feature = "gpu")]
    pub(crate) fn batches_of(&self, world: World, run: u64) -> Vec<Batch> {
        let stream = 2 * run + world.index() as u64;
        let steps = self.mechanism.steps_per_epoch;
        let mut drawn = EpochBatches::default();
        let mut batches = Vec::with_capacity(self.outputs_per_run());
        for epoch in 0..self.mechanism.epochs {
            let place = self.batches.step_of(self.seed, stream, epoch, TARGET);
            if place.is_none() {
                self.batches.draw(self.seed, stream, epoch, &mut drawn);
            }
            batches.extend((0..steps).map(|step| {
                let holds = || drawn.members_at(step as usize).contains(&TARGET);
                self.batch(world, place.map_or_else(holds, |place| place == step))
            }));
        }
        batches
    }

    /// A batch of a world that holds the target, or ⊥ in its place; or another.
    fn batch(&self, world: World, is_canarys: bool) -> Batch {
        let mean = match (is_canarys, world) {
            (true, World::Target) => 1.0,
            (true, World::ZeroOut) => 0.0,
            (false, _) if self.is_informed() => -1.0,
            (false, _) => 0.0,
        };
        Batch { mean, is_canarys }
    }

    /// Whether the last record of a batch without the target gives way to −ĝ.
    pub(crate) fn is_informed(&self) -> bool {
        self.mechanism.threat_model == ThreatModel::PartiallyInformed
    }

    /// Runs of each world, from the first on, whose models are asked about the held-out examples.
    pub(crate) fn evaluated_runs(&self) -> u64 {
        if self.examples.held_out().is_some() { EVALUATED_RUNS } else { 0 }
    }

    /// Scores the outputs of a run, up to the first that is not finite, and counts them beside what lay
    /// in their batches.
    pub(crate) fn scored(
        &self,
        outputs: Vec<f32>,
        batches: impl IntoIterator<Item = Batch>,
        tally: &mut TrainingTally,
    ) -> RunResult {
        let wide: Vec<f64> = outputs.iter().map(|&output| f64::from(output)).collect();
        let score = self.scorer.score(&wide).unwrap_or(f64::NAN);
        tally.runs += 1;
        if score.is_finite() {
            for (output, batch) in wide.iter().zip(batches) {
                let residual = (output - batch.mean) / self.mechanism.noise_multiplier;
                tally.add_residual(residual, batch.is_canarys);
            }
        } else {
            tally.failed += 1;
        }
        RunResult { outputs, score }
    }
}
