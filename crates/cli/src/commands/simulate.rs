//! Running a plan: shared by `audit bgm`, `audit dpsgd`, `resume` and `reproduce`.

use std::path::Path;

use dpscope_core::accounting::Training;
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_engine::{
    ArtefactError, EngineError, FloatMode, Plan as _, Shard, UnitRange, Workload, begin, run,
};
use dpscope_report::figure::curves_of_report;
use dpscope_report::record::{Idealised, SeedSource};
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Artefact, Backend, Evaluate, Plan, Simulation, ValidPlan};

use crate::args::{DeviceArgs, DeviceChoice, PlotArgs, ReportArgs, RunArgs};
use crate::device::backend;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{check_replaceable, check_writable, read_artefact, write_artefact};
use crate::output::print_note;
use crate::progress::Terminal;
use crate::seed::seed_or_fresh;
use crate::simulated_report::{RunFacts, of_artefact};

/// The float mode of `--float-mode`, else that of the resumed counts.
pub(super) fn float_mode(args: &DeviceArgs, resumed: Option<&Artefact>) -> FloatMode {
    let earlier = resumed.and_then(|state| match state.float_modes[..] {
        [mode] => Some(mode),
        _ => None,
    });
    args.float_mode.map(FloatMode::from).or(earlier).unwrap_or(FloatMode::Fast)
}

/// A run and where its results go.
pub(crate) struct Job<'a> {
    pub(crate) plan: ValidPlan,
    pub(crate) range: UnitRange,
    /// Counts of the run that is resumed.
    pub(crate) resumed: Option<Artefact>,
    pub(crate) seed_source: SeedSource,
    pub(crate) checkpoint: Option<&'a Path>,
    pub(crate) out: Option<&'a Path>,
    /// Options that `dpscope resume` needs again, each with a blank in front.
    pub(crate) resume_options: String,
}

/// Where a run starts: its seed, and the state that its checkpoint contains.
pub(crate) struct ResumePoint {
    pub(crate) seed: u64,
    seed_source: SeedSource,
    saved: Option<Artefact>,
}

