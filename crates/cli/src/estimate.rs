//! Estimates at its start how long a run takes: a long run says so, a very long one needs consent.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use indicatif::HumanDuration;

/// Estimates above this are printed, seconds.
const PRINTED_ABOVE: f64 = 10.0;

/// Runs that are estimated above this need consent, seconds.
const CONSENT_ABOVE: f64 = 3600.0;

/// Time over which results are measured before an estimate, seconds.
const PILOT: f64 = 0.5;

/// Whether the user accepts a long run, and the state of its estimate.
#[derive(Debug, Default)]
pub(crate) struct Consent {
    is_given: AtomicBool,
    is_printed: AtomicBool,
    /// The estimate that was refused.
    refused: OnceLock<String>,
    /// Whether the command shows progress for a whole table instead of its rows.
    shows_table: AtomicBool,
    /// Rows after the current one; each is assumed to take as long.
    rows_left: AtomicU64,
}

impl Consent {
    /// Accepts every run of this command.
    pub(crate) fn give(&self) {
        self.is_given.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_given(&self) -> bool {
        self.is_given.load(Ordering::Relaxed)
    }

    /// Whether the run was refused as too long.
    pub(crate) fn is_refused(&self) -> bool {
        self.refused.get().is_some()
    }

    /// The message about a refused run.
    pub(crate) fn refusal(&self) -> Option<String> {
        let estimate = self.refused.get()?;
        Some(format!(
            "this run is estimated to take {estimate}; make it shorter, or pass --yes to start it anyway"
        ))
    }

    pub(crate) fn show_table(&self, is_shown: bool) {
        self.shows_table.store(is_shown, Ordering::Relaxed);
    }

    pub(crate) fn set_rows_left(&self, rows: u64) {
        self.rows_left.store(rows, Ordering::Relaxed);
    }

    /// Prints the estimate of a long run once, and asks about a very long one.
    pub(crate) fn consider(&self, seconds: f64, is_quiet: bool, user: &impl Consult) {
        if seconds.is_nan() || seconds <= PRINTED_ABOVE || self.is_refused() {
            return;
        }
        let estimate = in_words(seconds);
        let is_shown = !is_quiet || self.shows_table.load(Ordering::Relaxed);
        if is_shown && !self.is_printed.swap(true, Ordering::Relaxed) {
            user.tell(&format!("this run is estimated to take {estimate}"));
        }
        if seconds > CONSENT_ABOVE && !self.is_given() {
            if user.agrees() {
                self.give();
            } else {
                let _ = self.refused.set(estimate); // another thread may have refused it
            }
        }
    }
}

/// The user of the command.
pub(crate) trait Consult {
    /// Shows an estimate.
    fn tell(&self, estimate: &str);

    /// Asks whether to continue a very long run; false if nobody can answer.
    fn agrees(&self) -> bool;
}

/// A time in its largest unit.
fn in_words(seconds: f64) -> String {
    const CENTURY: f64 = 100.0 * 365.25 * 86_400.0;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if seconds < CENTURY => format!("about {}", HumanDuration(time)),
        _ => "more than a century".to_owned(),
    }
}

/// Measures one run until its estimate is known.
#[derive(Debug)]
pub(crate) struct Pilot(Mutex<Option<Meter>>);

impl Pilot {
    pub(crate) fn new() -> Self {
        Pilot(Mutex::new(Some(Meter::default())))
    }

    /// Records `done` of `total` results after some seconds. Once, returns the seconds left for the run
    /// and the table rows after it.
    pub(crate) fn note(
        &self,
        (seconds, done, total): (f64, u64, u64),
        consent: &Consent,
    ) -> Option<f64> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let meter = open.as_mut()?;
        meter.note(seconds, done, total);
        let rate = meter.rate().filter(|_| meter.measured() >= PILOT)?;
        *open = None;
        let rows = consent.rows_left.load(Ordering::Relaxed) as f64;
        Some((total.saturating_sub(done) as f64 + rows * total as f64) / rate)
    }
}

/// Counts of results over time.
#[derive(Debug, Default)]
struct Meter {
    first: Option<Sample>,
    last: Option<Sample>,
    total: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Sample {
    seconds: f64,
    done: u64,
}

impl Meter {
    /// Records the number of results, if there are new ones.
    fn note(&mut self, seconds: f64, done: u64, total: u64) {
        if self.total != total {
            *self = Meter { total, ..Meter::default() }; // another set of results
        }
        if self.last.is_some_and(|last| last.done >= done) {
            return;
        }
        let sample = Sample { seconds, done };
        self.first.get_or_insert(sample);
        self.last = Some(sample);
    }

    /// Seconds between the first and the last results.
    fn measured(&self) -> f64 {
        self.first.zip(self.last).map_or(0.0, |(first, last)| last.seconds - first.seconds)
    }

    /// Results per second.
    fn rate(&self) -> Option<f64> {
        let (first, last) = self.first.zip(self.last)?;
        // Only one measurement: it includes the preparation, so the time is overestimated.
        let (seconds, done) = match last.seconds - first.seconds {
            seconds if seconds > 0.0 => (seconds, last.done - first.done),
            _ => (last.seconds, last.done),
        };
        Some(done as f64 / seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preparation_is_not_in_the_rate() {
        let mut meter = Meter::default();
        assert!(meter.rate().is_none());
        meter.note(2.0, 100, 1000);
        assert_eq!(meter.rate(), Some(50.0));
        meter.note(2.5, 100, 1000); // nothing new
        meter.note(3.0, 300, 1000);
        assert_eq!((meter.rate(), meter.measured()), (Some(200.0), 1.0));
    }

    /// A user who agrees, or nobody.
    struct User(bool);

    impl Consult for User {
        fn tell(&self, _: &str) {}

        fn agrees(&self) -> bool {
            self.0
        }
    }

    /// The consent after a run with 100 results per second.
    fn consent_to(total: u64, rows_left: u64, (is_given, agrees): (bool, bool)) -> Consent {
        let (consent, pilot) = (Consent::default(), Pilot::new());
        consent.set_rows_left(rows_left);
        if is_given {
            consent.give();
        }
        for (seconds, done) in [(1.0, 100), (2.0, 200), (3.0, 300)] {
            if let Some(left) = pilot.note((seconds, done, total), &consent) {
                assert_eq!(done, 200, "it is estimated once");
                consent.consider(left, false, &User(agrees));
            }
        }
        consent
    }

    #[test]
    fn long_runs_are_printed_and_very_long_ones_are_refused() {
        let is_printed = |consent: &Consent| consent.is_printed.load(Ordering::Relaxed);
        let [nobody, given, agreed] = [(false, false), (true, false), (false, true)];
        for (total, rows_left, user, expected) in [
            (1_200, 0, nobody, (false, false)), // 10 s
            (1_300, 0, nobody, (true, false)),
            (360_200, 0, nobody, (true, false)), // an hour
            (360_300, 0, nobody, (true, true)),
            (360_300, 0, given, (true, false)),
            (360_300, 0, agreed, (true, false)),
            (3_600, 99, nobody, (true, false)),
            (3_600, 100, nobody, (true, true)),
        ] {
            let consent = consent_to(total, rows_left, user);
            assert_eq!((is_printed(&consent), consent.is_refused()), expected, "{total}");
        }
        for (total, part) in [(u64::MAX, "more than a century"), (800_000, "about 2 hours")] {
            let message = consent_to(total, 0, nobody).refusal().unwrap();
            assert!(message.contains(part) && message.contains("--yes"), "{message}");
        }
    }
}
