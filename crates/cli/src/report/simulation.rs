//! The report of a simulation's artefact.

use dpscope_core::adjacency::World;
use dpscope_core::bound::max_uncorrected;
use dpscope_core::trade_off::Trials;
use dpscope_engine::{Artefact, EngineError};

use super::{Beside, Idealised, Observations, Report, Subject, TrainingFacts};
use crate::args::ClaimArgs;
use crate::failure::Failure;
use crate::seed::SeedSource;

/// What a report tells of the run itself.
pub(crate) struct RunFacts {
    pub(crate) seed_source: SeedSource,
    pub(crate) elapsed_ms: f64,
    /// Observations of both worlds that an earlier run had counted.
    pub(crate) resumed_from: Option<u64>,
    /// Of trained models, the same audit without them.
    pub(crate) idealised: Option<Idealised>,
}

/// The report of everything that an artefact counted.
pub(crate) fn of_artefact(
    artefact: &Artefact,
    facts: &RunFacts,
    claim: &ClaimArgs,
) -> Result<Report, Failure> {
    let outcome = artefact.outcome()?;
    let plan = artefact.plan;
    let bins = &artefact.layout.bins;
    let histograms = &artefact.histograms;
    let trials = histograms.trials();
    let trade_off = histograms.trade_off(bins)?;
    let uncorrected = max_uncorrected(&trade_off, plan.delta, plan.significance)?;
    let law = plan.mechanism.law()?;
    let normals = (trials.target + trials.zero_out) as f64 * law.normals_per_observation() as f64;
    let mut findings = Vec::new();
    if !artefact.is_complete() {
        findings.push(format!(
            "{} of {} planned observations are counted, so this is an estimate: a bound needs \
             exactly the planned number",
            trials.target + trials.zero_out,
            plan.observations
        ));
    }
    let modes: Vec<String> = artefact.float_modes.iter().map(ToString::to_string).collect();
    let training =
        artefact.training.as_ref().map(|state| TrainingFacts::of(state, facts.idealised));
    findings.extend(training.iter().flat_map(TrainingFacts::findings));
    let subject = match &training {
        Some(_) => Subject::TrainedModels,
        None => Subject::SimulatedMechanism,
    };
    let failed = |world| artefact.training.as_ref().map_or(0, |state| state.tally(world).failed);
    let non_finite = Trials { target: failed(World::Target), zero_out: failed(World::ZeroOut) };
    // of a training, normals are not the work
    let rate = training.is_none().then(|| normals / (artefact.sampling_ms.max(1e-3) / 1e3));
    let report = Report::new(subject, &outcome, plan.significance, trials, claim)?;
    Ok(Report {
        uncorrected_maximum: Some(uncorrected.into()),
        theory: Some(Beside::of_mechanism(&plan.mechanism, &report.result)),
        observations: Observations { planned: plan.observations, ..report.observations },
        saturated: Some(histograms.saturated()),
        seed: Some(plan.seed.to_string()),
        seed_source: Some(facts.seed_source),
        device: artefact.devices.join(", "),
        float_mode: modes.join(", "),
        fallback_shards: artefact.fallback_shards,
        elapsed_ms: facts.elapsed_ms,
        normals_per_second: rate,
        histogram_digest: Some(artefact.histogram_digest()),
        resumed_from: facts.resumed_from,
        score_slope: histograms.slope(bins).map_err(EngineError::from)?,
        plan: Some(plan),
        training,
        non_finite,
        findings,
        ..report
    })
}
