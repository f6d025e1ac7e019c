//! Runs that fail in the same way: a command with a mistake must not use up the plan.

use std::collections::BTreeMap;

use dpscope_core::foreign_text::ForeignText;
use dpscope_report::number::counted;

use super::executor::{Executor, RunFailure};
use crate::failure::Failure;
use crate::generator_folder::RunPlace;
use crate::progress::RowProgress;

/// Equal failures of the first runs after which the command is considered wrong.
const FIRST_FAILURES: usize = 3;
/// Equal failures in a row after which it is, where runs succeeded before. A generator that fails in half
/// of its runs fails in a thousand of them with probability 1/2000 so often.
const EQUAL_FAILURES: usize = 20;

/// Failures in the plan's order that are not recorded yet, the last of which are equal.
#[derive(Debug, Default)]
pub(super) struct EqualFailures {
    /// Position of the next run in the plan's order.
    next: usize,
    /// How runs after it ended.
    ended: BTreeMap<usize, Option<EqualFailure>>,
    row: Vec<(usize, EqualFailure)>,
}

/// A failed run, and what is compared.
#[derive(Debug, PartialEq)]
pub(super) struct EqualFailure {
    failure: RunFailure,
    /// Reasons and the last line that it printed, without the run's name, which paths contain.
    signs: Vec<String>,
}

impl EqualFailures {
    pub(super) fn from(next: usize) -> Self {
        EqualFailures { next, ..Self::default() }
    }

    /// Adds how a run ended, and returns the failures to record now.
    pub(super) fn add(
        &mut self,
        at: usize,
        end: Option<EqualFailure>,
    ) -> Vec<(usize, EqualFailure)> {
        self.ended.insert(at, end);
        let mut finished = Vec::new();
        while self.row.len() < EQUAL_FAILURES
            && let Some(end) = self.ended.remove(&self.next)
        {
            let is_equal = |end: &EqualFailure| {
                self.row.first().is_none_or(|(_, first)| first.signs == end.signs)
            };
            if !end.as_ref().is_some_and(is_equal) {
                finished.append(&mut self.row);
            }
            self.row.extend(end.map(|end| (self.next, end)));
            self.next += 1;
        }
        finished
    }

    /// The last failure, where there are too many in a row.
    pub(super) fn too_many(&self) -> Option<&(usize, EqualFailure)> {
        self.row.last().filter(|_| self.row.len() >= EQUAL_FAILURES)
    }

    /// The failures to record after the last run.
    pub(super) fn rest(self) -> impl Iterator<Item = (usize, EqualFailure)> {
        let ended = self.ended.into_iter().filter_map(|(at, end)| Some((at, end?)));
        self.row.into_iter().chain(ended)
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
        if self.has_any("csv") {
            return Ok(0);
        }
        let mut failures: Vec<(&RunPlace<'_>, EqualFailure)> = Vec::new();
        let most = open.len().min(FIRST_FAILURES);
        for (at, place) in open.iter().take(most).enumerate() {
            progress.next(&place.name());
            let failure = self.finish(place)?.map(|failure| signed(place, failure));
            let is_other = failure.as_ref().is_none_or(|failure| {
                failures.first().is_some_and(|(_, first)| first.signs != failure.signs)
            });
            failures.extend(failure.map(|failure| (place, failure)));
            if is_other {
                let mut failures = failures.into_iter();
                failures.try_for_each(|(place, failure)| self.record(place, &failure))?;
                return Ok(at + 1);
            }
        }
        let Some((place, failure)) = failures.first() else { return Ok(0) };
        let runs = match most {
            1 => "the first run failed".to_owned(),
            several => {
                format!("the first {} failed in the same way", counted(several as u64, "run"))
            }
        };
        let why = self.why(place, failure);
        Err(Failure::input(format!(
            "no run succeeded: {runs}: {why} No run of the plan was used up: fix {} and run the command \
             again, or pass --allow-failures if the generator may fail like this",
            self.source()
        )))
    }

    /// Whether failures are recorded however many are equal: as requested, or as in the folder.
    pub(super) fn allows_failures(&self) -> bool {
        self.args.allow_failures || self.has_any("failed")
    }

    fn has_any(&self, ending: &str) -> bool {
        let folder = self.args.folder.as_path();
        let mut places = (0..self.manifest.runs).flat_map(|run| {
            self.manifest.worlds().iter().map(move |&world| RunPlace { folder, world, run })
        });
        places.any(|place| place.file(ending).exists())
    }

    /// Why runs that failed one after the other are not recorded.
    pub(super) fn too_many_failures(
        &self,
        place: &RunPlace<'_>,
        failure: &EqualFailure,
    ) -> Failure {
        let why = self.why(place, failure);
        Failure::input(format!(
            "{} in a row failed in the same way: {why} None of them was used up: fix {} and run the command \
             again. If the generator may fail like this, pass --allow-failures: how often it fails can \
             depend on the data, which is evidence, and failed runs are then counted",
            counted(EQUAL_FAILURES as u64, "run"),
            self.source()
        ))
    }

    fn source(&self) -> &'static str {
        if self.function.is_some() { "the function" } else { "--command" }
    }

