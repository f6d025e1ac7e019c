//! Running a plan: checkpoint, progress, interruption and resumption, for every subject.

mod display;
mod plan;
mod training;

use std::path::Path;
use web_time::Instant;

use dpscope_engine::{
    Artefact, ArtefactError, EngineError, FloatMode, Plan, Shard, UnitRange, Workload, begin, run,
};
use dpscope_report::record::{RunFacts, SeedSource};

use crate::args::{DeviceArgs, DeviceChoice, ReportArgs};
use crate::disk::HAS_DISK;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{check_replaceable, check_writable, read_own_artefact, write_artefact};
use crate::host;
use crate::output::print_note;
use crate::seed::seed_or_fresh;
use crate::shell::{quoted, quoted_path};
use display::RunDisplay;

pub(crate) use plan::RunPlan;

/// A run and where its results go.
pub(crate) struct Job<'a, P: Plan> {
    pub(crate) plan: P,
    pub(crate) range: UnitRange,
    /// State of the run that is resumed.
    pub(crate) resumed: Option<Artefact<P>>,
    pub(crate) seed_source: SeedSource,
    pub(crate) checkpoint: Option<&'a Path>,
    pub(crate) out: Option<&'a Path>,
    /// Options that `dpscope resume` needs again, each with a blank in front.
    pub(crate) resume_options: String,
}

/// Where a run starts: its seed, and the state that its checkpoint contains.
pub(crate) struct ResumePoint<P: Plan> {
    pub(crate) seed: u64,
    seed_source: SeedSource,
    saved: Option<Artefact<P>>,
}

impl<P: RunPlan> ResumePoint<P> {
    /// The plan of the saved state.
    pub(crate) fn plan(&self) -> Option<&P> {
        self.saved.as_ref().map(|state| &state.plan)
    }

    /// Reads the checkpoint if it exists; the seed is `seed`, that of the checkpoint, or fresh.
    pub(crate) fn read(checkpoint: Option<&Path>, seed: Option<u64>) -> Result<Self, Failure> {
        // a page passes none, and has no code that reads one
        let checkpoint = checkpoint.filter(|_| HAS_DISK);
        checkpoint.map_or(Ok(()), check_writable)?;
        let saved =
            checkpoint.filter(|path| path.exists()).map(read_own_artefact::<P>).transpose()?;
        let (seed, seed_source) = match (&saved, seed) {
            (Some(state), None) => (state.plan.seed(), SeedSource::Checkpoint),
            (_, seed) => seed_or_fresh(seed)?,
        };
        Ok(ResumePoint { seed, seed_source, saved })
    }
}

/// Writes a merged state and reports it, also if it could not be written.
pub(crate) fn report_merged<P: Plan>(
    merged: &Artefact<P>,
    out: Option<&Path>,
    started: Instant,
    report: impl FnOnce(&RunFacts) -> CommandResult,
) -> CommandResult {
    out.map_or(Ok(()), |path| check_replaceable(path, &merged.plan, merged.range))?;
    let written = out.map_or(Ok(()), |path| write_artefact(path, merged));
    let facts = RunFacts {
        seed_source: SeedSource::Artefact,
        elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
        resumed_from: None,
    };
    written.and(report(&facts))
}

/// Where a new run saves its state, and which part of its plan it computes.
pub(crate) struct Destination<'a> {
    pub(crate) shard: Option<Shard>,
    pub(crate) checkpoint: Option<&'a Path>,
    pub(crate) out: Option<&'a Path>,
}

impl<'a, P: RunPlan> Job<'a, P> {
    /// The job of a valid plan, resumed from the state in its checkpoint.
    pub(crate) fn new(
        plan: P,
        start: ResumePoint<P>,
        to: &Destination<'a>,
    ) -> Result<Self, Failure> {
        let range = to.shard.unwrap_or(Shard::WHOLE).range(plan.units())?;
        let &Destination { checkpoint, out, .. } = to;
        let ResumePoint { seed_source, saved: resumed, .. } = start;
        if let (Some(state), Some(path)) = (&resumed, checkpoint) {
            check_matches(state, &plan, range).map_err(|error| Failure::from(error).about(path))?;
        }
        let resume_options = String::new();
        Ok(Job { plan, range, resumed, seed_source, checkpoint, out, resume_options })
    }

