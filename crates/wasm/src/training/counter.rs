//! What trains runs of a plan.

use dpscope_core::adjacency::World;
use dpscope_engine::{Control, Unattended};
use dpscope_report::record::page::{LearnedAfter, WatchedTraining};
use dpscope_simulation::Artefact;
use dpscope_simulation::backend::CpuBackend;
use dpscope_train::{DpSgd, TrainedModels, TrainingDescription, WatchedRun};

use super::question::check_size;
use crate::counting::Counting;
use crate::data_set::{DataFiles, examples};
use crate::failure::{Failure, FailureKind};
use crate::two_worlds::plan::checked;

/// Looks at what a watched model has learnt.
const LOOKS: usize = 24;

/// Models of a plan, trained in both worlds.
pub(super) type Counter = Counting<TrainedModels>;

/// The models of a layout, on the CPU.
///
/// # Errors
/// Bytes that are no layout of a training; other files than those of the audit.
pub(super) fn models(
    layout: &[u8],
    files: Option<&DataFiles>,
) -> Result<(TrainedModels, Artefact), Failure> {
    let layout = Artefact::from_bytes(layout)?;
    let plan = checked(layout.plan)?;
    let state = layout.evidence.training.as_ref().ok_or_else(|| {
        Failure::of(FailureKind::File, "these are counts of a simulation, not of trained models")
    })?;
    let description = TrainingDescription::from_json(&state.description)?;
    let examples = examples(&description.data.name, description.data.records as usize, files)?;
    let training = description.training(examples, layout.plan.mechanism, layout.plan.seed)?;
    check_size(&training)?;
    let models = TrainedModels::new(plan, DpSgd::new(training, 1)?, CpuBackend::new(1)?)?;
    Ok((models, layout))
}

/// What trains models on the CPU.
pub(super) fn on_cpu(layout: &[u8], files: Option<&DataFiles>) -> Result<Counter, Failure> {
    let (models, layout) = models(layout, files)?;
    Ok(Counting::new(models, layout))
}

/// One run, step by step.
pub(super) fn watch(counter: &Counter, world: World, run: u64) -> Result<WatchedTraining, Failure> {
    let last = counter.units().saturating_sub(1);
    let keep_going = || Unattended.keep_going();
    let training = counter.models.training();
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
