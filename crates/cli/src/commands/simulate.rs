//! Running the protocol with two worlds: shared by `audit bgm`, `audit dpsgd`, `resume` and
//! `reproduce`.

use dpscope_core::accounting::Training;
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_engine::Workload;
use dpscope_report::figure::curves_of_report;
use dpscope_report::record::Idealised;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Artefact, Backend, Evaluate, Plan, Simulation};

use crate::args::{DeviceArgs, ReportArgs, RunArgs};
use crate::device::backend;
use crate::failure::{CommandResult, Failure};
use crate::job::{Job, RunOutcome, RunPlan, float_mode};

impl RunPlan for Plan {
    const PREPARATION: &'static str = "placing bins and cuts";

    fn seed(&self) -> u64 {
        self.seed
    }

    fn progress(state: &Artefact, rate: &str) -> String {
        let epsilon = state.outcome().map_or(0.0, |outcome| outcome.value());
        format!("{rate} observations/s  ε so far {epsilon:.2}")
    }
}

/// The plan of a simulated or trained run.
pub(crate) fn plan(
    args: &RunArgs,
    mechanism: BatchedGaussian,
    observations: u64,
    seed: u64,
) -> Plan {
    Plan {
        mechanism,
        observations,
        delta: args.statement.delta,
        significance: args.statement.significance(),
        threshold_rule: args.threshold_rule.into(),
        cuts: Plan::DEFAULT_CUTS,
        seed,
        training: None,
    }
}

/// The plan of a worst-case audit of shuffled batches.
pub(crate) fn shuffle_plan(
    setting: Training,
    observations: u64,
    delta: f64,
    significance: f64,
    seed: u64,
) -> Plan {
    // what is too large for a plan is refused there
    let whole = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    Plan {
        mechanism: BatchedGaussian {
            noise_multiplier: setting.noise_multiplier,
            steps_per_epoch: whole(setting.steps_per_epoch),
            epochs: whole(setting.epochs),
            sampler: BatchSampler::Shuffle,
            threat_model: ThreatModel::WorstCase,
            batch_size: None,
            dataset_size: None,
        },
        observations,
        delta,
        significance,
        threshold_rule: ThresholdRule::Simultaneous,
        cuts: Plan::DEFAULT_CUTS,
        seed,
        training: None,
    }
}

/// Counts a whole plan without saving the counts.
pub(crate) fn count_whole(
    plan: &Plan,
    backend: &Backend,
    quiet: bool,
) -> Result<RunOutcome<Plan>, Failure> {
    let plan = plan.validated()?;
    count_whole_of(&Simulation::new(&plan, backend)?, quiet)
}

/// Counts the whole plan of a workload without saving the counts.
pub(crate) fn count_whole_of<W: Workload<Plan = Plan>>(
    workload: &W,
    quiet: bool,
) -> Result<RunOutcome<Plan>, Failure> {
    Job::unsaved(*workload.plan()).execute(workload, quiet)
}

/// Most normals of a simulation of the idealised mechanism: about a second.
const MOST_NORMALS: u64 = 300_000_000;

/// The audit of the batched Gaussian mechanism that trained models are compared with.
pub(crate) fn idealised(
    trained: &Artefact,
    threads: Option<u16>,
    quiet: bool,
) -> Option<Idealised> {
    let outcome = idealised_counts(trained, threads, quiet)?.outcome().ok()?;
    Some(Idealised::from(&outcome))
}

/// As many observations of the batched Gaussian mechanism as models were trained; none if that takes
/// long or is interrupted.
pub(crate) fn idealised_counts(
    trained: &Artefact,
    threads: Option<u16>,
    quiet: bool,
) -> Option<Artefact> {
    if trained.evidence.training.is_none() || !trained.is_complete() {
        return None;
    }
    let plan = Plan { training: None, ..trained.plan };
    let per_run = plan.validated().ok()?.distribution().normals_per_observation();
    if per_run.saturating_mul(plan.observations) > MOST_NORMALS {
        return None;
    }
    let cpu = CpuBackend::new(threads.map_or(0, usize::from)).ok()?;
    let outcome = count_whole(&plan, &Backend::Cpu(cpu), quiet).ok()?;
    (!outcome.is_interrupted).then_some(outcome.state)
}

/// Runs the job on the selected device and reports it.
pub(crate) fn run_and_report(
    job: &Job<'_, Plan>,
    device: &DeviceArgs,
    report: &ReportArgs,
) -> CommandResult {
    report.check(job.plan.delta)?;
    job.check()?;
    let backend = backend(device, float_mode(device, job.resumed_modes()))?;
    run_on(&Simulation::new(&job.plan.validated()?, &backend)?, job, device, report)
}

/// Runs the job and reports it.
pub(crate) fn run_on<W: Workload<Plan = Plan>>(
    workload: &W,
    job: &Job<'_, Plan>,
    device: &DeviceArgs,
    args: &ReportArgs,
) -> CommandResult {
    let quiet = args.show.quiet;
    let test = args.check(job.plan.delta)?;
    let files = args.files();
    job.run(workload, device, (quiet, &files), |outcome| {
        let idealised = idealised(&outcome.state, device.threads, quiet);
        let facts = job.facts(outcome);
        let report = dpscope_simulation::report(
            &outcome.state,
            &facts,
            idealised,
            &test,
            args.shows_metrics(),
        )?;
        args.finish(&report, || Ok(curves_of_report(&report, &outcome.state.curve()?)?))
    })
}
