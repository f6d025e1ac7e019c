//! What an attacker sees of runs: their outputs, scored and counted.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::ThreatModel;
use dpscope_engine::TrainingTally;

use crate::training::Training;

/// Runs of each world whose models are asked about the held-out examples.
const ASKED_RUNS: u64 = 8;

/// What an attacker sees of one run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ran {
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
    /// A batch of a world that holds the target, or ⊥ in its place; or another.
    pub(crate) fn batch(&self, world: World, is_canarys: bool) -> Batch {
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

    /// Whether this run's model is asked about the held-out examples.
    pub(crate) fn is_asked(&self, run: u64) -> bool {
        run < ASKED_RUNS && self.examples.held_out().is_some()
    }

    /// Scores the outputs of a run, up to the first that is not finite, and counts them beside what lay
    /// in their batches.
    pub(crate) fn scored(
        &self,
        outputs: Vec<f32>,
        batches: impl IntoIterator<Item = Batch>,
        tally: &mut TrainingTally,
    ) -> Ran {
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
        Ran { outputs, score }
    }
}
