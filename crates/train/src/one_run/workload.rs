//! Trainings with canaries as a workload of the engine.

use dpscope_engine::{
    ArtefactError, Control, Device, EngineError, FloatMode, NoQueue, UnitRange, Workload,
};
use dpscope_simulation::TrainingDigest;
use rayon::prelude::*;

use super::evidence::{OneRunEvidence, TrainedUnit};
use super::inclusion::Inclusion;
use super::plan::OneRunPlan;
use super::run::OneRunner;
use super::training::OneRunTraining;
use crate::TrainError;

/// A plan whose units are trainings with canaries, one per CPU thread. No GPU computes them.
///
/// # Guarantee
/// Shards merge to the undivided run, and the number of threads changes nothing
/// (`crates/train/tests/one_run/main.rs::shards_and_threads_change_nothing`).
#[derive(Debug)]
pub struct OneRunModels {
    plan: OneRunPlan,
    training: OneRunTraining,
    /// When each canary may be used; empty without white-box scores.
    inclusions: Vec<Inclusion>,
    pool: rayon::ThreadPool,
}

impl OneRunModels {
    /// A plan with its training, on `threads` threads; 0 means one per core.
    ///
    /// # Errors
    /// A field of the plan outside its domain; a plan of another training; the operating system
    /// provides no threads.
    pub fn new(
        plan: OneRunPlan,
        training: OneRunTraining,
        threads: usize,
    ) -> Result<Self, TrainError> {
        plan.check_fields()?;
        let is_same = plan.training == TrainingDigest::of(training.description())
            && plan.mechanism == training.mechanism
            && plan.seed == training.seed
            && plan.canaries as usize == training.canaries.len();
        if !is_same {
            let what = "it was written for a different model, data set, set of canaries or options; \
                        pass the ones that the run was started with";
            return Err(EngineError::from(ArtefactError::WorkloadMismatch { what }).into());
        }
        if plan.score == super::OneRunScore::WhiteBox && !training.settings.is_white_box {
            return Err(TrainError::NoWhiteBox);
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool
            .map_err(|error| EngineError::Backend { backend: "cpu", reason: error.to_string() })?;
        let inclusions = training.inclusions();
        Ok(OneRunModels { plan, training, inclusions, pool })
    }

    /// The training.
    #[must_use]
    pub fn training(&self) -> &OneRunTraining {
        &self.training
    }
}

impl OneRunTraining {
    /// When each canary may be used; empty without white-box scores.
    pub(super) fn inclusions(&self) -> Vec<Inclusion> {
        if !self.settings.is_white_box {
            return Vec::new();
        }
        let (sampler, steps) = (self.mechanism.sampler, self.mechanism.steps_per_epoch);
        let records = self.base_records()..self.batches.records();
        records.map(|record| Inclusion::new(sampler, steps, self.batch_size, record)).collect()
    }
}

impl Workload for OneRunModels {
    type Plan = OneRunPlan;
    type Queue<'a> = NoQueue<OneRunEvidence>;

    fn plan(&self) -> &OneRunPlan {
        &self.plan
    }

    fn first_stage(&self, keep_going: &(dyn Fn() -> bool + Sync)) -> Result<(), EngineError> {
        self.training.start(keep_going).map(|_| ()).ok_or(EngineError::Stopped)
    }

    fn empty(&self, (): &()) -> OneRunEvidence {
        let description = self.training.description().to_owned();
        OneRunEvidence { description, models: Vec::new() }
    }

    fn check(&self, (): &(), evidence: &OneRunEvidence) -> Result<(), ArtefactError> {
        if evidence.description == self.training.description() {
            return Ok(());
        }
        Err(ArtefactError::Inconsistent { what: "its training does not match its plan" })
    }

    fn cpu(&self) -> Device {
        let threads = self.pool.current_num_threads();
        let plural = if threads == 1 { "" } else { "s" };
        let name = format!("cpu ({threads} thread{plural}, training)");
        Device { name, mode: FloatMode::Fast }
    }

    fn smallest_wave(&self) -> u64 {
        self.pool.current_num_threads() as u64
    }

    fn compute(
        &self,
        (): &(),
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<OneRunEvidence, EngineError> {
        let keep_going = || control.keep_going();
        self.training.start(&keep_going).ok_or(EngineError::Stopped)?;
        let runner = || OneRunner::new(&self.training, &self.inclusions);
        let train = |runner: &mut OneRunner<'_>, unit| runner.run(unit, &keep_going);
        let units = (range.first..range.end).into_par_iter();
        let models: Option<Vec<TrainedUnit>> =
            self.pool.install(|| units.map_init(runner, train).collect());
        let description = self.training.description().to_owned();
        Ok(OneRunEvidence { description, models: models.ok_or(EngineError::Stopped)? })
    }
}