impl ResumePoint {
    /// Reads the checkpoint if it exists; the seed is `seed`, that of the checkpoint, or fresh.
    pub(crate) fn read(checkpoint: Option<&Path>, seed: Option<u64>) -> Result<Self, Failure> {
        checkpoint.map_or(Ok(()), check_writable)?;
        let saved = checkpoint.filter(|path| path.exists()).map(read_artefact).transpose()?;
        let (seed, seed_source) = match (&saved, seed) {
            (Some(state), None) => (state.plan.seed, SeedSource::Checkpoint),
            (_, seed) => seed_or_fresh(seed)?,
        };
        Ok(ResumePoint { seed, seed_source, saved })
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

impl<'a> Job<'a> {
    /// The job of a plan, resumed from the state in its checkpoint.
    pub(crate) fn new(plan: Plan, start: ResumePoint, args: &'a RunArgs) -> Result<Self, Failure> {
        let valid = plan.validated()?;
        let range = args.shard.unwrap_or(Shard::WHOLE).range(plan.observations_per_world())?;
        let (checkpoint, out) = (args.checkpoint.as_deref(), args.out.as_deref());
        let ResumePoint { seed_source, saved: resumed, .. } = start;
        if let (Some(state), Some(path)) = (&resumed, checkpoint) {
            check_matches(state, &plan, range).map_err(|error| Failure::from(error).about(path))?;
        }
        let resume_options = String::new();
        Ok(Job { plan: valid, range, resumed, seed_source, checkpoint, out, resume_options })
    }
}

fn check_matches(state: &Artefact, plan: &Plan, range: UnitRange) -> Result<(), ArtefactError> {
    state.check_plan(plan)?;
    if state.range != range {
        let found = Plan::named(&state.range.to_string());
        let expected = range.to_string();
        return Err(ArtefactError::RangeMismatch { found, expected });
    }
    Ok(())
}

/// The state of a run that finished or was interrupted.
pub(crate) struct RunOutcome {
    pub(crate) state: Artefact,
    pub(crate) elapsed_ms: f64,
    pub(crate) is_interrupted: bool,
}

/// Counts the remaining observations of the job.
pub(crate) fn count<W: Workload<Plan = Plan>>(
    job: &Job<'_>,
    workload: &W,
    quiet: bool,
) -> Result<RunOutcome, Failure> {
    let terminal = Terminal::new(quiet, job.checkpoint);
    let state = match &job.resumed {
        Some(state) => state.clone(),
        None => begin(workload, job.range, &terminal).inspect_err(|_| terminal.clear())?,
    };
    // A disk that is full or read-only shows before the work, not after it.
    terminal.save(&state).map_err(|error| EngineError::Control(error.into()))?;
    let counted = pollster::block_on(run(workload, state.clone(), &terminal));
    terminal.clear();
    let elapsed_ms = terminal.elapsed_ms();
    match counted {
        Ok(state) => Ok(RunOutcome { state, elapsed_ms, is_interrupted: false }),
        Err(EngineError::Stopped) => {
            let state = terminal.last_state().unwrap_or(state);
            terminal.save(&state).map_err(|error| EngineError::Control(error.into()))?;
            Ok(RunOutcome { state, elapsed_ms, is_interrupted: true })
        }
        Err(error) => {
            let foreign = matches!(error, EngineError::Artefact(_));
            let failure = Failure::from(error);
            Err(match job.checkpoint.filter(|_| foreign) {
                Some(path) => failure.about(path),
                None => failure,
            })
        }
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
) -> Result<RunOutcome, Failure> {
    let plan = plan.validated()?;
    count_whole_of(&Simulation::new(&plan, backend)?, quiet)
}

/// Counts the whole plan of a workload without saving the counts.
pub(crate) fn count_whole_of<W: Workload<Plan = Plan>>(
    workload: &W,
    quiet: bool,
) -> Result<RunOutcome, Failure> {
    let plan = workload.plan();
    let job = Job {
        plan: plan.validated()?,
        range: Shard::WHOLE.range(plan.observations_per_world())?,
        resumed: None,
        seed_source: SeedSource::Given,
        checkpoint: None,
        out: None,
        resume_options: String::new(),
    };
    count(&job, workload, quiet)
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
    job: &Job<'_>,
    device: &DeviceArgs,
    report: &ReportArgs,
) -> CommandResult {
    report.check(job.plan.plan().delta)?;
    check_job(job)?;
    let backend = backend(device, float_mode(device, job.resumed.as_ref()))?;
    run_on(&Simulation::new(&job.plan, &backend)?, job, device, report)
}

/// Rejects an `--out` file that cannot be replaced; warns if a shard is not saved.
pub(crate) fn check_job(job: &Job<'_>) -> Result<(), Failure> {
    job.out.map_or(Ok(()), |path| check_replaceable(path, job.plan.plan(), job.range))?;
    if job.range.len() < job.plan.plan().observations_per_world()
        && job.out.or(job.checkpoint).is_none()
    {
        print_note(
            "this shard's counts are not saved; pass --out FILE to save them for `dpscope merge`",
        );
    }
    Ok(())
}

/// Runs the job and reports it.
pub(crate) fn run_on<W: Workload<Plan = Plan>>(
    workload: &W,
    job: &Job<'_>,
    device: &DeviceArgs,
    args: &ReportArgs,
) -> CommandResult {
    let quiet = args.show.quiet;
    let test = args.check(job.plan.plan().delta)?;
    let resumed_from = job.resumed.as_ref().map(|state| 2 * state.done());
    let outcome = count(job, workload, quiet)?;
    // An interrupted run never replaces a file with more counts.
    let has_more = |path: &&Path| {
        outcome.is_interrupted
            && read_artefact(path).is_ok_and(|old| old.done() > outcome.state.done())
    };
    let out = job.out.filter(|path| !has_more(path));
    let written = out.map_or(Ok(()), |path| write_artefact(path, &outcome.state));
    if outcome.is_interrupted {
        print_resume_command(
            job,
            device,
            &args.plot,
            &outcome.state,
            out.filter(|_| written.is_ok()),
        );
        if outcome.state.done() == 0 {
            return written.map(|()| Exit::Interrupted);
        }
    }
    let facts = RunFacts {
        seed_source: job.seed_source,
        elapsed_ms: outcome.elapsed_ms,
        resumed_from,
        idealised: idealised(&outcome.state, device.threads, quiet),
    };
    let report = of_artefact(&outcome.state, &facts, &test)?;
    let exit = args.finish(&report, || Ok(curves_of_report(&report, &outcome.state.curve()?)?));
    let exit = written.and(exit)?;
    Ok(if outcome.is_interrupted { Exit::Interrupted } else { exit })
}

/// Prints the command that resumes an interrupted job, on stderr.
fn print_resume_command(
    job: &Job<'_>,
    args: &DeviceArgs,
    plot: &PlotArgs,
    state: &Artefact,
    written: Option<&Path>,
) {
    let mode = resume_float_mode(args.float_mode.map(FloatMode::from), &state.float_modes);
    let device = match &args.device {
        DeviceChoice::Auto | DeviceChoice::Cpu => mode,
        device => format!(" --device {}{mode}", quoted(&device.to_string())),
    };
    let files =
        [("out", job.out), ("plot", plot.plot.as_deref()), ("curves", plot.curves.as_deref())];
    let named = files.iter().filter_map(|(name, path)| Some((name, (*path)?)));
    let out: String =
        named.map(|(name, path)| format!(" --{name} {}", quoted_path(path))).collect();
    print_note(&match job.checkpoint.or(written) {
        Some(path) => {
            format!(
                "interrupted; resume with\n  dpscope resume {}{out}{device}{}",
                quoted_path(path),
                job.resume_options
            )
        }
        None => {
            "interrupted; nothing was saved (pass --checkpoint FILE to save the state)".to_owned()
        }
    });
}

/// `--float-mode`, as long as no counts record it.
fn resume_float_mode(requested: Option<FloatMode>, counted: &[FloatMode]) -> String {
    let requested = requested.filter(|_| counted.is_empty());
    requested.map_or(String::new(), |mode| format!(" --float-mode {mode}"))
}

pub(crate) fn quoted_path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// A word, quoted for a shell.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resume_command_repeats_the_float_mode_until_counts_record_it() {
        let exact = Some(FloatMode::Exact);
        assert_eq!(resume_float_mode(exact, &[]), " --float-mode exact");
        assert_eq!(resume_float_mode(exact, &[FloatMode::Exact]), "");
        assert_eq!(resume_float_mode(None, &[]), "");
    }
}