    /// The whole of a valid plan, whose state is not saved.
    pub(crate) fn unsaved(plan: P) -> Self {
        Job {
            range: UnitRange { first: 0, end: plan.units() },
            plan,
            resumed: None,
            seed_source: SeedSource::Given,
            checkpoint: None,
            out: None,
            resume_options: String::new(),
        }
    }

    /// The rest of a run whose state was read from a checkpoint.
    pub(crate) fn of_checkpoint(
        state: Artefact<P>,
        checkpoint: &'a Path,
        out: Option<&'a Path>,
    ) -> Self {
        Job {
            plan: state.plan.clone(),
            range: state.range,
            resumed: Some(state),
            seed_source: SeedSource::Checkpoint,
            checkpoint: Some(checkpoint),
            out,
            resume_options: String::new(),
        }
    }

    /// Rejects an `--out` file that cannot be replaced; warns if a shard is not saved.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.out.map_or(Ok(()), |path| check_replaceable(path, &self.plan, self.range))?;
        if self.range.len() < self.plan.units() && self.out.or(self.checkpoint).is_none() {
            print_note(
                "this shard's counts are not saved; pass --out FILE to save them for `dpscope merge`",
            );
        }
        Ok(())
    }

    /// As [`Job::check`], for runs whose result needs all of the plan.
    pub(crate) fn check_with_result(&self, args: &ReportArgs) -> Result<(), Failure> {
        if self.range.len() < self.plan.units() {
            args.check_for_part()?;
        }
        self.check()
    }

    /// Facts about the run for its report.
    pub(crate) fn facts(&self, outcome: &RunOutcome<P>) -> RunFacts {
        RunFacts {
            seed_source: self.seed_source,
            elapsed_ms: outcome.elapsed_ms,
            resumed_from: self.resumed_from(),
        }
    }

    /// Results in the resumed state.
    pub(crate) fn resumed_from(&self) -> Option<u64> {
        self.resumed.as_ref().map(|state| P::RESULTS_PER_UNIT * state.done())
    }

    /// Float modes of the resumed state.
    pub(crate) fn resumed_modes(&self) -> &[FloatMode] {
        self.resumed.as_ref().map_or(&[], |state| &state.float_modes)
    }

    /// Computes the remaining units.
    pub(crate) fn execute<W: Workload<Plan = P>>(
        &self,
        workload: &W,
        quiet: bool,
    ) -> Result<RunOutcome<P>, Failure> {
        let display = RunDisplay::<P>::new(quiet, self.checkpoint);
        let terminal = &display.terminal;
        let state = match &self.resumed {
            Some(state) => state.clone(),
            None => begin(workload, self.range, terminal).inspect_err(|_| terminal.clear())?,
        };
        // A disk that is full or read-only shows before the work, not after it.
        display.save(&state).map_err(|error| EngineError::Control(error.into()))?;
        let computed = pollster::block_on(run(workload, state.clone(), &display));
        terminal.clear();
        let elapsed_ms = terminal.elapsed_ms();
        match computed {
            Ok(state) => Ok(RunOutcome { state, elapsed_ms, is_interrupted: false }),
            Err(EngineError::Stopped) => {
                if let Some(message) = host::consent().refusal() {
                    return Err(Failure::input(message));
                }
                let state = display.last_state().unwrap_or(state);
                display.save(&state).map_err(|error| EngineError::Control(error.into()))?;
                Ok(RunOutcome { state, elapsed_ms, is_interrupted: true })
            }
            Err(error) => {
                let foreign = matches!(error, EngineError::Artefact(_));
                let failure = Failure::from(error);
                Err(match self.checkpoint.filter(|_| foreign) {
                    Some(path) => failure.about(path),
                    None => failure,
                })
            }
        }
    }

    /// Computes the remaining units, writes `--out` and reports.
    ///
    /// `files` are the other files that `dpscope resume` writes again, by option.
    pub(crate) fn run<W: Workload<Plan = P>>(
        &self,
        workload: &W,
        device: &DeviceArgs,
        (quiet, files): (bool, &[(&str, Option<&Path>)]),
        report: impl FnOnce(&RunOutcome<P>) -> CommandResult,
    ) -> CommandResult {
        let outcome = self.execute(workload, quiet)?;
        // An interrupted run never replaces a file with more units.
        let has_more = |path: &&Path| {
            let old = || read_own_artefact::<P>(path);
            outcome.is_interrupted && old().is_ok_and(|old| old.done() > outcome.state.done())
        };
        let out = self.out.filter(|path| !has_more(path));
        let written = out.map_or(Ok(()), |path| write_artefact(path, &outcome.state));
        if outcome.is_interrupted {
            let written_to = out.filter(|_| written.is_ok());
            self.print_resume_command(device, files, &outcome.state, written_to);
            if outcome.state.done() == 0 {
                return written.map(|()| Exit::Interrupted);
            }
        }
        let exit = written.and(report(&outcome))?;
        Ok(if outcome.is_interrupted { Exit::Interrupted } else { exit })
    }

    /// Prints the command that resumes an interrupted job, on stderr.
    fn print_resume_command(
        &self,
        args: &DeviceArgs,
        files: &[(&str, Option<&Path>)],
        state: &Artefact<P>,
        written: Option<&Path>,
    ) {
        let mode = resume_float_mode(args.float_mode.map(FloatMode::from), &state.float_modes);
        let device = match &args.device {
            DeviceChoice::Auto | DeviceChoice::Cpu => mode,
            device => format!(" --device {}{mode}", quoted(&device.to_string())),
        };
        let files = [("out", self.out)].into_iter().chain(files.iter().copied());
        let named = files.filter_map(|(name, path)| Some((name, path?)));
        let out: String =
            named.map(|(name, path)| format!(" --{name} {}", quoted_path(path))).collect();
        let yes = if host::consent().is_given() { " --yes" } else { "" };
        print_note(&match self.checkpoint.or(written) {
            Some(path) => {
                format!(
                    "interrupted; resume with\n  dpscope resume {}{out}{device}{}{yes}",
                    quoted_path(path),
                    self.resume_options
                )
            }
            None => "interrupted; nothing was saved (pass --checkpoint FILE to save the state)"
                .to_owned(),
        });
    }
}

