//! `dpscope generator run`: executes a command for each run of a folder.

mod args;
mod attempt;
mod lock;

pub(crate) use args::GeneratorRunArgs;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use dpscope_core::adjacency::World;
use dpscope_formats::table::Schema;
use dpscope_report::number::counted;
use dpscope_synth::generator::{Game, Manifest, Outcome};

use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{cannot_write, write_text};
use crate::generator_folder::{
    RunPlace, SEED_CHECK, check_worlds, data_file, read_manifest, read_rows,
};
use crate::generator_function::GeneratorFunction;
use crate::host;
use crate::output::print_text;
use crate::progress::RowProgress;
use crate::shell::quoted_path;
use attempt::{Attempt, AttemptEnd};
use lock::lock;

pub(crate) fn run(args: &GeneratorRunArgs) -> CommandResult {
    let folder = args.folder.as_path();
    let manifest = read_manifest(folder)?;
    let schema = manifest.schema()?;
    let function = host::generator();
    let executor = Executor { args, manifest: &manifest, schema: &schema, function };
    executor.check()?;
    let _lock = lock(folder)?; // until the end
    for world in manifest.worlds() {
        let path = folder.join(RunPlace::world_name(*world));
        std::fs::create_dir_all(&path).map_err(|error| cannot_write(&path, &error))?;
    }
    let places = (0..manifest.runs).flat_map(|run| {
        manifest.worlds().iter().map(move |&world| RunPlace { folder, world, run })
    });
    let open: Vec<RunPlace<'_>> = places.filter(|place| !place.is_done()).collect();
    executor.execute(&open)?;
    executor.check_seed()?;
    executor.summary(open.len() as u64)
}

struct Executor<'a> {
    args: &'a GeneratorRunArgs,
    manifest: &'a Manifest,
    schema: &'a Schema,
    /// In place of the command.
    function: Option<GeneratorFunction>,
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

    /// Several at once; the first error of the file system ends all.
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
        let next = AtomicU64::new(0);
        let failure = Mutex::new(None);
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(place) = usize::try_from(at).ok().and_then(|at| open.get(at)) else {
                    break;
                };
                progress.next(&place.name());
                if let Err(error) = self.finish(place) {
                    next.store(open.len() as u64, Ordering::Relaxed);
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    break;
                }
            }
        };
        host::pool(jobs)?.broadcast(|_| work());
        let failure = failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(()), Err)
    }

    /// The attempts of a run, until one succeeds or all have failed.
    fn finish(&self, place: &RunPlace<'_>) -> Result<(), Failure> {
        let mut reasons = Vec::new();
        for number in 0..=self.manifest.retries {
            let attempt = self.attempt(place, number, &place.file("part.csv"));
            let (part, kept) = (place.file("part.csv"), place.file("invalid.csv"));
            match attempt.run(self.manifest, self.schema)? {
                AttemptEnd::Interrupted => {
                    let _ = std::fs::remove_file(&part); // it may not exist; the run starts anew
                    return Err(Failure::interrupted());
                }
                AttemptEnd::Valid => {
                    if !reasons.is_empty() {
                        write_text(&place.file("retried"), &(reasons.join("\n") + "\n"))?;
                    }
                    let csv = place.file("csv");
                    return std::fs::rename(&part, &csv)
                        .map_err(|error| cannot_write(&csv, &error));
                }
                AttemptEnd::Failed(reason) => {
                    if part.exists() {
                        std::fs::rename(&part, &kept)
                            .map_err(|error| cannot_write(&kept, &error))?;
                    }
                    reasons.push(format!("seed {}: {reason}", attempt.seed));
                }
            }
        }
        write_text(&place.file("failed"), &(reasons.join("\n") + "\n"))
    }

    fn attempt<'a>(&'a self, place: &RunPlace<'a>, number: u32, out: &Path) -> Attempt<'a> {
        Attempt {
            args: self.args,
            function: self.function.as_ref(),
            data: data_file(place.folder, place.world),
            out: out.to_owned(),
            log: place.file("stderr"),
            seed: self.manifest.seed_of(place.world, place.run, number),
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
        let out = folder.join("seed-check.part.csv");
        let mut attempt = self.attempt(&place, 0, &out);
        attempt.log = folder.join("seed-check.stderr");
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
