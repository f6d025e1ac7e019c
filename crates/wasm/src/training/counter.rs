//! What trains runs of a plan.

use dpscope_core::adjacency::World;
use dpscope_engine::{Control, EngineError, RunControl, Unattended, run};
use dpscope_report::record::page::{LearnedAfter, WatchedTraining};
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Artefact, Plan, ValidPlan};
use dpscope_train::{DpSgd, TrainedModels, Trainer, TrainingDescription, WatchedRun};

use super::data::{DataFiles, examples};
use super::question::check_size;
use crate::failure::{Failure, FailureKind};
use crate::ranges::range_within;
use crate::ready::ready;
use crate::two_worlds::plan::checked;

/// Looks at what a watched model has learnt.
const LOOKS: usize = 24;

/// A layout with what trains its models on the CPU.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) plan: ValidPlan,
    pub(super) layout: Artefact,
    pub(super) cpu: DpSgd,
}

impl Job {
    /// # Errors
    /// Bytes that are no layout of a training; other files than those of the audit.
    pub(super) fn from_bytes(layout: &[u8], files: Option<&DataFiles>) -> Result<Self, Failure> {
        let layout = Artefact::from_bytes(layout).map_err(EngineError::from)?;
        let plan = checked(layout.plan)?;
        let state = layout.evidence.training.as_ref().ok_or_else(|| {
            Failure::of(
                FailureKind::File,
                "these are counts of a simulation, not of trained models",
            )
        })?;
        let description = TrainingDescription::from_json(&state.description)?;
        let examples = examples(&description.data.name, description.data.records as usize, files)?;
        let training = description.training(examples, layout.plan.mechanism, layout.plan.seed)?;
        check_size(&training)?;
        Ok(Job { plan, layout, cpu: DpSgd::new(training, 1)? })
    }
}

/// Models of a plan, and the layout of their counts.
#[derive(Debug)]
pub(super) struct Counter {
    models: TrainedModels,
    layout: Artefact,
}

impl Counter {
    /// On the CPU.
    pub(super) fn open(layout: &[u8], files: Option<&DataFiles>) -> Result<Self, Failure> {
        let Job { plan, layout, cpu } = Job::from_bytes(layout, files)?;
        Counter::new(plan, layout, Trainer::Cpu(Box::new(cpu)))
    }

    pub(super) fn new(
        plan: ValidPlan,
        layout: Artefact,
        trainer: Trainer,
    ) -> Result<Self, Failure> {
        let models = TrainedModels::new(plan, trainer, CpuBackend::new(1)?)?;
        Ok(Counter { models, layout })
    }

    pub(super) fn trainer(&self) -> &Trainer {
        self.models.trainer()
    }

    /// Counts of these runs of each world.
    pub(super) async fn counted(
        &self,
        first: f64,
        end: f64,
        control: &dyn RunControl<Plan>,
    ) -> Result<Vec<u8>, EngineError> {
        let mut start = self.layout.clone();
        start.range = range_within(first, end, self.layout.plan.observations_per_world());
        Ok(run(&self.models, start, control).await?.to_bytes())
    }

    /// The same at once, by the CPU.
    pub(super) fn count(&self, first: f64, end: f64) -> Result<Vec<u8>, Failure> {
        Ok(ready(self.counted(first, end, &Unattended))??)
    }

    /// One run, step by step.
    pub(super) fn watch(&self, world: World, run: u64) -> Result<WatchedTraining, Failure> {
        let last = self.layout.plan.observations_per_world().saturating_sub(1);
        let keep_going = || Unattended.keep_going();
        let training = self.trainer().training();
        Ok(record(&training.watch(world, run.min(last), LOOKS, &keep_going)?))
    }
}

fn record(WatchedRun { steps, learned, score }: &WatchedRun) -> WatchedTraining {
    let finite = |value: f64| value.is_finite().then_some(value);
    let canaries = steps.iter().enumerate().filter(|(_, step)| step.has_target);
    WatchedTraining {
        outputs: steps.iter().map(|step| step.output.is_finite().then_some(step.output)).collect(),
        canary_steps: canaries.map(|(step, _)| step).collect(),
        learned: learned
            .iter()
            .map(|look| LearnedAfter {
                steps: look.steps,
                loss: finite(look.loss),
                accuracy: look.accuracy,
            })
            .collect(),
        score: finite(*score),
    }
}
