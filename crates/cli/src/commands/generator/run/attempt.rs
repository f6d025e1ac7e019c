//! One execution of the command, ended when it takes too long or writes too much.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::table::{ColumnKind, Schema};

use super::GeneratorRunArgs;
use super::adopted::StartedCommands;
use super::command_line::{CommandLine, RunValues};
use super::processes::{ProcessMark, end_processes};
use crate::failure::{Exit, Failure};
use crate::file_id::{FileId, is_only_name};
use crate::files::{cannot_write, write_text};
use crate::generator_folder::read_released;
use crate::generator_function::{GeneratorColumn, GeneratorError, GeneratorFunction, GeneratorRun};
use crate::progress::is_interrupted;
use dpscope_synth::generator::Manifest;
use web_time::Instant;

/// How often a running command is looked at.
const PERIOD: Duration = Duration::from_millis(10);
/// How long to wait for our own interruption after a stop signal has ended the command.
const STOP_GRACE: Duration = Duration::from_secs(2);
/// What is kept of an output that is too large.
const KEPT_BYTES: u64 = 1 << 20;

pub(super) struct Attempt<'a> {
    pub(super) args: &'a GeneratorRunArgs,
    pub(super) function: Option<&'a GeneratorFunction>,
    pub(super) data: PathBuf,
    pub(super) out: PathBuf,
    /// File for what the command prints.
    pub(super) log: PathBuf,
    pub(super) seed: u64,
    pub(super) mark: ProcessMark,
    pub(super) commands: &'a StartedCommands,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum AttemptEnd {
    Valid,
    Failed(String),
    Interrupted,
}

