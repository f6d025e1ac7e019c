//! The attacker's view of a run: its outputs and their score.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::ThreatModel;
#[cfg(feature = "gpu")]
use dpscope_shaders::train::EpochBatches;
use dpscope_simulation::TrainingTally;

use crate::training::Training;

/// Runs of each world whose models are evaluated on the held-out examples.
const EVALUATED_RUNS: u64 = 8;

/// The target's record.
const TARGET: u32 = 0;

/// The attacker's view of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// Outputs o, epoch-major; truncated after the first that is not finite.
    pub(crate) outputs: Vec<f32>,
    /// Log-likelihood ratio in nats; NaN if the run failed.
    pub(crate) score: f64,
}

/// The attacker's contribution to a batch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Batch {
    /// Coefficient of C·ĝ in the sum: the expected output if the gradients of all other records
    /// were orthogonal to ĝ.
    pub(crate) mean: f64,
    /// Whether the batch contains the target, or ⊥ in its place.
    pub(crate) has_target: bool,
}

/// What a model has learnt after some steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LearnedSoFar {
    /// Steps so far.
    pub steps: usize,
    /// Mean cross-entropy of the held-out records, nats.
    pub loss: f64,
    /// Share of them that is classified correctly.
    pub accuracy: f64,
}

/// The world of a stream: run r has stream 2r in D, and 2r + 1 in D′.
pub(crate) fn world_of(stream: u64) -> World {
    World::BOTH[(stream % 2) as usize]
}

impl Training {
    /// Fills `records` with the records of a batch whose own gradients enter the sum.
    pub(crate) fn select_records(
        &self,
        world: World,
        members: &[u32],
        records: &mut Vec<u32>,
    ) -> Batch {
        records.clear();
        records.extend(members.iter().filter(|&&record| record != TARGET));
        let has_target = records.len() < members.len();
        if !has_target && self.is_informed() {
            records.pop();
        }
        self.batch(world, has_target)
    }

    /// The attacker's contribution to each batch of the run of a stream.
    #[cfg(feature = "gpu")]
    pub(crate) fn batches_of(&self, stream: u64) -> Vec<Batch> {
        let (world, steps) = (world_of(stream), self.mechanism.steps_per_epoch);
        let mut drawn = EpochBatches::default();
        let mut batches = Vec::with_capacity(self.outputs_per_run());
        for epoch in 0..self.mechanism.epochs {
            let target_step = self.batches.step_of(self.seed, stream, epoch, TARGET);
            if target_step.is_none() {
                self.batches.draw(self.seed, stream, epoch, &mut drawn);
            }
            batches.extend((0..steps).map(|step| {
                let contains_target = || drawn.members_at(step as usize).contains(&TARGET);
                self.batch(
                    world,
                    target_step.map_or_else(contains_target, |target_step| target_step == step),
                )
            }));
        }
        batches
    }

    /// The attacker's contribution to a batch with or without the target.
    fn batch(&self, world: World, has_target: bool) -> Batch {
        let mean = match (has_target, world) {
            (true, World::Target) => 1.0,
            (true, World::ZeroOut) => 0.0,
            (false, _) if self.is_informed() => -1.0,
            (false, _) => 0.0,
        };
        Batch { mean, has_target }
    }

    /// Whether the attacker replaces the last record of each batch without the target by −ĝ.
    pub(crate) fn is_informed(&self) -> bool {
        self.mechanism.threat_model == ThreatModel::PartiallyInformed
    }

    /// Number of runs of each world, from the first on, whose models are evaluated on the held-out
    /// examples.
    pub(crate) fn evaluated_runs(&self) -> u64 {
        if self.examples.held_out().is_some() { EVALUATED_RUNS } else { 0 }
    }

    /// Scores the outputs of a run, up to the first that is not finite, and adds their residuals to
    /// the tally.
    pub(crate) fn score_run(
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
                tally.add_residual(residual, batch.has_target);
            }
        } else {
            tally.failed += 1;
        }
        RunResult { outputs, score }
    }
}
