//! The report of simulated noisy sums.

use dpscope_core::audit::one_shot::EpsilonEstimator;
use dpscope_core::audit::one_shot::{CosineNull, OneShotResult, ScoreChecks};
use dpscope_engine::Artefact;
use dpscope_report::number::counted;
use dpscope_report::record::{
    ClaimTest, OneShotEstimate, OneShotQuantity, OneShotReport, OneShotSimulation, OneShotSummary,
    PrivacyUnit, RunFacts,
};
use dpscope_report::words::{CanaryNull, OneShotAttacker, OneShotDesign};
use dpscope_simulation::noisy_sum::{CosineMethod, NoisySumPlan};

use crate::args::{ReportArgs, check_drawing};
use crate::commands::audit::canary_report::Shown;
use crate::commands::audit::federated::{check_adjacency, option_of};
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::output::{claim_test, print_note};

/// The claim; also rejects options without effect and files that cannot be written.
pub(super) fn check(args: &ReportArgs, plan: &NoisySumPlan) -> Result<ClaimTest, Failure> {
    let unused = [("--metrics", args.metrics), ("--curves", args.plot.curves.is_some())];
    reject_unused_options(&unused, "on cosines of canaries")?;
    args.plot.plot.as_deref().map_or(Ok(()), check_drawing)?;
    args.page.check()?;
    let test = claim_test(&args.claim, plan.delta)?;
    check_adjacency(&test, OneShotDesign::certified(plan.design))?;
    Ok(test)
}

/// Prints the report of the first run with a summary of all, and returns its exit code.
pub(super) fn finish(
    state: &Artefact<NoisySumPlan>,
    facts: &RunFacts,
    args: &ReportArgs,
) -> CommandResult {
    let plan = &state.plan;
    let Some(first) = state.evidence.first() else {
        print_note(&format!(
            "{} of {} are here, without the first, whose result is reported; merge it with the other \
             shards",
            state.done(),
            counted(plan.repeats, "run")
        ));
        return Ok(Exit::Done);
    };
    let test = check(args, plan)?;
    let null = CosineNull::new(plan.dimension).map_err(option_of)?;
    let tails = null.tails(&first.cosines).map_err(option_of)?;
    let result = OneShotResult::new(&tails, plan.question(first.canaries)).map_err(option_of)?;
    let design = OneShotDesign {
        number: plan.design,
        inserted: first.canaries,
        null: CanaryNull::Cosines { dimension: plan.dimension },
        attacker: OneShotAttacker::NoisySum,
        unit: PrivacyUnit::Record,
        adjacency: OneShotDesign::certified(plan.design),
        // the program drew them
        is_committed: true,
    };
    let mean = ScoreChecks::new(&tails).standardised_mean();
    let report = OneShotReport {
        estimates: OneShotEstimate::all(&null, &first.cosines, plan.delta),
        simulation: Some(simulation(state, facts)),
        elapsed_ms: facts.elapsed_ms,
        ..OneShotReport::new(result, design, Some(mean), &test)?
    };
    let shown =
        Shown { delivery: args.delivery(), plot: args.plot.plot.as_deref(), claim: &args.claim };
    shown.finish(&report, &tails)
}

fn simulation(state: &Artefact<NoisySumPlan>, facts: &RunFacts) -> OneShotSimulation {
    let plan = &state.plan;
    let (gdp_mu, epsilon) = OneShotSimulation::truth(plan.noise_multiplier, plan.delta);
    let simulation = OneShotSimulation {
        noise_multiplier: plan.noise_multiplier,
        gdp_mu,
        epsilon,
        is_full_dimension: plan.method == CosineMethod::FullDimension,
        repeats: state.done(),
        summaries: Vec::new(),
        seed: plan.seed.to_string(),
        seed_source: facts.seed_source,
        device: state.devices.join(", "),
        resumed_from: facts.resumed_from,
    };
    if state.done() < 2 {
        return simulation;
    }
    let summary = |quantity: OneShotQuantity| {
        let runs = state.evidence.runs.iter();
        let values = runs.filter_map(|run| {
            quantity.value(&run.bounds, |estimator| match estimator {
                EpsilonEstimator::Mean => run.mean_estimate,
                EpsilonEstimator::TwoGaussians => run.two_gaussians_estimate,
            })
        });
        OneShotSummary::of(quantity, simulation.truth_of(quantity), values.collect())
    };
    let summaries = OneShotQuantity::ALL.into_iter().filter_map(summary).collect();
    OneShotSimulation { summaries, ..simulation }
}
