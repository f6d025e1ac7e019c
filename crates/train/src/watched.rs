//! One run as a person watches it: what the attacker sees, and what the model has learnt.

use dpscope_core::adjacency::World;
use dpscope_engine::EngineError;
use dpscope_simulation::TrainingTally;

use crate::Training;
use crate::observed::LearnedSoFar;
use crate::run::Runner;

/// A step of a watched run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WatchedStep {
    /// The attacker's output o = ⟨Σ clipped gradients + noise, ĝ⟩/C.
    pub output: f32,
    /// Whether the batch contains the target, or ⊥ in its place.
    pub has_target: bool,
}

/// A whole run.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchedRun {
    /// Every step, up to the first whose output is not finite.
    pub steps: Vec<WatchedStep>,
    /// Before the first step, after every few, and after the last; empty without held-out records.
    pub learned: Vec<LearnedSoFar>,
    /// Log-likelihood ratio in nats; NaN if the run failed.
    pub score: f64,
}

impl Training {
    /// Trains run `run` of a world, the same as in an audit, and evaluates its model about
    /// `evaluations` times, or never.
    ///
    /// # Guarantee
    /// Outputs and score are those of the audited run
    /// (`unit::a_watched_run_is_the_audited_run`).
    ///
    /// # Errors
    /// `keep_going` returned false.
    pub fn watch(
        &self,
        world: World,
        run: u64,
        evaluations: usize,
        keep_going: &dyn Fn() -> bool,
    ) -> Result<WatchedRun, EngineError> {
        let mut runner = Runner::new(self);
        let length = self.outputs_per_run();
        let every = length.checked_div(evaluations).map(|every| every.max(1));
        let mut learned = Vec::new();
        let mut look = |runner: &mut Runner<'_>, steps: usize| {
            if every.is_some_and(|every| steps.is_multiple_of(every) || steps == length) {
                learned.extend(runner.learned(steps));
            }
        };
        let stream = 2 * run + world.index() as u64;
        let trajectory = runner.train_observed(world, stream, keep_going, &mut look);
        let trajectory = trajectory.ok_or(EngineError::Stopped)?;
        let pairs = trajectory.outputs.iter().zip(&trajectory.batches);
        let step = |(&output, batch): (&f32, &crate::observed::Batch)| WatchedStep {
            output,
            has_target: batch.has_target,
        };
        let steps = pairs.map(step).collect();
        let mut tally = TrainingTally::default();
        let score = self.score_run(trajectory.outputs, trajectory.batches, &mut tally).score;
        Ok(WatchedRun { steps, learned, score })
    }
}

#[cfg(test)]
mod tests {
    use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
    use dpscope_engine::{Unattended, UnitRange};

    use super::*;
    use crate::data::SyntheticData;
    use crate::{BuiltInModel, Canary, CanaryDirection, DpSgd, ModelSpec, TrainingSettings};

    fn training(learning_rate: f64) -> Training {
        let mechanism = BatchedGaussian {
            noise_multiplier: 0.5,
            steps_per_epoch: 10,
            epochs: 2,
            sampler: BatchSampler::Shuffle,
            threat_model: ThreatModel::PartiallyInformed,
            batch_size: Some(40),
            dataset_size: None,
        };
        let canary = Canary { direction: CanaryDirection::Random, is_fresh: true };
        let settings =
            TrainingSettings { clip_norm: 1.0, learning_rate, canary, debias_records: 0 };
        let examples = SyntheticData::P100Like.generate(400, 500).unwrap();
        Training::new(&ModelSpec::mlp(), examples, mechanism, settings, 3).unwrap()
    }

    #[test]
    fn a_watched_run_is_the_audited_run() {
        let range = UnitRange { first: 0, end: 3 };
        let audited =
            DpSgd::new(training(3.0), 1).unwrap().train_on_cpu(range, &Unattended).unwrap();
        for world in World::BOTH {
            for run in 0..3 {
                let watched = training(3.0).watch(world, run, 5, &|| true).unwrap();
                assert_eq!(watched.score, audited.scores[world.index()][run as usize]);
                assert_eq!(watched.steps.len(), 20);
                let targets = watched.steps.iter().filter(|step| step.has_target).count();
                assert_eq!(targets, 2, "one per epoch");
                let looks: Vec<usize> = watched.learned.iter().map(|look| look.steps).collect();
                assert_eq!(looks, [0, 4, 8, 12, 16, 20]);
            }
        }
        assert!(training(3.0).watch(World::Target, 0, 2, &|| false).is_err());
    }

    #[test]
    fn a_model_is_seen_to_learn() {
        let mechanism = BatchedGaussian {
            noise_multiplier: 0.2,
            batch_size: Some(60),
            ..*training(3.0).mechanism()
        };
        let examples = SyntheticData::LocationLike.generate(600, 500).unwrap();
        let spec = BuiltInModel::named("mlp").unwrap().fitted(&examples);
        let settings = *training(3.0).settings();
        let training = Training::new(&spec, examples, mechanism, settings, 3).unwrap();
        let watched = training.watch(World::ZeroOut, 0, 2, &|| true).unwrap();
        let [first, .., last] = &watched.learned[..] else { panic!("no looks") };
        assert!(last.loss < first.loss && last.accuracy > first.accuracy, "{watched:?}");
    }

    #[test]
    fn a_run_that_diverges_ends_with_its_last_output() {
        let watched = training(1e6).watch(World::Target, 0, 1, &|| true).unwrap();
        let is_finite = |step: &WatchedStep| step.output.is_finite();
        let Some((last, before)) = watched.steps.split_last() else { panic!("no steps") };
        assert!(before.iter().all(is_finite));
        assert_eq!(is_finite(last), watched.score.is_finite());
    }
}
