//! `dpscope reproduce` for the experiments with DP-SGD itself.

use std::io::IsTerminal;

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::bound::ceiling;
use dpscope_core::mechanism::{BatchedGaussian, SamplerKind};
use dpscope_engine::{Artefact, Backend, Plan, TrainingState};
use serde::Serialize;

use super::ReproduceArgs;
use super::args::NUMBERING;
use super::published::{Experiment, dp_sgd};
use super::{Ours, Reason, estimate, reason, trained_shown};
use crate::commands::audit::dpsgd::{built_in, calibrated};
use crate::commands::simulate::{Ended, count_whole, float_mode, idealised_counts};
use crate::device::backend;
use crate::failure::{Done, Exit, Failure, refuse_idle};
use crate::output::{print, print_json, tell};
use crate::progress::is_interrupted;
use crate::seed::seed_or_fresh;

/// Records of the one epoch.
const RECORDS: u32 = 10_000;

const DELTA: f64 = 1e-5;
const SIGNIFICANCE: f64 = 0.05;

/// Models that the paper trained in a setting.
const PUBLISHED_RUNS: u64 = 1_000_000;

#[derive(Serialize)]
pub(super) struct Reproduced {
    schema: &'static str,
    pub(super) what: String,
    /// What a figure's number is, where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) numbering: Option<&'static str>,
    pub(super) delta: f64,
    pub(super) significance: f64,
    pub(super) published_runs: u64,
    pub(super) seed: String,
    pub(super) device: String,
    /// Settings of the experiment; fewer rows where it was interrupted.
    pub(super) settings: usize,
    pub(super) rows: Vec<Row>,
    pub(super) can_show: String,
    pub(super) cannot_show: String,
}

#[derive(Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    /// None where nothing is trained.
    pub(super) model: Option<String>,
    pub(super) sampler: SamplerKind,
    pub(super) batch_size: u32,
    /// Whether all runs share one canary's gradient; none where nothing is trained.
    pub(super) fixed_canary: Option<bool>,
    pub(super) runs: u64,
    pub(super) noise_multiplier: f64,
    /// By Poisson accounting, as the paper chose it.
    pub(super) claimed_epsilon: f64,
    pub(super) published_estimate: Option<f64>,
    /// The paper says that it lies below the claim, and no number is known to us.
    pub(super) published_below_claim: bool,
    /// As printed: how many times the estimate of the full shuffle.
    pub(super) published_times: Option<f64>,
    /// Our estimate divided by ours of the full shuffle at this claim.
    pub(super) our_times: Option<f64>,
    #[serde(flatten)]
    pub(super) ours: Ours,
    /// The estimate at as many observations of the batched Gaussian mechanism; none where that
    /// takes long, or nothing is trained.
    pub(super) idealised_estimate: Option<f64>,
    /// No estimate from as many runs is larger.
    pub(super) ceiling: f64,
    /// Of the outputs about their idealised mean, in noise variances.
    pub(super) residual_variance: Option<f64>,
    /// Held-out examples that the models classify correctly.
    pub(super) correct_share: Option<f64>,
    pub(super) why_they_differ: Vec<Reason>,
    pub(super) elapsed_ms: f64,
    #[serde(skip)]
    device: String,
}

pub(super) fn run(args: &ReproduceArgs) -> Done {
    let idle = [("--observations", args.observations.is_some())];
    refuse_idle(&idle, "on DP-SGD, which takes --runs")?;
    let what = args.what.what.name();
    let experiments = dp_sgd(&what)?;
    let (seed, _) = seed_or_fresh(args.seed)?;
    let mut rows: Vec<Row> = Vec::with_capacity(experiments.len());
    for experiment in &experiments {
        if !args.show.quiet && std::io::stderr().is_terminal() {
            tell(&format!("{}, ε = {}", experiment.name, experiment.claimed_epsilon));
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
    let report = Reproduced {
        schema: "dpscope.training_reproduction/1",
        what,
        numbering: args.what.is_by_number.then_some(NUMBERING),
        delta: DELTA,
        significance: SIGNIFICANCE,
        published_runs: PUBLISHED_RUNS,
        seed: seed.to_string(),
        device,
        settings,
        can_show: trained_shown::can_show(&rows),
        cannot_show: trained_shown::cannot_show(&rows),
        rows,
    };
    if args.show.json {
        print_json(&report)?;
    } else {
        print(&trained_shown::text(&report))?;
    }
    if done < settings {
        tell(&format!("interrupted: {done} of {settings} settings; fewer --runs take less time"));
        return Ok(Exit::Interrupted);
    }
    Ok(Exit::Done)
}

/// What two cores do in about two minutes, all settings together; fewer than ten a world say
/// nothing.
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
        Some(given) => given,
        None => calibrated(experiment.claimed_epsilon, DELTA, steps_per_epoch.into(), 1)?,
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
    plan.validated().map_err(crate::commands::audit::dpsgd::of_runs)?;
    Ok(plan)
}

/// A setting audited; none where that was interrupted.
fn row(
    experiment: &Experiment,
    plan: Plan,
    before: &[Row],
    args: &ReproduceArgs,
) -> Result<Option<Row>, Failure> {
    let (backend, plan) = match &experiment.model {
        Some(model) => {
            let (backend, digest) =
                built_in(model, &plan, experiment.has_fresh_canary, &args.device)?;
            (backend, Plan { training: Some(digest), ..plan })
        }
        None => (backend(&args.device, float_mode(&args.device, None))?, plan),
    };
    let ended = match count_whole(&plan, &backend, args.show.quiet) {
        Err(failure) if failure.code == Exit::Interrupted => return Ok(None),
        ended => ended?,
    };
    if ended.interrupted {
        return Ok(None);
    }
    let idealised = idealised_counts(&ended.state, args.device.threads, args.show.quiet);
    if is_interrupted() && idealised.is_none() {
        return Ok(None);
    }
    audited(experiment, &ended, idealised.as_ref(), (before, &backend)).map(Some)
}

fn audited(
    experiment: &Experiment,
    ended: &Ended,
    idealised: Option<&Artefact>,
    (before, backend): (&[Row], &Backend),
) -> Result<Row, Failure> {
    let state = &ended.state;
    let plan = &state.plan;
    let sampler = plan.mechanism.sampler.kind();
    let is_full = sampler == SamplerKind::Shuffle;
    let ours = Ours::of(state, experiment.published)?;
    let claimed_epsilon = experiment.claimed_epsilon;
    let full = before
        .iter()
        .find(|row| row.sampler == SamplerKind::Shuffle && row.claimed_epsilon == claimed_epsilon);
    let times = |full: &Row| ours.our_estimate / full.ours.our_estimate;
    let is_another = match &experiment.model {
        Some(_) => (plan.observations != PUBLISHED_RUNS).then_some(Reason::Observations),
        None => Some(Reason::UnknownNumber),
    };
    let training = state.training.as_ref().map(TrainingState::whole);
    Ok(Row {
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
        ceiling: ceiling(state.histograms.trials(), plan.delta, plan.significance / 2.0)?,
        residual_variance: training.and_then(|tally| tally.residual_variance()),
        correct_share: training.and_then(|tally| tally.correct_share()),
        ours,
        elapsed_ms: ended.elapsed_ms,
        device: backend.device(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    use super::super::args::Reproduction;

    #[test]
    fn every_experiment_has_settings_that_can_be_audited() {
        let of_dp_sgd = Reproduction::value_variants().iter().skip(2);
        for what in of_dp_sgd {
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
