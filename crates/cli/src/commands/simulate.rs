//! Running a plan at a terminal: what `audit bgm`, `resume` and `reproduce` share.

use std::path::Path;

use dpscope_engine::backend::CpuBackend;
use dpscope_engine::{Artefact, Backend, EngineError, Layout, ObservationRange, ValidPlan, run};

use crate::args::{ClaimArgs, DeviceArgs, ShowArgs};
use crate::failure::{Done, Exit, Failure};
use crate::files::{check_writable, write_atomically};
use crate::progress::Terminal;
use crate::report::{RunFacts, of_artefact};
use crate::seed::SeedSource;

/// The backend that `--device` and `--threads` name.
pub(crate) fn backend(args: &DeviceArgs) -> Result<Backend, Failure> {
    match args.device.as_str() {
        "auto" | "cpu" => {
            let threads = args.threads.map_or(0, usize::from);
            Ok(Backend::Cpu(CpuBackend::new(threads)?))
        }
        other => Err(Failure::with(
            Exit::Device,
            format!("no device `{other}`; `dpscope devices` lists them, --device auto picks one"),
        )),
    }
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
            Artefact::empty(&job.plan, layout, job.range)
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
            Ok(Ended { state, elapsed_ms, interrupted: true })
        }
        Err(error) => Err(error.into()),
    }
}

/// Runs the job and reports it.
pub(crate) fn run_and_report(
    job: &Job<'_>,
    device: &DeviceArgs,
    claim: &ClaimArgs,
    show: &ShowArgs,
) -> Done {
    crate::report::check_claim(claim, job.plan.plan().delta)?;
    job.out.map_or(Ok(()), check_writable)?;
    let backend = backend(device)?;
    let resumed_from = job.resumed.as_ref().map(|state| 2 * state.done());
    let ended = count(job, &backend, show.quiet)?;
    if let Some(path) = job.out {
        write_atomically(path, &ended.state.to_bytes())
            .map_err(|error| Failure::input(format!("cannot be written: {error}")).about(path))?;
    }
    if ended.interrupted {
        tell_how_to_go_on(job);
        if ended.state.done() == 0 {
            return Ok(Exit::Interrupted);
        }
    }
    let facts =
        RunFacts { seed_source: job.seed_source, elapsed_ms: ended.elapsed_ms, resumed_from };
    let exit = of_artefact(&ended.state, &facts, claim)?.finish(show.json)?;
    Ok(if ended.interrupted { Exit::Interrupted } else { exit })
}

fn tell_how_to_go_on(job: &Job<'_>) {
    match job.checkpoint {
        Some(path) => eprintln!("interrupted; go on with\n  dpscope resume {}", quoted(path)),
        None => eprintln!("interrupted; nothing was saved (--checkpoint FILE saves)"),
    }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
