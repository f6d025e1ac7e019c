//! `dpscope reproduce` for experiments with DP-SGD.

mod table;

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::bound::ceiling;
use dpscope_core::mechanism::{BatchedGaussian, SamplerKind};
use dpscope_engine::Workload;
use dpscope_simulation::{Artefact, Plan, TrainingState};

use super::ReproduceArgs;
use super::published::{Experiment, dp_sgd};
use super::record::{estimate, our_result, reason};
use crate::commands::audit::dpsgd::{built_in, calibrated_noise};
use crate::commands::simulate::{count_whole, count_whole_of, idealised_counts};
use crate::device::backend;
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::job::{RunOutcome, float_mode};
use crate::output::{print_json, print_note, print_text};
use crate::progress::{is_drawn, is_interrupted};
use crate::seed::seed_or_fresh;
use dpscope_report::record::{
    DifferenceReason, TrainingReproductionReport, TrainingReproductionRow,
};

/// Records of the one epoch.
const RECORDS: u32 = 10_000;

const DELTA: f64 = 1e-5;
const SIGNIFICANCE: f64 = 0.05;

/// Models or observations per setting in the paper.
const PUBLISHED_RUNS: u64 = 1_000_000;

pub(super) fn run(args: &ReproduceArgs) -> CommandResult {
    let idle = [("--observations", args.observations.is_some())];
    reject_unused_options(&idle, "with DP-SGD experiments, which use --runs")?;
    let what = args.what.name();
    let experiments = dp_sgd(&what)?;
    let (seed, _) = seed_or_fresh(args.seed)?;
    let mut rows: Vec<TrainingReproductionRow> = Vec::with_capacity(experiments.len());
    for experiment in &experiments {
        if is_drawn(args.show.quiet) {
            print_note(&format!("{}, ε = {}", experiment.name, experiment.claimed_epsilon));
        }
        let plan =
            plan(experiment, args.runs.unwrap_or(default_runs(&experiments, experiment)), seed)?;
        let Some(row) = row(experiment, plan, &rows, args)? else { break };
        rows.push(row);
    }
    let (done, settings) = (rows.len(), experiments.len());
    let Some(device) = rows.last().map(|row| row.device.clone()) else {
        return Err(Failure::interrupted());
    };
    let report = TrainingReproductionReport {
        schema: "dpscope.training_reproduction/1",
        what,
        delta: DELTA,
        significance: SIGNIFICANCE,
        published_runs: PUBLISHED_RUNS,
        seed: seed.to_string(),
        device,
        settings,
        can_show: table::can_show(&rows),
        cannot_show: table::cannot_show(&rows),
        rows,
    };
    if args.show.json {
        print_json(&report)?;
    } else {
        print_text(&table::text(&report))?;
    }
    if done < settings {
        print_note(&format!(
            "interrupted: {done} of {settings} settings; reduce --runs for a shorter run"
        ));
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Done)
}

/// About two minutes on two cores for all settings, and at least ten runs per world.
fn default_runs(all: &[Experiment], one: &Experiment) -> u64 {
    let settings = all.len().max(1) as u64;
    match one.model.as_deref() {
        None => PUBLISHED_RUNS,
        Some("lenet") => (120 / settings).max(20),
        Some(_) => 3_600 / settings,
    }
}

fn plan(experiment: &Experiment, runs: u64, seed: u64) -> Result<Plan, Failure> {
    let batch_size = experiment.batch_size;
    let steps_per_epoch = RECORDS / batch_size.max(1);
    let noise_multiplier = match experiment.noise_multiplier {
        Some(noise_multiplier) => noise_multiplier,
        None => {
            calibrated_noise(experiment.claimed_epsilon, DELTA, (steps_per_epoch.into(), 1), None)?
        }
    };
    let plan = Plan {
        mechanism: BatchedGaussian {
            noise_multiplier,
            steps_per_epoch,
            epochs: 1,
            sampler: experiment.sampler.with_buffer(experiment.buffer_examples)?,
            threat_model: experiment.threat_model,
            batch_size: Some(batch_size),
        },
        observations: runs,
        delta: DELTA,
        significance: SIGNIFICANCE,
        threshold_rule: ThresholdRule::Simultaneous,
        cuts: Plan::DEFAULT_CUTS,
        seed,
        training: None,
    };
    plan.validated().map_err(crate::commands::audit::dpsgd::name_runs)?;
    Ok(plan)
}

