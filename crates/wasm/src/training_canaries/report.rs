//! What trainings with canaries say.

use dpscope_engine::Artefact;
use dpscope_report::figure::{canary_score_bins, score_range};
use dpscope_report::record::page::CanaryTrainingsSoFar;
use dpscope_report::record::{OneRunReport, RunFacts, SeedSource};
use dpscope_train::one_run::{OneRunOutcome, OneRunOutcomeError, OneRunPlan};

use crate::claim::{claim_test, of_claim};
use crate::failure::Failure;

/// The canaries of the models so far.
pub(super) fn so_far(state: &Artefact<OneRunPlan>) -> CanaryTrainingsSoFar {
    let plan = &state.plan;
    let audited = || state.evidence.models.iter().filter(|m| m.unit < u64::from(plan.repeats));
    let game = state.evidence.game_so_far(plan);
    let failed = audited().filter(|model| model.has_failed).count() as u64;
    let repeats = audited().count() as u64;
    let scored = (repeats - failed).try_into().unwrap_or(plan.repeats);
    let result = plan.guessed(&game, plan.rule_of(scored)).ok();
    let bound = result.as_ref().map(|result| result.bounds()[0]);
    let range = score_range(game.scores.iter().copied()).unwrap_or_default();
    CanaryTrainingsSoFar {
        models: state.done(),
        repeats,
        failed,
        epsilon: bound.map(|bound| bound.epsilon),
        delta: plan.deltas[0],
        guesses: bound.map_or(0, |bound| bound.guesses),
        correct: bound.map_or(0, |bound| bound.correct),
        auc: game.canary_scores().ok().and_then(|canaries| canaries.auc()),
        bins: canary_score_bins(&game.scores, &game.coins, range),
    }
}

/// The report of the planned models.
///
/// # Errors
/// Models are missing, or diverged; a claim outside its domain.
pub(super) fn report(
    state: &Artefact<OneRunPlan>,
    claim: Option<f64>,
    elapsed_ms: f64,
) -> Result<OneRunReport, Failure> {
    let facts = RunFacts { seed_source: SeedSource::Given, elapsed_ms, resumed_from: None };
    let test = claim_test(claim, state.plan.deltas[0]);
    let report = OneRunOutcome::of(state).and_then(|outcome| outcome.report(&facts, &test));
    report.map_err(|error| match error {
        OneRunOutcomeError::Claim(error) => of_claim(error),
        OneRunOutcomeError::Training(error) => error.into(),
        OneRunOutcomeError::Diverged { .. } => {
            let message = format!("{error}; use a lower learning rate");
            Failure::input("learning_rate", &[&message])
        }
        error => Failure::rejected(&error),
    })
}
