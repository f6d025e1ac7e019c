//! The report of a run with two worlds.

use dpscope_core::adjacency::World;
use dpscope_core::audit::Finding;
use dpscope_core::audit::bound::Statement;
use dpscope_core::audit::claim::ClaimError;
use dpscope_core::audit::metrics::{AttackMetrics, MetricOptions};
use dpscope_core::audit::trade_off::Trials;
use dpscope_core::mechanism::MechanismError;
use dpscope_engine::EngineError;
use dpscope_report::record::{
    ClaimTest, Idealised, Observations, PlanRecord, Report, RunFacts, TheoryComparison,
    TrainingFacts,
};
use dpscope_report::words::Subject;

use crate::{Artefact, Evaluate, Plan, TrainingState, TrainingTally};

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// Nothing is counted yet, or the counts are invalid.
    #[error(transparent)]
    Counts(#[from] EngineError),
    /// The plan has no distribution.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// The claim cannot be compared.
    #[error(transparent)]
    Claim(#[from] ClaimError),
}

/// The report of counted observations; `idealised` is the same audit of the simulated mechanism, for
/// trained models.
///
/// # Errors
/// Nothing is counted yet; a claim at another δ.
pub fn report(
    artefact: &Artefact,
    facts: &RunFacts,
    idealised: Option<Idealised>,
    test: &ClaimTest,
    shows_metrics: bool,
) -> Result<Report, ReportError> {
    let plan = artefact.plan;
    let bins = &artefact.stage.bins;
    let histograms = &artefact.evidence.histograms;
    let trials = histograms.trials();
    let distribution = plan.mechanism.distribution()?;
    let normals =
        (trials.target + trials.zero_out) as f64 * distribution.normals_per_observation() as f64;
    let modes: Vec<String> = artefact.float_modes.iter().map(ToString::to_string).collect();
    let training =
        artefact.evidence.training.as_ref().map(|state| training_facts(state, idealised));
    let result =
        artefact.result()?.with_findings(training.iter().flat_map(TrainingFacts::findings));
    let subject = match &training {
        Some(_) => Subject::TrainedModels,
        None => Subject::SimulatedMechanism,
    };
    let failed =
        |world| artefact.evidence.training.as_ref().map_or(0, |state| state.tally(world).failed);
    let non_finite = Trials { target: failed(World::Target), zero_out: failed(World::ZeroOut) };
    // the cost of training is not in its normals
    let rate = training.is_none().then(|| normals / (artefact.sampling_ms.max(1e-3) / 1e3));
    let options = MetricOptions {
        statement: Statement { delta: plan.delta, significance: plan.significance },
        seed: plan.seed,
        has_coverage: !result.findings().iter().any(Finding::costs_coverage),
    };
    let metrics = || AttackMetrics::of_histograms(histograms, bins, &options);
    let metrics = shows_metrics.then(metrics).transpose().map_err(EngineError::from)?;
    let report = Report::new(subject, &result, trials, test)?;
    let theory = TheoryComparison::of_mechanism(&plan.mechanism, &report.result);
    let is_ratio = distribution.is_likelihood_ratio();
    let score_slope =
        is_ratio.then(|| histograms.slope(bins)).transpose().map_err(EngineError::from)?;
    let report = report.with_theory(Some(theory));
    Ok(Report {
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
        score_slope: score_slope.flatten(),
        plan: Some(plan_record(&plan)),
        training,
        metrics,
        non_finite,
        ..report
    })
}

fn plan_record(plan: &Plan) -> PlanRecord {
    let Plan { mechanism, observations, delta, significance, threshold_rule, cuts, seed, training } =
        *plan;
    PlanRecord {
        mechanism,
        observations,
        delta,
        significance,
        threshold_rule,
        cuts,
        seed: seed.to_string(),
        training: training.map(String::from),
    }
}

/// Statistics of the trained models.
fn training_facts(training: &TrainingState, idealised: Option<Idealised>) -> TrainingFacts {
    let whole = training.whole();
    let error = (2.0 / whole.outputs as f64).sqrt();
    TrainingFacts {
        description: serde_json::from_str(&training.description).unwrap_or_default(),
        failed: whole.failed,
        bias: whole.bias(),
        residual_variance: whole.residual_variance(),
        residual_variance_error: (whole.outputs > 0).then_some(error),
        canary_shift: whole.canary_shift(),
        canary_shift_error: (whole.canaries > 0).then(|| canary_error(&whole)),
        correct_share: whole.accuracy(),
        asked: whole.evaluated,
        idealised,
    }
}

/// Standard error of the difference of two means, from at least the variance of the noise.
fn canary_error(tally: &TrainingTally) -> f64 {
    let others = tally.outputs.saturating_sub(tally.canaries).max(1);
    let variance = tally.residual_variance().unwrap_or(1.0).max(1.0);
    (variance * (1.0 / tally.canaries as f64 + 1.0 / others as f64)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Residuals of ±`spread`, those of one in ten outputs, the canary's, higher by ½.
    fn is_notable(spread: f64) -> bool {
        let mut tally = TrainingTally::default();
        for place in 0..10_000 {
            let sign = if place / 10 % 2 == 0 { spread } else { -spread };
            let is_canary = place % 10 == 0;
            tally.add_residual(sign + if is_canary { 0.5 } else { 0.0 }, is_canary);
        }
        Finding::canary_shifted(tally.canary_shift().unwrap(), canary_error(&tally)).is_some()
    }

    #[test]
    fn variance_of_other_records_does_not_flag_the_canary() {
        assert!(is_notable(1.0));
        assert!(!is_notable(4.0));
    }
}
