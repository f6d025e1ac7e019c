//! One execution of the command, ended when it takes too long or writes too much.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use dpscope_formats::table::{ColumnKind, Schema};

use super::GeneratorRunArgs;
use crate::failure::{Exit, Failure};
use crate::files::{cannot_write, write_text};
use crate::generator_folder::read_released;
use crate::generator_function::{GeneratorColumn, GeneratorError, GeneratorFunction, GeneratorRun};
use crate::progress::is_interrupted;
use crate::shell::quoted_path;
use dpscope_synth::generator::Manifest;

/// How often a running command is looked at.
const PERIOD: Duration = Duration::from_millis(10);
/// What is kept of an output that is too large.
const KEPT_BYTES: u64 = 1 << 20;

pub(super) struct Attempt<'a> {
    pub(super) args: &'a GeneratorRunArgs,
    pub(super) function: Option<&'a GeneratorFunction>,
    pub(super) data: PathBuf,
    pub(super) out: PathBuf,
    /// What it prints.
    pub(super) log: PathBuf,
    pub(super) seed: u64,
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
        let _ = std::fs::remove_file(&self.out); // of an interrupted attempt; it may not exist
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
        if !self.out.exists() {
            return Ok(AttemptEnd::Failed("it wrote nothing to {out}".to_owned()));
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

    /// Starts the command and waits for its end.
    fn execute(&self, manifest: &Manifest) -> Result<AttemptEnd, Failure> {
        let log = File::create(&self.log).map_err(|error| cannot_write(&self.log, &error))?;
        let copy = log.try_clone().map_err(|error| cannot_write(&self.log, &error))?;
        let mut command = Command::new("sh");
        command.arg("-c").arg(self.line(manifest)).stdin(Stdio::null()).stdout(log).stderr(copy);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .spawn()
            .map_err(|error| Failure::input(format!("--command: sh cannot be started: {error}")))?;
        Ok(match self.wait(&mut child)? {
            Ok(status) if status.success() => AttemptEnd::Valid,
            Ok(status) => AttemptEnd::Failed(format!("{status}; see {}", self.log.display())),
            Err(early) => {
                kill_group(&mut child);
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

    fn line(&self, manifest: &Manifest) -> String {
        let template = self.args.command.replace("{seed}", &self.seed.to_string());
        let template = template.replace("{rows}", &manifest.rows.to_string());
        // paths last: they may contain braces
        let out = quoted_path(&self.out);
        let mut line = String::new();
        for (at, part) in template.split("{data}").enumerate() {
            if at > 0 {
                line += &quoted_path(&self.data);
            }
            line += &part.replace("{out}", &out);
        }
        line
    }

    /// The exit status, or why the command must be ended.
    fn wait(&self, child: &mut Child) -> Result<Result<ExitStatus, AttemptEnd>, Failure> {
        let started = Instant::now();
        loop {
            let status = child.try_wait();
            let status = status.map_err(|error| Failure::input(format!("--command: {error}")))?;
            if let Some(status) = status {
                return Ok(Ok(status));
            }
            if is_interrupted() {
                return Ok(Err(AttemptEnd::Interrupted));
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
        Some(format!("it {what} more than --max-bytes {limit}; the first part was kept"))
    }

    /// Cuts files that are too large.
    fn shorten(&self) {
        let kept = KEPT_BYTES.min(self.args.max_bytes);
        for path in [&self.out, &self.log] {
            let is_large = std::fs::metadata(path).is_ok_and(|file| file.len() > kept);
            if let (true, Ok(file)) = (is_large, OpenOptions::new().write(true).open(path)) {
                let _ = file.set_len(kept); // best effort: the run has failed in any case
            }
        }
    }
}

/// Ends the command and what it started.
fn kill_group(child: &mut Child) {
    #[cfg(unix)]
    {
        // the program: a call of the system would need unsafe code or another library
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    }
    let _ = child.kill(); // it may have ended already
    let _ = child.wait();
}
