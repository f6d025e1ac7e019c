//! What theory says of trainings.

use dpscope_core::accounting::Phase;
use dpscope_core::audit::claim::PrivacyClaim;
use serde::Deserialize;

use super::checker::Checker;
use super::result::RecomputeError;
use crate::record::{ImportedReport, RecordSource};

/// The verdict, which follows from both bounds; the bounds need the accountant of the loader.
pub(super) fn check(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let lower = report.compared("/lower/epsilon");
    if lower.is_some() && lower > report.compared("/claim/epsilon") {
        report.expect("/claim/verdict", "refuted");
    }
    let delta = report.compared("/claim/delta");
    for value in ["lower", "upper", "poisson"] {
        if report.has(&format!("/{value}")) {
            report.expect(&format!("/{value}/delta"), delta);
        }
    }
    let [steps, records, batch] = [
        report.count("/steps_per_epoch")?,
        report.count("/setup/dataset_size")?,
        report.count("/setup/batch_size")?,
    ];
    let epochs = report.count("/setup/epochs")?;
    let rest = report.optional::<u64>("/setup/partial_epoch_steps").unwrap_or(0);
    report.expect("/steps", steps.saturating_mul(epochs).saturating_add(rest));
    let is_dropped = report.optional::<bool>("/setup/drop_last") == Some(true);
    let batch = batch.max(1);
    let expected = if is_dropped { records / batch } else { records.div_ceil(batch) };
    report.expect("/steps_per_epoch", expected);
    report.expect("/sampling_rate", batch as f64 / records as f64);
    Ok(())
}

/// Ratios to the value of Poisson accounting.
pub(super) fn comparison(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let rows = report.len("/rows");
    let is_poisson = |report: &Checker<'_>, row| report.is(&format!("/rows/{row}/what"), "poisson");
    let poisson = (0..rows).find(|&row| is_poisson(report, row));
    let poisson: Option<f64> =
        poisson.and_then(|row| report.optional(&format!("/rows/{row}/epsilon")));
    let delta = report.number("/delta")?;
    for row in 0..rows {
        let epsilon: Option<f64> = report.optional(&format!("/rows/{row}/epsilon"));
        let ratio = epsilon.zip(poisson).filter(|(_, poisson)| *poisson > 0.0);
        let ratio = ratio.map(|(epsilon, poisson)| epsilon / poisson);
        report.expect(&format!("/rows/{row}/ratio_to_poisson"), ratio);
        if epsilon.is_some() {
            report.expect(&format!("/rows/{row}/delta"), delta);
        }
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
pub(super) fn imported(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
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
    if let Some(claim) = found.claim {
        report.expect("/claim/verdict", claim.verdict);
        report.expect("/claim/delta", delta);
    }
    Ok(())
}
