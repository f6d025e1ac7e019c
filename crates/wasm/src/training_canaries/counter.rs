//! What trains models with canaries.

use dpscope_engine::Artefact;
use dpscope_report::figure::{canary_score_bins, score_range};
use dpscope_report::record::page::CanariesAfter;
use dpscope_train::one_run::{OneRunGame, OneRunModels, OneRunPlan, WatchedCanaries};

use super::question::described;
use crate::counting::Counting;
use crate::data_set::DataFiles;
use crate::failure::Failure;

/// Looks at the canaries of a watched model.
const LOOKS: usize = 20;

/// Models of a plan with canaries.
pub(super) type Counter = Counting<OneRunModels>;

/// The models of a layout, on the CPU.
///
/// # Errors
/// Bytes that are no layout; other files than those of the audit.
pub(super) fn models(
    layout: &[u8],
    files: Option<&DataFiles>,
) -> Result<(OneRunModels, Artefact<OneRunPlan>), Failure> {
    let layout = Artefact::from_bytes(layout)?;
    let training = described(&layout, files)?;
    Ok((OneRunModels::new(layout.plan.clone(), training, 1)?, layout))
}

/// What trains models on the CPU.
pub(super) fn on_cpu(layout: &[u8], files: Option<&DataFiles>) -> Result<Counter, Failure> {
    let (models, layout) = models(layout, files)?;
    Ok(Counting::new(models, layout))
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