    fn why(&self, place: &RunPlace<'_>, failure: &EqualFailure) -> String {
        let reason = failure.failure.reasons.last().map_or("", |reason| reason.as_str());
        let printed = last_line(place)
            .map_or(String::new(), |line| format!(" It printed `{}`.", ForeignText::new(&line)));
        format!("{reason}.{printed}")
    }

    /// Records a failed run: failing is an output, too.
    pub(super) fn record(
        &self,
        place: &RunPlace<'_>,
        failure: &EqualFailure,
    ) -> Result<(), Failure> {
        crate::files::write_text(&place.file("failed"), &failure.failure.text())
    }
}

/// A failed run with what is compared.
pub(super) fn signed(place: &RunPlace<'_>, failure: RunFailure) -> EqualFailure {
    let signs = failure.reasons.iter().cloned().chain(last_line(place));
    let signs = signs.map(|sign| sign.replace(&place.name(), "")).collect();
    EqualFailure { failure, signs }
}

/// The last line that a run printed.
fn last_line(place: &RunPlace<'_>) -> Option<String> {
    let log = std::fs::read(place.file("stderr")).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    log.lines().rfind(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(sign: &str) -> Option<EqualFailure> {
        let failure = RunFailure { seeds: vec![1], reasons: vec![sign.to_owned()] };
        Some(EqualFailure { failure, signs: vec![sign.to_owned()] })
    }

    fn positions(failures: impl IntoIterator<Item = (usize, EqualFailure)>) -> Vec<usize> {
        failures.into_iter().map(|(at, _)| at).collect()
    }

    #[test]
    fn failures_in_a_row_are_those_of_the_plan() {
        let mut failures = EqualFailures::from(2);
        // runs end in any order: 4 is a success
        assert!(failures.add(3, failed("a")).is_empty() && failures.add(4, None).is_empty());
        assert_eq!(positions(failures.add(2, failed("a"))), [2, 3]);
        for at in 5..5 + EQUAL_FAILURES {
            assert!(failures.too_many().is_none(), "{at}");
            assert!(failures.add(at, failed("a")).is_empty(), "{at}");
        }
        assert_eq!(failures.too_many().map(|(at, _)| *at), Some(4 + EQUAL_FAILURES));
    }

    #[test]
    fn other_failures_and_successes_are_no_row() {
        let mut failures = EqualFailures::from(0);
        for at in 0..10 * EQUAL_FAILURES {
            let end = [failed("a"), None, failed("a"), failed("b")].into_iter().nth(at % 4);
            let finished = positions(failures.add(at, end.flatten()));
            assert!(finished.len() <= 2 && failures.too_many().is_none(), "{at}");
        }
        assert!(!positions(failures.rest()).is_empty());
    }
}
