//! Running a plan at a terminal: what `audit bgm`, `resume` and `reproduce` share.

use std::path::Path;

use dpscope_core::accounting::Training;
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_engine::backend::{CpuBackend, FloatMode};
use dpscope_engine::{
    Artefact, ArtefactError, Backend, EngineError, Layout, ObservationRange, Plan, Shard,
    ValidPlan, run,
};
use dpscope_report::figure::curves_of_report;
use dpscope_report::record::{Idealised, SeedSource};

use crate::args::{Asked, DeviceArgs, PlotArgs, RunArgs};
use crate::device::{Choice, backend};
use crate::failure::{Done, Exit, Failure};
use crate::files::{check_replaceable, check_writable, read_artefact, write_artefact};
use crate::output::{claim_test, finish, tell};
use crate::progress::Terminal;
use crate::seed::seed_or_fresh;
use crate::simulated_report::{RunFacts, of_artefact};

/// The float mode of `--float-mode`, else that of the counts that are gone on with.
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
    pub(crate) range: ObservationRange,
    /// What an earlier run counted.
    pub(crate) resumed: Option<Artefact>,
    pub(crate) seed_source: SeedSource,
    pub(crate) checkpoint: Option<&'a Path>,
    pub(crate) out: Option<&'a Path>,
    /// Options that a command which goes on repeats, each with a blank in front.
    pub(crate) repeat: String,
}

/// What is known of a run before its plan: an earlier state, and the seed.
pub(crate) struct Begun {
    pub(crate) seed: u64,
    seed_source: SeedSource,
    earlier: Option<Artefact>,
}

/// The state in a checkpoint, if there is one, and the seed that was given, kept there, or drawn.
pub(crate) fn begun(checkpoint: Option<&Path>, seed: Option<u64>) -> Result<Begun, Failure> {
    checkpoint.map_or(Ok(()), check_writable)?;
    let earlier = checkpoint.filter(|path| path.exists()).map(read_artefact).transpose()?;
    let (seed, seed_source) = match (&earlier, seed) {
        (Some(state), None) => (state.plan.seed, SeedSource::Checkpoint),
        (_, given) => seed_or_fresh(given)?,
    };
    Ok(Begun { seed, seed_source, earlier })
}

impl<'a> Job<'a> {
    /// The job of a plan, going on with the state in its checkpoint.
    pub(crate) fn of(plan: Plan, begun: Begun, args: &'a RunArgs) -> Result<Self, Failure> {
        let valid = plan.validated()?;
        let range = args.shard.unwrap_or(Shard::WHOLE).range(&plan)?;
        let (checkpoint, out) = (args.checkpoint.as_deref(), args.out.as_deref());
        let Begun { seed_source, earlier, .. } = begun;
        if let (Some(state), Some(path)) = (&earlier, checkpoint) {
            let same = belongs_to(state, &plan, range);
            same.map_err(|error| Failure::from(error).about(path))?;
        }
        let repeat = String::new();
        Ok(Job { plan: valid, range, resumed: earlier, seed_source, checkpoint, out, repeat })
    }
}

fn belongs_to(state: &Artefact, plan: &Plan, range: ObservationRange) -> Result<(), ArtefactError> {
    if state.plan != *plan {
        let differences = plan.differences(&state.plan);
        return Err(ArtefactError::ForeignPlan { differences });
    }
    if state.range != range {
        let (found, expected) = (state.range.to_string(), range.to_string());
        return Err(ArtefactError::ForeignRange { found, expected });
    }
    Ok(())
}

/// A run that ended, finished or not.
pub(crate) struct Ended {
    pub(crate) state: Artefact,
    pub(crate) elapsed_ms: f64,
    pub(crate) interrupted: bool,
}