impl Attempt<'_> {
    /// Executes the command or the function, and checks its rows.
    pub(super) fn run(&self, manifest: &Manifest, schema: &Schema) -> Result<AttemptEnd, Failure> {
        let _ = std::fs::remove_file(&self.out); // an earlier attempt may have left one
        let end = match self.function {
            Some(function) => self.call(function, manifest, schema)?,
            None => self.execute(manifest)?,
        };
        if end != AttemptEnd::Valid {
            return Ok(end);
        }
        if let Some(reason) = self.size_problem() {
            self.shorten();
            return Ok(AttemptEnd::Failed(reason));
        }
        let found = match std::fs::metadata(&self.out) {
            Ok(metadata) if metadata.is_file() => None,
            Ok(_) => Some("what it wrote to {out} is not a regular file"),
            Err(_) => Some("it wrote nothing to {out}"),
        };
        if let Some(problem) = found {
            return Ok(AttemptEnd::Failed(problem.to_owned()));
        }
        let rows = match read_released(&self.out, schema) {
            Ok(rows) => rows,
            Err(failure) if failure.code == Exit::Interrupted => {
                return Ok(AttemptEnd::Interrupted);
            }
            Err(failure) => return Ok(AttemptEnd::Failed(failure.error.root_cause().to_string())),
        };
        Ok(manifest.check_rows(&rows).map_or_else(AttemptEnd::Failed, |()| AttemptEnd::Valid))
    }

    /// The command line with its placeholders replaced.
    pub(super) fn line(&self, manifest: &Manifest) -> Result<CommandLine, Failure> {
        let (data, out) = (self.data.as_path(), self.out.as_path());
        let values = RunValues { data, seed: self.seed, rows: manifest.rows, out };
        CommandLine::new(&self.args.command, values)
    }

    /// Runs the command, then ends all processes that it left.
    fn execute(&self, manifest: &Manifest) -> Result<AttemptEnd, Failure> {
        let CommandLine { line, variables } = self.line(manifest)?;
        let _ = std::fs::remove_file(&self.log); // an earlier attempt may have left one
        let log = File::create_new(&self.log).map_err(|error| cannot_write(&self.log, &error))?;
        let copy = log.try_clone().map_err(|error| cannot_write(&self.log, &error))?;
        let mut command = Command::new("sh");
        command.arg("-c").arg(line).envs(variables);
        command.stdin(Stdio::null()).stdout(log).stderr(copy);
        self.mark.mark(&mut command);
        let started = self.commands.spawn(&mut command);
        let mut child = started
            .map_err(|error| Failure::input(format!("--command: sh cannot be started: {error}")))?;
        let end = self.wait(&mut child);
        end_processes(&mut child, &self.mark);
        self.commands.finished(&child);
        Ok(match end? {
            Ok(status) if status.success() => AttemptEnd::Valid,
            Ok(status) => {
                AttemptEnd::Failed(format!("{status}; see {}", ForeignText::new(&self.log)))
            }
            Err(early) => {
                self.shorten();
                early
            }
        })
    }

    /// Calls the function of the caller.
    fn call(
        &self,
        function: &GeneratorFunction,
        manifest: &Manifest,
        schema: &Schema,
    ) -> Result<AttemptEnd, Failure> {
        let columns = schema.columns().iter().map(|column| GeneratorColumn {
            name: column.name.clone(),
            kind: match column.kind {
                ColumnKind::Number { .. } => "number",
                ColumnKind::Integer { .. } => "integer",
                ColumnKind::Category { .. } => "category",
            },
        });
        let run = GeneratorRun {
            data: self.data.clone(),
            columns: columns.collect(),
            seed: self.seed,
            rows: manifest.rows,
            out: self.out.clone(),
        };
        if is_interrupted() {
            return Ok(AttemptEnd::Interrupted);
        }
        let (end, log) = match function.release(&run) {
            Ok(()) => (AttemptEnd::Valid, String::new()),
            Err(GeneratorError::Stopped) => return Ok(AttemptEnd::Interrupted),
            Err(GeneratorError::Failed { reason, log }) => (AttemptEnd::Failed(reason), log),
        };
        write_text(&self.log, &log)?;
        Ok(end)
    }

    /// The exit status, or why the command must be ended.
    fn wait(&self, child: &mut Child) -> Result<Result<ExitStatus, AttemptEnd>, Failure> {
        let started = Instant::now();
        loop {
            let status = child.try_wait();
            let status = status.map_err(|error| Failure::input(format!("--command: {error}")))?;
            // first: a signal to the whole job ends the command, too
            if is_interrupted() || status.is_some_and(is_interruption) {
                return Ok(Err(AttemptEnd::Interrupted));
            }
            if let Some(status) = status {
                return Ok(Ok(status));
            }
            if started.elapsed() >= Duration::from_secs(self.args.timeout) {
                let why = format!("it took longer than --timeout {}", self.args.timeout);
                return Ok(Err(AttemptEnd::Failed(why)));
            }
            if let Some(reason) = self.size_problem() {
                return Ok(Err(AttemptEnd::Failed(reason)));
            }
            std::thread::park_timeout(PERIOD);
        }
    }

    fn size_problem(&self) -> Option<String> {
        let limit = self.args.max_bytes;
        let is_large =
            |path: &PathBuf| std::fs::metadata(path).is_ok_and(|file| file.len() > limit);
        let large = [&self.out, &self.log].into_iter().find(|path| is_large(path))?;
        let what = if *large == self.out { "wrote" } else { "printed" };
        Some(format!("it {what} more than --max-bytes {limit}"))
    }

    /// Truncates files that are too large, but no linked file.
    fn shorten(&self) {
        for path in [&self.out, &self.log] {
            // best effort: the run has failed in any case
            let _ = shorten(path, KEPT_BYTES.min(self.args.max_bytes));
        }
    }
}

/// Truncates a file that has no other name.
fn shorten(path: &Path, bytes: u64) -> std::io::Result<()> {
    if !is_only_name(path) || std::fs::metadata(path)?.len() <= bytes {
        return Ok(());
    }
    let id = FileId::of(path);
    let file = OpenOptions::new().write(true).open(path)?;
    match FileId::of_file(&file)? {
        Some(opened) if opened != id => Ok(()), // the path now leads elsewhere
        _ => file.set_len(bytes),
    }
}

/// Whether a command ended because the whole job is interrupted: the signal may reach the command before
/// this program.
fn is_interruption(status: ExitStatus) -> bool {
    let grace = match status.success() {
        true => return false,
        false if is_stop(status) => STOP_GRACE,
        false => PERIOD,
    };
    let started = Instant::now();
    while !is_interrupted() && started.elapsed() < grace {
        std::thread::park_timeout(PERIOD);
    }
    is_interrupted()
}

/// Whether SIGHUP, SIGINT or SIGTERM ended a command, also if a shell reports it as 128 + the signal.
fn is_stop(status: ExitStatus) -> bool {
    const STOPS: [i32; 3] = [1, 2, 15];
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return STOPS.contains(&signal);
    }
    status.code().is_some_and(|code| STOPS.contains(&(code - 128)))
}
