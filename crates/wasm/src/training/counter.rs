//! What trains runs of a plan.

use dpscope_core::adjacency::World;
use dpscope_engine::{Control, Unattended};
use dpscope_report::record::page::{LearnedAfter, WatchedTraining};
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Artefact, ValidPlan};
use dpscope_train::{DpSgd, TrainedModels, Trainer, TrainingDescription, WatchedRun};

use super::question::check_size;
use crate::counting::Counting;
use crate::data_set::{DataFiles, examples};
use crate::failure::{Failure, FailureKind};
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
        let layout = Artefact::from_bytes(layout)?;
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

/// Models of a plan, trained in both worlds.
pub(super) type Counter = Counting<TrainedModels>;

impl Job {
    /// What trains the models.
    pub(super) fn counter(
        plan: ValidPlan,
        layout: Artefact,
        trainer: Trainer,
    ) -> Result<Counter, Failure> {
        let models = TrainedModels::new(plan, trainer, CpuBackend::new(1)?)?;
        Ok(Counting::new(models, layout))
    }

    /// On the CPU.
    pub(super) fn on_cpu(layout: &[u8], files: Option<&DataFiles>) -> Result<Counter, Failure> {
        let Job { plan, layout, cpu } = Job::from_bytes(layout, files)?;
        Job::counter(plan, layout, Trainer::Cpu(Box::new(cpu)))
    }
}

/// One run, step by step.
pub(super) fn watch(counter: &Counter, world: World, run: u64) -> Result<WatchedTraining, Failure> {
    let last = counter.units().saturating_sub(1);
    let keep_going = || Unattended.keep_going();
    let training = counter.models.trainer().training();
    Ok(record(&training.watch(world, run.min(last), LOOKS, &keep_going)?))
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
