//! What the runs of a training say.

use dpscope_engine::{Artefact as EngineArtefact, EngineError, Shard, Unattended, run};
use dpscope_report::figure::expected_score_bins;
use dpscope_report::record::page::ExpectedScoreBin;
use dpscope_report::record::{Idealised, Report, RunFacts, SeedSource};
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{
    Artefact, Backend, Evaluate, Plan, ReportError, Simulation, report as report_of,
};

use crate::claim::{claim_test, of_claim};
use crate::failure::{Failure, FailureKind};
use crate::ready::ready;
use crate::two_worlds::Counted;

/// Most normals of a simulation beside trained models: half a second of a worker.
const MOST_NORMALS: u64 = 100_000_000;

/// Simulated observations of both worlds that the expected histograms are from.
const EXPECTED_FROM: u64 = 20_000;

/// Observations of the simulated mechanism, with the bins of the trained models.
fn simulated(trained: &Artefact, observations: u64) -> Result<Option<Artefact>, Failure> {
    let plan = Plan { training: None, observations, ..trained.plan }.validated()?;
    let per_run = plan.distribution().normals_per_observation();
    if per_run.saturating_mul(observations) > MOST_NORMALS {
        return Ok(None);
    }
    let units = plan.plan().observations_per_world();
    let range = Shard::WHOLE.range(units)?;
    let start = EngineArtefact::empty(*plan.plan(), trained.stage.clone(), range);
    let backend = Backend::Cpu(CpuBackend::new(1)?);
    Ok(Some(ready(run(&Simulation::new(&plan, &backend)?, start, &Unattended))??))
}

/// The report of the planned runs.
///
/// # Errors
/// Runs are missing; a claim outside its domain.
pub(super) fn report(
    state: &Artefact,
    claim: Option<f64>,
    elapsed_ms: f64,
) -> Result<Report, Failure> {
    if !state.is_complete() {
        let message = "runs are missing: there is no bound before the planned number";
        return Err(Failure::of(FailureKind::Input, message));
    }
    let Plan { delta, observations, .. } = state.plan;
    let test = claim_test(claim, delta);
    let simulated = simulated(state, observations)?;
    let idealised = simulated.map(|state| state.outcome()).transpose()?;
    let idealised = idealised.as_ref().map(Idealised::from);
    let facts = RunFacts { seed_source: SeedSource::Given, elapsed_ms, resumed_from: None };
    report_of(state, &facts, idealised, &test, false).map_err(|error| match error {
        ReportError::Counts(error) => error.into(),
        ReportError::Mechanism(error) => error.into(),
        ReportError::Claim(error) => of_claim(error),
        error => Failure::rejected(&error),
    })
}

/// Histograms of the scores so far, beside those of the simulated mechanism.
pub(super) fn scores(counted: &mut Counted) -> Result<Vec<ExpectedScoreBin>, Failure> {
    let state = counted.state();
    let of = |expected: &Artefact| {
        let (bins, counted) = (&state.stage.bins, &state.evidence.histograms);
        expected_score_bins(bins, counted, &expected.evidence.histograms)
    };
    let found = match &counted.expected {
        Some(expected) => of(expected),
        None => match simulated(state, EXPECTED_FROM)? {
            Some(expected) => {
                let found = of(&expected);
                counted.expected = Some(Box::new(expected));
                found
            }
            None => of(state),
        },
    };
    Ok(found.map_err(EngineError::from)?)
}