/// Counts what is left of the job.
pub(crate) fn count(job: &Job<'_>, backend: &Backend, quiet: bool) -> Result<Ended, Failure> {
    let terminal = Terminal::new(quiet, job.checkpoint);
    let keep_going = || dpscope_engine::Control::keep_going(&terminal);
    let state = match &job.resumed {
        Some(state) => state.clone(),
        None => {
            let layout = Layout::of(&job.plan, backend.cpu(), &keep_going);
            let layout = layout.inspect_err(|_| terminal.clear())?;
            let empty = Artefact::empty(&job.plan, layout, job.range);
            match backend {
                Backend::Trainer(trainer, _) => empty.with_training(trainer.description()),
                _ => empty,
            }
        }
    };
    // A disk that is full or read-only shows before the work, not after it.
    terminal.save(&state).map_err(|error| EngineError::Control(error.into()))?;
    let counted = pollster::block_on(run(&job.plan, state.clone(), backend, &terminal));
    terminal.clear();
    let elapsed_ms = terminal.elapsed_ms();
    match counted {
        Ok(state) => Ok(Ended { state, elapsed_ms, interrupted: false }),
        Err(EngineError::Stopped) => {
            let state = terminal.last_state().unwrap_or(state);
            terminal.save(&state).map_err(|error| EngineError::Control(error.into()))?;
            Ok(Ended { state, elapsed_ms, interrupted: true })
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

/// The plan that audits a shuffle at its worst, cuts fixed by a pilot.
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

/// Counts a whole plan that is kept nowhere.
pub(crate) fn count_whole(plan: &Plan, backend: &Backend, quiet: bool) -> Result<Ended, Failure> {
    let job = Job {
        plan: plan.validated()?,
        range: Shard::WHOLE.range(plan)?,
        resumed: None,
        seed_source: SeedSource::Given,
        checkpoint: None,
        out: None,
        repeat: String::new(),
    };
    count(&job, backend, quiet)
}

/// Most normals that the idealised law is simulated with: a second or so.
const MOST_NORMALS: u64 = 300_000_000;

/// What the audit of trained models says of the batched Gaussian mechanism.
pub(crate) fn idealised(
    trained: &Artefact,
    threads: Option<u16>,
    quiet: bool,
) -> Option<Idealised> {
    let outcome = idealised_counts(trained, threads, quiet)?.outcome().ok()?;
    Some(Idealised::from(&outcome))
}

/// As many observations of the batched Gaussian mechanism as models were trained; none where that
/// takes long or was interrupted.
pub(crate) fn idealised_counts(
    trained: &Artefact,
    threads: Option<u16>,
    quiet: bool,
) -> Option<Artefact> {
    if trained.training.is_none() || !trained.is_complete() {
        return None;
    }
    let plan = Plan { training: None, ..trained.plan };
    let a_run = plan.validated().ok()?.distribution().normals_per_observation();
    if a_run.saturating_mul(plan.observations) > MOST_NORMALS {
        return None;
    }
    let cpu = CpuBackend::new(threads.map_or(0, usize::from)).ok()?;
    let ended = count_whole(&plan, &Backend::Cpu(cpu), quiet).ok()?;
    (!ended.interrupted).then_some(ended.state)
}

/// Runs the job on the device that is asked for, and reports it.
pub(crate) fn run_and_report(job: &Job<'_>, asked: Asked<'_>) -> Done {
    check_asked(asked, job.plan.plan().delta)?;
    check(job)?;
    let backend = backend(asked.device, float_mode(asked.device, job.resumed.as_ref()))?;
    run_on(&backend, job, asked)
}

/// What can be refused before there is a job.
pub(crate) fn check_asked(asked: Asked<'_>, delta: f64) -> Result<(), Failure> {
    claim_test(asked.claim, delta)?;
    asked.plot.check()
}

/// What can be refused before any work is done.
pub(crate) fn check(job: &Job<'_>) -> Result<(), Failure> {
    job.out.map_or(Ok(()), |path| check_replaceable(path, job.plan.plan(), job.range))?;
    if job.range.len() < job.plan.plan().observations_per_world()
        && job.out.or(job.checkpoint).is_none()
    {
        tell("this shard is kept nowhere; --out FILE keeps it for `dpscope merge`");
    }
    Ok(())
}

/// Runs the job and reports it.
pub(crate) fn run_on(backend: &Backend, job: &Job<'_>, asked: Asked<'_>) -> Done {
    let Asked { device, plot, claim, show } = asked;
    let resumed_from = job.resumed.as_ref().map(|state| 2 * state.done());
    let ended = count(job, backend, show.quiet)?;
    // Part of the counts never takes the place of more of them.
    let keeps = |path: &&Path| {
        ended.interrupted && read_artefact(path).is_ok_and(|old| old.done() > ended.state.done())
    };
    let out = job.out.filter(|path| !keeps(path));
    let written = out.map_or(Ok(()), |path| write_artefact(path, &ended.state));
    if ended.interrupted {
        tell_how_to_go_on(job, device, plot, &ended.state, out.filter(|_| written.is_ok()));
        if ended.state.done() == 0 {
            return written.map(|()| Exit::Interrupted);
        }
    }
    let facts = RunFacts {
        seed_source: job.seed_source,
        elapsed_ms: ended.elapsed_ms,
        resumed_from,
        idealised: idealised(&ended.state, device.threads, show.quiet),
    };
    // The report first: a disk that is full must not cost what was counted.
    let test = claim_test(claim, ended.state.plan.delta)?;
    let report = of_artefact(&ended.state, &facts, &test)?;
    let exit = finish(&report, show.json)?;
    let plotted = plot.write(|| Ok(curves_of_report(&report, &ended.state.curve()?)?));
    written.and(plotted)?;
    Ok(if ended.interrupted { Exit::Interrupted } else { exit })
}

fn tell_how_to_go_on(
    job: &Job<'_>,
    args: &DeviceArgs,
    plot: &PlotArgs,
    state: &Artefact,
    written: Option<&Path>,
) {
    let mode = mode_to_go_on(args.float_mode.map(FloatMode::from), &state.float_modes);
    let device = match &args.device {
        Choice::Auto | Choice::Cpu => mode,
        device => format!(" --device {}{mode}", quoted(&device.to_string())),
    };
    let files =
        [("out", job.out), ("plot", plot.plot.as_deref()), ("curves", plot.curves.as_deref())];
    let named = files.iter().filter_map(|(name, path)| Some((name, (*path)?)));
    let out: String =
        named.map(|(name, path)| format!(" --{name} {}", quoted_path(path))).collect();
    tell(&match job.checkpoint.or(written) {
        Some(path) => {
            format!(
                "interrupted; go on with\n  dpscope resume {}{out}{device}{}",
                quoted_path(path),
                job.repeat
            )
        }
        None => "interrupted; nothing was saved (--checkpoint FILE saves)".to_owned(),
    });
}

/// The option that keeps the float mode asked for, which counts would say, of which there are none.
fn mode_to_go_on(asked: Option<FloatMode>, counted: &[FloatMode]) -> String {
    let asked = asked.filter(|_| counted.is_empty());
    asked.map_or(String::new(), |mode| format!(" --float-mode {mode}"))
}

pub(crate) fn quoted_path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// A word as a shell takes it.
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
    fn a_float_mode_that_counted_nothing_yet_is_asked_for_again() {
        let exact = Some(FloatMode::Exact);
        assert_eq!(mode_to_go_on(exact, &[]), " --float-mode exact");
        assert_eq!(mode_to_go_on(exact, &[FloatMode::Exact]), "");
        assert_eq!(mode_to_go_on(None, &[]), "");
    }
}
