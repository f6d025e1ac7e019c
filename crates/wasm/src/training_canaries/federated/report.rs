//! What federated trainings say.

use dpscope_engine::Artefact;
use dpscope_report::figure::{normal_score_bins, normal_score_range};
use dpscope_report::record::page::{FederatedAfter, FederatedTrainingsSoFar, NormalScoreBin};
use dpscope_report::record::{OneShotReport, RunFacts, SeedSource};
use dpscope_train::federated::{
    FederatedModels, FederatedOutcome, FederatedOutcomeError, FederatedPlan, FederatedUnit,
};

use crate::claim::{claim_test, of_claim};
use crate::counting::Counting;
use crate::failure::Failure;

/// Looks at a watched training.
const LOOKS: usize = 12;

/// The canaries of the trainings so far.
pub(super) fn so_far(state: &Artefact<FederatedPlan>) -> Result<FederatedTrainingsSoFar, Failure> {
    let plan = &state.plan;
    let outcome = FederatedOutcome::of(state).map_err(refused)?;
    let (audited, others): (Vec<_>, Vec<_>) =
        state.evidence.models.iter().partition(|model| model.unit < plan.repeats.into());
    let failed = audited.iter().filter(|model| model.has_failed).count() as u64;
    let canaries = audited.iter().map(|model| model.canaries).sum();
    let (mut epsilon, mut bins) = (None, bins_of(&[]));
    if canaries > 0
        && let Ok((tails, result)) = outcome.result(plan.attack)
    {
        epsilon = Some(result.bounds().epsilon);
        bins = bins_of(&tails.normal_scores().collect::<Vec<f64>>());
    }
    Ok(FederatedTrainingsSoFar {
        models: state.done(),
        repeats: audited.len() as u64,
        failed,
        canaries,
        epsilon,
        delta: plan.delta,
        bins,
        accuracy: mean(audited.iter().filter_map(|model| model.accuracy())),
        accuracy_without_canaries: mean(others.iter().filter_map(|model| model.accuracy())),
    })
}

fn bins_of(scores: &[f64]) -> Vec<NormalScoreBin> {
    normal_score_bins(scores, normal_score_range(scores))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

/// One training, round by round.
pub(super) fn watch(
    counter: &Counting<FederatedModels>,
    unit: u64,
) -> Result<Vec<FederatedAfter>, Failure> {
    let unit = unit.min(counter.units().saturating_sub(1));
    let looks = counter.models.watch(unit, LOOKS, &|| true)?;
    let parameters = counter.models.training().parameters();
    let scores = |unit: &FederatedUnit| {
        let scores = unit.normal_scores(parameters);
        scores.map_err(|error| Failure::rejected(&error))
    };
    let all = looks.iter().map(|look| scores(&look.unit)).collect::<Result<Vec<_>, _>>()?;
    let range = normal_score_range(&all.concat());
    let after =
        |(look, scores): (&dpscope_train::federated::WatchedRounds, &Vec<f64>)| FederatedAfter {
            rounds: look.rounds as u32,
            accuracy: look.unit.accuracy(),
            mean_score: mean(scores.iter().copied().filter(|score| score.is_finite())),
            bins: normal_score_bins(scores, range),
        };
    Ok(looks.iter().zip(&all).map(after).collect())
}

/// The report of the planned trainings.
///
/// # Errors
/// Trainings are missing, or diverged; a claim outside its domain.
pub(super) fn report(
    state: &Artefact<FederatedPlan>,
    claim: Option<f64>,
    elapsed_ms: f64,
) -> Result<OneShotReport, Failure> {
    let facts = RunFacts { seed_source: SeedSource::Given, elapsed_ms, resumed_from: None };
    let test = claim_test(claim, state.plan.delta);
    let report = FederatedOutcome::of(state).and_then(|outcome| outcome.report(&facts, &test));
    Ok(report.map_err(refused)?.0)
}

fn refused(error: FederatedOutcomeError) -> Failure {
    match error {
        FederatedOutcomeError::Claim(error) => of_claim(error),
        FederatedOutcomeError::Training(error) => error.into(),
        FederatedOutcomeError::Diverged { .. } => {
            let message = format!("{error}; use a lower learning rate");
            Failure::input("local_learning_rate", &[&message])
        }
        error => Failure::rejected(&error),
    }
}
