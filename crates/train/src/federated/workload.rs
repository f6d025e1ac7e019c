//! Federated trainings as a workload of the engine.

use dpscope_engine::{ArtefactError, Control, Device, EngineError, NoQueue, UnitRange, Workload};
use dpscope_simulation::TrainingDigest;
use rayon::prelude::*;

use super::evidence::{FederatedEvidence, FederatedUnit};
use super::plan::FederatedPlan;
use super::run::{FederatedRunner, FederatedTask};
use super::training::FederatedTraining;
use crate::TrainError;
use crate::threads::{cpu_device, thread_pool};

/// A plan whose units are federated trainings, one per CPU thread. No GPU computes them.
///
/// # Guarantee
/// Shards merge to the undivided run, and the number of threads changes nothing
/// (`crates/train/tests/federated/main.rs::shards_and_threads_change_nothing`).
#[derive(Debug)]
pub struct FederatedModels {
    plan: FederatedPlan,
    training: FederatedTraining,
    tasks: Vec<FederatedTask>,
    pool: rayon::ThreadPool,
}

impl FederatedModels {
    /// A plan with its training, on `threads` threads; 0 means one per core.
    ///
    /// # Errors
    /// A field of the plan outside its domain; a plan of another training; too much noise for adaptive
    /// clipping; the operating system provides no threads.
    pub fn new(
        plan: FederatedPlan,
        training: FederatedTraining,
        threads: usize,
    ) -> Result<Self, TrainError> {
        plan.check_fields()?;
        let is_same = plan.training == TrainingDigest::of(training.description())
            && plan.seed == training.seed;
        if !is_same {
            let what = "it was written for a different model, data set or options; pass the ones \
                        that the run was started with";
            return Err(EngineError::from(ArtefactError::WorkloadMismatch { what }).into());
        }
        if plan.attack.needs_updates() && !training.settings.sees_updates {
            return Err(TrainError::NoUpdates { attack: plan.attack.name() });
        }
        let expected = plan.design.mean();
        let settings = &training.settings;
        let (clients, _) = settings.cohorts(expected);
        if settings.clipping.sum_noise(settings.noise_multiplier, clients).is_none() {
            let (name, value) = ("noise_multiplier", settings.noise_multiplier);
            let domain = "below a tenth of the expected clients per round with adaptive clipping";
            return Err(TrainError::Domain { name, value, domain });
        }
        let task = |unit| {
            let (canaries, slots) = plan.canaries(unit);
            FederatedTask { unit, canaries, slots, expected, unseen: plan.unseen }
        };
        let tasks = (0..plan.models()).map(task).collect();
        let pool = thread_pool(threads)?;
        Ok(FederatedModels { plan, training, tasks, pool })
    }

    /// The training.
    #[must_use]
    pub fn training(&self) -> &FederatedTraining {
        &self.training
    }
}

impl Workload for FederatedModels {
    type Plan = FederatedPlan;
    type Queue<'a> = NoQueue<FederatedEvidence>;

    fn plan(&self) -> &FederatedPlan {
        &self.plan
    }

    fn first_stage(&self, _: &(dyn Fn() -> bool + Sync)) -> Result<(), EngineError> {
        Ok(())
    }

    fn empty(&self, (): &()) -> FederatedEvidence {
        let description = self.training.description().to_owned();
        FederatedEvidence { description, models: Vec::new() }
    }

    fn check(&self, (): &(), evidence: &FederatedEvidence) -> Result<(), ArtefactError> {
        if evidence.description == self.training.description() {
            return Ok(());
        }
        Err(ArtefactError::Inconsistent { what: "its training does not match its plan" })
    }

    fn cpu(&self) -> Device {
        cpu_device(&self.pool)
    }

    fn smallest_wave(&self) -> u64 {
        self.pool.current_num_threads() as u64
    }

    fn compute(
        &self,
        (): &(),
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<FederatedEvidence, EngineError> {
        let keep_going = || control.keep_going();
        let tasks = &self.tasks[range.first as usize..range.end as usize];
        let runner = || FederatedRunner::new(&self.training);
        let train =
            |runner: &mut FederatedRunner<'_>, &task: &FederatedTask| runner.run(task, &keep_going);
        let models: Option<Vec<FederatedUnit>> =
            self.pool.install(|| tasks.par_iter().map_init(runner, train).collect());
        let description = self.training.description().to_owned();
        Ok(FederatedEvidence { description, models: models.ok_or(EngineError::Stopped)? })
    }
}