fn check_matches<P: Plan>(
    state: &Artefact<P>,
    plan: &P,
    range: UnitRange,
) -> Result<(), ArtefactError> {
    state.check_plan(plan)?;
    if state.range != range {
        let found = P::named(&state.range.to_string());
        let expected = range.to_string();
        return Err(ArtefactError::RangeMismatch { found, expected });
    }
    Ok(())
}

/// The state of a run that finished or was interrupted.
pub(crate) struct RunOutcome<P: Plan> {
    pub(crate) state: Artefact<P>,
    pub(crate) elapsed_ms: f64,
    pub(crate) is_interrupted: bool,
}

/// The float mode of `--float-mode`, else that of the resumed state, if there is one.
pub(crate) fn float_mode(args: &DeviceArgs, resumed: &[FloatMode]) -> FloatMode {
    let earlier = match resumed {
        [mode] => Some(*mode),
        _ => None,
    };
    args.float_mode.map(FloatMode::from).or(earlier).unwrap_or(FloatMode::Fast)
}

/// `--float-mode`, as long as no state records it.
fn resume_float_mode(requested: Option<FloatMode>, counted: &[FloatMode]) -> String {
    let requested = requested.filter(|_| counted.is_empty());
    requested.map_or(String::new(), |mode| format!(" --float-mode {mode}"))
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
