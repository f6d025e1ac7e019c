//! `dpscope generator run`: executes a command for each run of a folder.

mod adopted;
mod args;
mod attempt;
mod command_line;
mod executor;
mod lock;
mod processes;
mod trial;

pub(crate) use args::GeneratorRunArgs;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use dpscope_core::adjacency::World;
use dpscope_report::number::counted;
use dpscope_synth::generator::{Game, Outcome};

use crate::failure::{CommandResult, Exit, Failure};
use crate::file_id::is_only_name;
use crate::files::{cannot_write, write_text};
use crate::generator_folder::{
    RunPlace, SEED_CHECK, check_worlds, data_file, read_manifest, read_rows,
};
use crate::host;
use crate::output::print_text;
use crate::progress::RowProgress;
use crate::shell::quoted_path;
use crate::temporary::{new_name, rename};
use adopted::StartedCommands;
use attempt::{Attempt, AttemptEnd};
use executor::{Executor, RunFailure};
use lock::lock;
use processes::ProcessMark;
use trial::{EqualFailure, EqualFailures, signed};

pub(crate) fn run(args: &GeneratorRunArgs) -> CommandResult {
    let folder = args.folder.as_path();
    let manifest = read_manifest(folder)?;
    let schema = manifest.schema()?;
    let function = host::generator();
    let mark = ProcessMark::of_folder(folder);
    let program = new_name().map_err(|error| Failure::with(Exit::Internal, error))?;
    let (manifest, schema) = (&manifest, &schema);
    let commands = StartedCommands::adopting_orphans();
    let executor = Executor { args, manifest, schema, function, mark, commands, program };
    executor.check()?;
    let lock = lock(folder)?; // held until the end
    if lock.is_held {
        executor.mark.end_all(); // left by a killed program
    }
    for world in manifest.worlds() {
        let path = folder.join(RunPlace::world_name(*world));
        std::fs::create_dir_all(&path).map_err(|error| cannot_write(&path, &error))?;
        if lock.is_held {
            remove_parts(&path);
        }
    }
    let places = (0..manifest.runs).flat_map(|run| {
        manifest.worlds().iter().map(move |&world| RunPlace { folder, world, run })
    });
    let open: Vec<RunPlace<'_>> = places.filter(|place| !place.is_done()).collect();
    executor.execute(&open)?;
    executor.check_seed()?;
    executor.summary(open.len() as u64)
}

/// Suffix of the files that commands write.
const PART: &str = "part.csv";

/// Removes files that commands of a killed program left.
fn remove_parts(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_part = |name: &str| name.ends_with(&format!(".{PART}"));
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_part)) {
        let _ = std::fs::remove_file(entry.path()); // its name is not used again
    }
}

/// Keeps what a failed run wrote. If that is a link, only the link is removed.
fn set_aside(part: &Path, kept: &Path) -> Result<(), Failure> {
    if is_only_name(part) {
        return rename(part, kept).map_err(|error| cannot_write(kept, &error));
    }
    let _ = std::fs::remove_file(part); // it may not exist
    Ok(())
}