/// One audited setting; none if interrupted.
fn row(
    experiment: &Experiment,
    plan: Plan,
    before: &[TrainingReproductionRow],
    args: &ReproduceArgs,
) -> Result<Option<TrainingReproductionRow>, Failure> {
    let quiet = args.show.quiet;
    let (counted, device) = match &experiment.model {
        Some(model) => {
            let models = built_in(model, &plan, experiment.has_fresh_canary, &args.device)?;
            (count_whole_of(&models, quiet), models.device())
        }
        None => {
            let backend = backend(&args.device, float_mode(&args.device, &[]))?;
            (count_whole(&plan, &backend, quiet), backend.device())
        }
    };
    let outcome = match counted {
        Err(failure) if failure.code == Exit::Interrupted => return Ok(None),
        outcome => outcome?,
    };
    if outcome.is_interrupted {
        return Ok(None);
    }
    let idealised = idealised_counts(&outcome.state, args.device.threads, quiet);
    if is_interrupted() && idealised.is_none() {
        return Ok(None);
    }
    audited(experiment, &outcome, idealised.as_ref(), (before, device.name)).map(Some)
}

fn audited(
    experiment: &Experiment,
    outcome: &RunOutcome<Plan>,
    idealised: Option<&Artefact>,
    (before, device): (&[TrainingReproductionRow], String),
) -> Result<TrainingReproductionRow, Failure> {
    let state = &outcome.state;
    let plan = &state.plan;
    let sampler = plan.mechanism.sampler.kind();
    let is_full = sampler == SamplerKind::Shuffle;
    let ours = our_result(state, experiment.published)?;
    let claimed_epsilon = experiment.claimed_epsilon;
    let full = before
        .iter()
        .find(|row| row.sampler == SamplerKind::Shuffle && row.claimed_epsilon == claimed_epsilon);
    let times = |full: &TrainingReproductionRow| ours.our_estimate / full.ours.our_estimate;
    let is_another =
        (plan.observations != PUBLISHED_RUNS).then_some(DifferenceReason::Observations);
    let training = state.evidence.training.as_ref().map(TrainingState::whole);
    Ok(TrainingReproductionRow {
        name: experiment.name.clone(),
        model: experiment.model.clone(),
        sampler,
        batch_size: experiment.batch_size,
        fixed_canary: experiment.model.as_ref().map(|_| !experiment.has_fresh_canary),
        runs: plan.observations,
        noise_multiplier: plan.mechanism.noise_multiplier,
        claimed_epsilon,
        published_estimate: experiment.published,
        published_below_claim: experiment.is_below_claim,
        published_times: experiment.published_times,
        our_times: full.filter(|_| !is_full).map(times).filter(|times| times.is_finite()),
        why_they_differ: reason(&ours, is_another).into_iter().collect(),
        idealised_estimate: match idealised {
            Some(counts) => Some(estimate(counts)?.value()),
            None => None,
        },
        ceiling: ceiling(state.evidence.histograms.trials(), plan.delta, plan.significance / 2.0)?,
        residual_variance: training.and_then(|tally| tally.residual_variance()),
        correct_share: training.and_then(|tally| tally.accuracy()),
        ours,
        elapsed_ms: outcome.elapsed_ms,
        device,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::reproduce::args::Reproduction;

    #[test]
    fn published_settings_are_valid_plans() {
        for what in Reproduction::dpsgd() {
            let name = what.name();
            let experiments = dp_sgd(&name).unwrap();
            assert!(experiments.len() >= 3, "{name}");
            for experiment in &experiments {
                let runs = default_runs(&experiments, experiment);
                assert!(runs >= 20 && plan(experiment, runs, 1).is_ok(), "{name}");
            }
        }
    }
}
