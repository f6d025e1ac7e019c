//! Trainings with canaries as models of a plan.

use dpscope_engine::{ArtefactError, EngineError, UnitRange};
use dpscope_simulation::TrainingDigest;

use super::evidence::{OneRunEvidence, OneRunScore, TrainedUnit};
use super::plan::OneRunPlan;
use super::run::OneRunner;
use super::training::OneRunTraining;
use crate::TrainError;
use crate::models::{Models, Protocol, Trainer};

/// A plan whose units are trainings with canaries.
pub type OneRunModels = Models<OneRunTraining>;

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
        if plan.score == OneRunScore::WhiteBox && !training.settings.is_white_box {
            return Err(TrainError::NoWhiteBox);
        }
        Ok(Models { planned: plan, trainer: Trainer::with(training, (), threads)? })
    }
}

impl Protocol for OneRunTraining {
    type Plan = OneRunPlan;
    type Planned = OneRunPlan;
    type Context = ();
    type Model = TrainedUnit;
    type Scratch<'a> = OneRunner<'a>;

    fn description(&self) -> &str {
        self.description()
    }

    fn prepare(&self, keep_going: &dyn Fn() -> bool) -> Option<()> {
        self.start(keep_going).map(|_| ())
    }

    fn scratch(&self) -> OneRunner<'_> {
        OneRunner::new(self)
    }

    fn train<'a>(
        &'a self,
        (): &(),
        unit: u64,
        runner: &mut OneRunner<'a>,
        keep_going: &dyn Fn() -> bool,
    ) -> Option<TrainedUnit> {
        runner.run(unit, keep_going)
    }

    fn first_stage(
        &self,
        _: &OneRunPlan,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), EngineError> {
        self.prepare(keep_going).ok_or(EngineError::Stopped)
    }

    fn empty(&self, _: &OneRunPlan, (): &()) -> OneRunEvidence {
        OneRunEvidence::of(self.description(), Vec::new())
    }

    fn described(evidence: &OneRunEvidence) -> Option<&str> {
        Some(&evidence.description)
    }

    fn evidence(
        trainer: &Trainer<Self>,
        (): &(),
        _: UnitRange,
        models: Vec<TrainedUnit>,
    ) -> Result<OneRunEvidence, EngineError> {
        Ok(OneRunEvidence::of(trainer.training().description(), models))
    }
}
