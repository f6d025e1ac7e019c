//! What trains runs of a plan.

use dpscope_core::adjacency::World;
use dpscope_engine::{Control, Unattended, Workload};
use dpscope_report::record::page::{LearnedAfter, WatchedTraining};
use dpscope_train::{TrainedModels, WatchedRun};

use crate::command::Command;
use crate::counting::Counting;
use crate::failure::Failure;
use crate::training_facts::check_size;
use crate::two_worlds::Counted;
use crate::two_worlds::plan::checked;

/// Looks at what a watched model has learnt.
const LOOKS: usize = 24;

/// Models of a plan, trained in both worlds.
pub(super) type Counter = Counting<TrainedModels>;

/// The models of a command.
///
/// # Errors
/// What the program prints where it fails; a training that takes too long in a page.
pub(super) fn prepare(command: Command) -> Result<TrainedModels, Failure> {
    let models: TrainedModels = command.prepare()?;
    checked(*models.plan())?;
    let training = models.training();
    let batch_size = training.mechanism().batch_size.unwrap_or(1);
    check_size(training.network(), training.outputs_per_run() as u64 * u64::from(batch_size))?;
    Ok(models)
}

/// The audit of a command, with nothing counted.
pub(super) fn opened(command: Command) -> Result<Counted, Failure> {
    Counted::begin(&prepare(command)?)
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
