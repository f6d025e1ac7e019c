//! What theory says of trainings.

use dpscope_core::accounting::{Cell, KnownBound, Phase, Schedule};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::training_check::{AssumedAccounting, CheckTarget, TrainingSetup, diagnose};
use serde::Deserialize;
use serde_json::json;

use super::checker::Checker;
use super::result::RecomputeError;
use crate::record::{
    CheckReport, ComparedQuantity, ImportedReport, OtherParameters, RecordSource, ratio_to_poisson,
};

/// Everything: the report has the training and the claim.
pub(crate) fn check(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let setup: TrainingSetup = report.parsed("/setup", "a training")?;
    let accounting: AssumedAccounting = report.parsed("/accounting", "an accounting")?;
    let target: CheckTarget = report.parsed("/claim", "a claim")?;
    for input in ["/setup/dataset_size", "/setup/batch_size", "/setup/epochs", "/claim/delta"] {
        report.number(input)?;
    }
    // otherwise the noise follows from what the code draws
    if !report.has("/setup/drawn_noise") {
        report.number("/setup/noise_multiplier")?;
    }
    let found = diagnose(&setup, &accounting, target).map_err(|error| RecomputeError::Counts {
        pointer: "/setup",
        problem: error.to_string(),
    })?;
    let found = CheckReport::new(setup, accounting, target, found);
    report.expect("/claim/verdict", found.claim.verdict);
    report.expect("/claim/says", found.claim.says);
    report.expect("/claim/note", found.claim.note);
    report.expect_all("/next", found.next);
    report.expect("/sampling_rate", found.sampling_rate);
    report.expect("/steps_per_epoch", found.steps_per_epoch);
    report.expect("/steps", found.steps);
    report.expect("/noise_multiplier", found.noise_multiplier);
    report.expect_all("/findings", found.findings);
    report.expect_all("/lower", found.lower);
    report.expect_all("/upper", found.upper);
    report.expect_all("/poisson", found.poisson);
    Ok(())
}

/// What accountants compute, and the ratios to the value of Poisson accounting.
pub(crate) fn comparison(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let setting: Schedule = report.parsed("", "a training")?;
    let other: OtherParameters = report.parsed("", "parameters of rows")?;
    for input in ["/noise_multiplier", "/steps", "/epochs"] {
        report.number(input)?;
    }
    rows(report, other);
    let delta = report.number("/delta")?;
    let poisson = ComparedQuantity::Bound(KnownBound::Poisson).computed(&setting, other, delta);
    let poisson = poisson.as_ref().and_then(Cell::value).map(|row| row.epsilon);
    for row in 0..report.len("/rows") {
        let at = format!("/rows/{row}");
        let quantity: ComparedQuantity = report.parsed(&format!("{at}/what"), "a quantity")?;
        match quantity.computed(&setting, other, delta) {
            Some(cell) => report.expect_all(&at, cell),
            None if report.has(&format!("{at}/epsilon")) => {
                report.expect(&format!("{at}/delta"), delta);
            }
            None => {}
        }
        let epsilon: Option<f64> = report.optional(&format!("{at}/epsilon"));
        report.expect(&format!("{at}/ratio_to_poisson"), ratio_to_poisson(epsilon, poisson));
    }
    conclusion(report)
}

/// The rows of every comparison, with those of other parameters; a simulated audit can follow.
fn rows(report: &mut Checker<'_>, other: OtherParameters) {
    let without_audit = ComparedQuantity::all(other, false);
    let has_audit = report.len("/rows") > without_audit.len();
    let expected = ComparedQuantity::all(other, has_audit);
    let stated = report.items("/rows", "what");
    if json!(stated) != json!(expected) {
        report.differ("/rows", stated, expected);
    }
}

/// The conclusion from the rows, also from those that were drawn.
fn conclusion(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let mut rows: Vec<(ComparedQuantity, f64)> = Vec::new();
    for row in 0..report.len("/rows") {
        let quantity = report.parsed(&format!("/rows/{row}/what"), "a quantity")?;
        rows.extend(report.compared(&format!("/rows/{row}/epsilon")).map(|it| (quantity, it)));
    }
    // reports of 0.1 lack the adjacency, which was zero-out
    let adjacency = report.optional("/claim/adjacency").unwrap_or(Adjacency::ZeroOut);
    let claimed = report.compared("/claim/epsilon").map(|epsilon| (epsilon, adjacency));
    let significance = report.parsed("/significance", "a number")?;
    let found = ComparedQuantity::conclusion(&rows, significance, claimed);
    report.expect("/headline", found.sentence);
    if let Some(claim) = found.claim {
        report.expect("/claim/verdict", claim.verdict);
        report.expect("/claim/sentence", claim.sentence);
    }
    Ok(())
}

/// Noise, rate and steps.
#[derive(Deserialize)]
struct RecordedPhase {
    noise_multiplier: f64,
    sampling_rate: f64,
    steps: u64,
}

/// All values: the report has the phases.
pub(crate) fn imported(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let phases: Vec<RecordedPhase> = report.read("/phases", "a list of phases")?;
    let phases: Vec<Phase> = phases
        .into_iter()
        .map(|RecordedPhase { noise_multiplier, sampling_rate, steps }| Phase {
            noise_multiplier,
            sampling_rate,
            steps,
        })
        .collect();
    let delta = report.number("/upper/delta")?;
    let claim = match report.compared("/claim/epsilon") {
        Some(epsilon) => {
            let adjacency = report.read("/claim/adjacency", "an adjacency")?;
            Some(PrivacyClaim { epsilon, delta, adjacency })
        }
        None => None,
    };
    let source = match report.is("/source", "opacus") {
        true => RecordSource::Opacus,
        false => RecordSource::DpEvent,
    };
    let found = ImportedReport::new(source, phases, delta, claim).map_err(|error| {
        RecomputeError::Counts { pointer: "/phases", problem: error.to_string() }
    })?;
    report.expect_all("/lower", found.lower);
    report.expect_all("/upper", found.upper);
    report.expect("/steps", found.steps);
    report.expect("/says", found.says);
    if let Some(claim) = found.claim {
        report.expect("/claim/verdict", claim.verdict);
        report.expect("/claim/delta", delta);
    }
    Ok(())
}
