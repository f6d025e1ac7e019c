//! The first runs of a plan: a command with a mistake must not use up the plan.

use dpscope_core::foreign_text::ForeignText;
use dpscope_report::number::counted;

use super::{Executor, RunFailure};
use crate::failure::Failure;
use crate::generator_folder::RunPlace;
use crate::progress::RowProgress;

/// Equal failures without a success after which the command is considered wrong.
const EQUAL_FAILURES: usize = 3;

impl RunFailure {
    /// The reasons without the run's name, which paths contain.
    fn reasons_of(&self, place: &RunPlace<'_>) -> Vec<String> {
        self.reasons.iter().map(|reason| reason.replace(&place.name(), "")).collect()
    }
}

impl Executor<'_> {
    /// Executes runs one by one while they fail equally, and returns how many it executed. If all fail,
    /// none is recorded; if a run of this folder succeeded before, none is executed.
    pub(super) fn try_command(
        &self,
        open: &[RunPlace<'_>],
        progress: &RowProgress,
    ) -> Result<usize, Failure> {
        if self.args.allow_failures || self.has_success() {
            return Ok(0);
        }
        let mut failures: Vec<(&RunPlace<'_>, RunFailure)> = Vec::new();
        let most = open.len().min(EQUAL_FAILURES);
        for (at, place) in open.iter().take(most).enumerate() {
            progress.next(&place.name());
            let Some(failure) = self.finish(place)? else {
                self.record_all(failures)?;
                return Ok(at + 1);
            };
            let is_other = failures.first().is_some_and(|(first, earlier)| {
                earlier.reasons_of(first) != failure.reasons_of(place)
            });
            failures.push((place, failure));
            if is_other {
                self.record_all(failures)?;
                return Ok(at + 1);
            }
        }
        match failures.first() {
            Some((place, failure)) => Err(self.refusal(place, failure, most)),
            None => Ok(0),
        }
    }

    fn has_success(&self) -> bool {
        let folder = self.args.folder.as_path();
        let mut places = (0..self.manifest.runs).flat_map(|run| {
            self.manifest.worlds().iter().map(move |&world| RunPlace { folder, world, run })
        });
        places.any(|place| place.file("csv").exists())
    }

    fn record_all(&self, failures: Vec<(&RunPlace<'_>, RunFailure)>) -> Result<(), Failure> {
        failures.into_iter().try_for_each(|(place, failure)| self.record(place, Some(failure)))
    }

    fn refusal(&self, place: &RunPlace<'_>, failure: &RunFailure, failed: usize) -> Failure {
        let reason = failure.reasons.last().map_or("", |reason| reason.as_str());
        let log = std::fs::read(place.file("stderr")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).into_owned();
        let printed = log.lines().rfind(|line| !line.trim().is_empty());
        let printed = printed.map_or(String::new(), |line| {
            format!(" It printed `{}`.", ForeignText::new(line.trim()))
        });
        let source = if self.function.is_some() { "the function" } else { "--command" };
        let runs = match failed {
            1 => "the first run failed".to_owned(),
            several => {
                format!("the first {} failed in the same way", counted(several as u64, "run"))
            }
        };
        Failure::input(format!(
            "no run succeeded: {runs}: {reason}.{printed} No run of the plan was used up: fix {source} \
             and run the command again, or pass --allow-failures if the generator may fail like this"
        ))
    }
}
