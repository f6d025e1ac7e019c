//! What trains models with canaries.

use dpscope_report::figure::{canary_score_bins, score_range};
use dpscope_report::record::page::CanariesAfter;
use dpscope_train::one_run::{OneRunGame, OneRunModels, OneRunTraining, WatchedCanaries};

use crate::command::Command;
use crate::counting::Counting;
use crate::failure::Failure;
use crate::training_facts::check_size;

/// Looks at the canaries of a watched model.
const LOOKS: usize = 20;

/// Models of a plan with canaries.
pub(super) type Counter = Counting<OneRunModels>;

/// The models of a command.
///
/// # Errors
/// What the program prints where it fails; a training that takes too long in a page.
pub(super) fn prepare(command: Command) -> Result<OneRunModels, Failure> {
    let models: OneRunModels = command.prepare()?;
    check_training(models.training())?;
    Ok(models)
}

/// Refuses trainings that a page cannot wait for: white-box scores take two gradients of each canary in
/// every step.
fn check_training(training: &OneRunTraining) -> Result<(), Failure> {
    let (mechanism, settings) = (training.mechanism(), training.settings());
    let steps = u64::from(mechanism.steps_per_epoch) * u64::from(mechanism.epochs);
    let scored = if settings.is_white_box { 2 * training.canaries().len() as u64 } else { 0 };
    let rows = u64::from(mechanism.batch_size.unwrap_or(1)).saturating_add(scored);
    let before = settings.pre_training;
    let before = before.map_or(0, |part| u64::from(part.records) * u64::from(part.epochs));
    check_size(training.network(), steps.saturating_mul(rows).saturating_add(before))
}

/// One model, step by step.
pub(super) fn watch(counter: &Counter, model: u64) -> Result<Vec<CanariesAfter>, Failure> {
    let model = model.min(counter.units().saturating_sub(1));
    let looks = counter.models.watch(model, LOOKS, &|| true)?;
    let plan = dpscope_engine::Workload::plan(&counter.models);
    let coins = plan.coins(model);
    let scores = |look: &WatchedCanaries| -> Vec<f64> {
        look.unit.scores(plan.score).iter().copied().map(f64::from).collect()
    };
    let range = score_range(looks.iter().flat_map(scores)).unwrap_or_default();
    let after = |look: &WatchedCanaries| {
        let game = OneRunGame { scores: scores(look), coins: coins.clone() };
        let unit = &look.unit;
        CanariesAfter {
            steps: look.steps,
            loss: (unit.evaluated > 0).then(|| unit.held_out_loss / unit.evaluated as f64),
            accuracy: unit.accuracy(),
            auc: game.canary_scores().ok().and_then(|canaries| canaries.auc()),
            bins: canary_score_bins(&game.scores, &game.coins, range),
        }
    };
    Ok(looks.iter().map(after).collect())
}