impl Executor<'_> {
    fn check(&self) -> Result<(), Failure> {
        let folder = self.args.folder.as_path();
        for part in ["{data}", "{seed}", "{out}"] {
            if self.function.is_none() && !self.args.command.contains(part) {
                return Err(Failure::input(format!(
                    "--command lacks {part}; each run has data, a seed and an output of its own"
                )));
            }
        }
        if self.function.is_none() {
            let place = RunPlace { folder, world: World::Target, run: 0 };
            self.attempt(&place, 0, &self.part(&place, 0)).line(self.manifest)?;
        }
        if self.manifest.game == Game::TwoWorlds {
            if !check_worlds(folder, self.manifest, self.schema)? {
                let path = data_file(folder, World::Target);
                let why = "is missing: write the data of both worlds with `dpscope plan generator`";
                return Err(Failure::input(why).about(&path));
            }
        } else {
            read_rows(&data_file(folder, World::Target), self.schema)?;
        }
        Ok(())
    }

    /// Executes several runs at once; the first file-system error ends all.
    fn execute(&self, open: &[RunPlace<'_>]) -> Result<(), Failure> {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        // a function belongs to the one thread that called
        let jobs = match self.function {
            Some(_) => 1,
            None => self.args.jobs.map_or(cores, usize::from).min(open.len()),
        };
        if open.is_empty() {
            return Ok(());
        }
        let progress = RowProgress::new(self.args.quiet, open.len());
        let allows_failures = self.allows_failures();
        let tried = if allows_failures { 0 } else { self.try_command(open, &progress)? };
        let next = AtomicU64::new(tried as u64);
        let failure = Mutex::new(None);
        let failures = Mutex::new(EqualFailures::from(tried));
        let work = || {
            loop {
                let at =
                    usize::try_from(next.fetch_add(1, Ordering::Relaxed)).unwrap_or(usize::MAX);
                let Some(place) = open.get(at) else { break };
                progress.next(&place.name());
                let ended = self.finish(place).and_then(|end| {
                    let end = end.map(|end| signed(place, end));
                    if allows_failures {
                        return self.record_all(open, end.map(|end| (at, end)));
                    }
                    let mut failures = failures.lock().unwrap_or_else(PoisonError::into_inner);
                    let finished = failures.add(at, end);
                    self.record_all(open, finished)?;
                    match failures.too_many() {
                        Some((at, last)) => Err(self.too_many_failures(&open[*at], last)),
                        None => Ok(()),
                    }
                });
                if let Err(error) = ended {
                    next.store(open.len() as u64, Ordering::Relaxed);
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    break;
                }
            }
        };
        host::pool(jobs)?.broadcast(|_| work());
        let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(failure) = failure {
            return Err(failure);
        }
        let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.record_all(open, failures.rest())
    }

    fn record_all(
        &self,
        open: &[RunPlace<'_>],
        failures: impl IntoIterator<Item = (usize, EqualFailure)>,
    ) -> Result<(), Failure> {
        failures.into_iter().try_for_each(|(at, failure)| self.record(&open[at], &failure))
    }

    /// The attempts of a run, until one succeeds or all have failed.
    fn finish(&self, place: &RunPlace<'_>) -> Result<Option<RunFailure>, Failure> {
        let mut failure = RunFailure { seeds: Vec::new(), reasons: Vec::new() };
        for number in 0..=self.manifest.retries {
            let part = self.part(place, number);
            let attempt = self.attempt(place, number, &part);
            match attempt.run(self.manifest, self.schema)? {
                AttemptEnd::Interrupted => {
                    let _ = std::fs::remove_file(&part); // it may not exist; the run starts anew
                    return Err(Failure::interrupted());
                }
                AttemptEnd::Valid => {
                    if !failure.reasons.is_empty() {
                        write_text(&place.file("retried"), &failure.text())?;
                    }
                    let csv = place.file("csv");
                    rename(&part, &csv).map_err(|error| cannot_write(&csv, &error))?;
                    return Ok(None);
                }
                AttemptEnd::Failed(reason) => {
                    set_aside(&part, &place.file("invalid.csv"))?;
                    failure.seeds.push(attempt.seed);
                    failure.reasons.push(reason);
                }
            }
        }
        Ok(Some(failure))
    }

    /// The file that the command of an attempt writes, and no other command: processes of an earlier one
    /// may still be writing theirs.
    fn part(&self, place: &RunPlace<'_>, number: u32) -> PathBuf {
        place.file(&format!("{}.{number}.{PART}", self.program))
    }

    fn attempt<'a>(&'a self, place: &RunPlace<'a>, number: u32, out: &Path) -> Attempt<'a> {
        Attempt {
            args: self.args,
            function: self.function.as_ref(),
            data: data_file(place.folder, place.world),
            out: out.to_owned(),
            log: place.file("stderr"),
            seed: self.manifest.seed_of(place.world, place.run, number),
            mark: self.mark.of_run(&place.name()),
            commands: &self.commands,
        }
    }

    /// Executes the first run again: equal seeds must give equal rows.
    fn check_seed(&self) -> Result<(), Failure> {
        let folder = self.args.folder.as_path();
        let place = RunPlace { folder, world: World::Target, run: 0 };
        let note = folder.join(SEED_CHECK);
        let is_first = place.file("csv").exists() && !place.file("retried").exists();
        if self.manifest.game != Game::TwoWorlds || note.exists() || !is_first {
            return Ok(());
        }
        let out = folder.join(format!("seed-check.{}.{PART}", self.program));
        let mut attempt = self.attempt(&place, 0, &out);
        attempt.log = folder.join("seed-check.stderr");
        attempt.mark = self.mark.of_run("seed-check");
        let end = attempt.run(self.manifest, self.schema)?;
        let again = read_rows(&out, self.schema).ok();
        let _ = std::fs::remove_file(&out); // only its comparison is kept
        let text = match (end, place.outcome(self.manifest, self.schema)?) {
            (AttemptEnd::Interrupted, _) => return Err(Failure::interrupted()),
            (AttemptEnd::Valid, Outcome::Rows(rows)) if Some(&rows) == again.as_ref() => {
                "equal rows for an equal seed\n".to_owned()
            }
            _ => {
                format!("different rows in a second execution of {} with its seed\n", place.name())
            }
        };
        write_text(&note, &text)
    }

    fn summary(&self, executed: u64) -> CommandResult {
        let folder = self.args.folder.as_path();
        let of = |world: World, ending: &str| {
            let places = (0..self.manifest.runs).map(|run| RunPlace { folder, world, run });
            places.filter(|place| place.file(ending).exists()).count() as u64
        };
        let mut failed = 0;
        let mut text = format!("{} executed.\n", counted(executed, "run"));
        for &world in self.manifest.worlds() {
            let name = RunPlace::world_name(world);
            text += &format!(
                "{name}: {} done, {} failed, {} after retries\n",
                of(world, "csv"),
                of(world, "failed"),
                of(world, "retried")
            );
            failed += of(world, "failed");
        }
        if failed > 0 {
            text += "Failed runs are kept and counted; their .failed files say why, the .stderr files what \
                     they printed.\n";
        }
        text += &format!("Next:  dpscope audit generator {}\n", quoted_path(folder));
        if failed == self.manifest.runs * self.manifest.worlds().len() as u64 {
            let place = RunPlace { folder, world: World::Target, run: 0 };
            return Err(Failure::input(
                "no run succeeded; see the reason, repair the command, and plan anew",
            )
            .about(&place.file("failed")));
        }
        print_text(&text)?;
        Ok(Exit::Done)
    }
}
