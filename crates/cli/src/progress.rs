//! Progress bars and Ctrl-C.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dpscope_core::foreign_text::is_plain;
use dpscope_engine::{Control, Progress};
use dpscope_report::number::short;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use web_time::Instant;

use crate::estimate::{Consent, Consult, Pilot};
use crate::failure::Failure;
use crate::host::{self, Supervisor};
use crate::output::{is_ascii, print_note, shown};

/// Set by the first Ctrl-C; the second ends the program at once.
fn interrupted() -> &'static Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        if host::is_guest() {
            return flag; // Ctrl-C belongs to the caller
        }
        #[cfg(feature = "native")]
        {
            let shared = Arc::clone(&flag);
            // If no handler can be set, Ctrl-C ends the program at once, which is safe.
            let _ = ctrlc::set_handler(move || {
                if shared.swap(true, Ordering::SeqCst) {
                    std::process::exit(130);
                }
                print_note("\nstopping; press Ctrl-C again to stop at once");
            });
        }
        flag
    })
}

/// Whether Ctrl-C was pressed, or the caller stopped this command.
pub(crate) fn is_interrupted() -> bool {
    !keep_going()()
}

/// The opposite, for any thread: that of the caller need not be the one that asks.
pub(crate) fn keep_going() -> impl Fn() -> bool + Send + Sync {
    let (supervisor, consent) = (host::supervisor(), host::consent());
    move || {
        let is_stopped = supervisor.as_ref().is_some_and(|supervisor| supervisor.is_stopped());
        !is_stopped && !consent.is_refused() && !interrupted().load(Ordering::Relaxed)
    }
}

/// Whether progress is drawn: on stderr if that is a terminal of ours.
pub(crate) fn is_drawn(quiet: bool) -> bool {
    interrupted();
    !quiet && !host::is_guest() && std::io::stderr().is_terminal()
}

/// Who is shown the progress in place of a bar.
fn watcher(quiet: bool) -> Option<Arc<Supervisor>> {
    host::supervisor().filter(|_| !quiet)
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    if is_ascii() { style.progress_chars("#-") } else { style }
}

/// The time that the rest takes at the rate of this run, after two spaces; empty before any work.
///
/// By hand: the estimator of `indicatif` counts the jump to the resumed position as work of this run.
fn time_left(elapsed: Duration, progress: &Progress) -> String {
    let fresh = progress.done.saturating_sub(progress.resumed) as f64;
    let left = progress.total.saturating_sub(progress.done) as f64;
    Duration::try_from_secs_f64(elapsed.as_secs_f64() * left / fresh)
        .map_or(String::new(), |left| format!("  ETA {:#}", HumanDuration(left)))
}

/// The user at stderr, and the progress bar shown there.
struct User<'a>(Option<&'a ProgressBar>);

impl User<'_> {
    /// Runs `work` while no bar is drawn.
    fn without_bar<T>(&self, work: impl FnOnce() -> T) -> T {
        match self.0 {
            Some(bar) => bar.suspend(work),
            None => work(),
        }
    }
}

impl Consult for User<'_> {
    fn tell(&self, estimate: &str) {
        if !host::is_guest() {
            self.without_bar(|| print_note(estimate));
        }
    }

    fn agrees(&self) -> bool {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        if host::is_guest() || !is_terminal {
            return false;
        }
        self.without_bar(|| {
            print_note("continue? [y/N]");
            let mut answer = String::new();
            let is_read = std::io::stdin().read_line(&mut answer).is_ok();
            is_read && matches!(answer.trim(), "y" | "Y" | "yes")
        })
    }
}

/// The progress bar of a table computed row by row.
pub(crate) struct RowProgress {
    bar: Option<ProgressBar>,
    rows: u64,
    begun: AtomicU64,
    quiet: bool,
    supervisor: Option<Arc<Supervisor>>,
    consent: Option<Arc<Consent>>,
}

impl RowProgress {
    /// Draws a bar on stderr if that is a terminal and `quiet` is not set.
    pub(crate) fn new(quiet: bool, rows: usize) -> Self {
        let bar = is_drawn(quiet).then(|| {
            let bar = ProgressBar::new(rows as u64);
            bar.set_style(style("{bar:30} {pos} of {len}  {msg}  ETA {eta}"));
            bar
        });
        let (rows, begun) = (rows as u64, AtomicU64::new(0));
        RowProgress { bar, rows, begun, quiet, supervisor: watcher(quiet), consent: None }
    }

    /// Includes the rows that are left in the estimate of each run.
    pub(crate) fn with_estimate(mut self) -> Self {
        let consent = host::consent();
        consent.show_table(!self.quiet);
        self.consent = Some(consent);
        self
    }

    /// Computes one row after another, with its name, until all are done or one is interrupted.
    pub(crate) fn rows<T, R>(
        self,
        items: impl IntoIterator<Item = T>,
        name: impl Fn(&T) -> String,
        mut row: impl FnMut(T) -> Result<R, Failure>,
    ) -> Result<Vec<R>, Failure> {
        let computed = |item: T| {
            if is_interrupted() {
                return Err(Failure::interrupted());
            }
            self.next(&name(&item));
            row(item)
        };
        items.into_iter().map(computed).collect()
    }

    /// Starts the next row.
    pub(crate) fn next(&self, name: &str) {
        let finished = self.begun.fetch_add(1, Ordering::Relaxed);
        if let Some(supervisor) = &self.supervisor {
            supervisor.report(finished, self.rows);
        }
        if let Some(consent) = &self.consent {
            consent.set_rows_left(self.rows.saturating_sub(finished + 1));
        }
        if let Some(bar) = &self.bar {
            if !bar.message().is_empty() {
                bar.inc(1);
            }
            bar.set_message(name.chars().filter(|&c| is_plain(c)).take(30).collect::<String>());
        }
    }
}

impl Drop for RowProgress {
    fn drop(&mut self) {
        if let Some(supervisor) = &self.supervisor {
            supervisor.report(self.begun.load(Ordering::Relaxed), self.rows);
        }
        if let Some(consent) = &self.consent {
            consent.set_rows_left(0);
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The progress bar of steps that follow one another.
pub(crate) struct StepProgress {
    started: Instant,
    bar: Option<ProgressBar>,
    quiet: bool,
    progress: Progress,
    supervisor: Option<Arc<Supervisor>>,
    pilot: Pilot,
    consent: Arc<Consent>,
}

impl StepProgress {
    /// Draws a bar on stderr if that is a terminal and `quiet` is not set.
    pub(crate) fn new(quiet: bool, total: u64, resumed: u64) -> Self {
        let bar = is_drawn(quiet).then(|| {
            let bar = ProgressBar::new(total);
            bar.set_style(style("{bar:30} {pos} of {len}  {msg}"));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        let progress = Progress { done: resumed, total, resumed };
        let (pilot, consent) = (Pilot::new(), host::consent());
        let (started, supervisor) = (Instant::now(), watcher(quiet));
        StepProgress { started, bar, quiet, progress, supervisor, pilot, consent }
    }

    /// Shows the number of steps done, their rate and a message.
    pub(crate) fn show(&mut self, done: u64, unit: &str, message: &str) {
        self.progress.done = done;
        if let Some(supervisor) = &self.supervisor {
            supervisor.report(done, self.progress.total);
        }
        let elapsed = self.started.elapsed();
        let measured = (elapsed.as_secs_f64(), done, self.progress.total);
        if let Some(left) = self.pilot.note(measured, &self.consent) {
            self.consent.consider(left, self.quiet, &User(self.bar.as_ref()));
        }
        let Some(bar) = &self.bar else { return };
        bar.set_position(done);
        let fresh = (done - self.progress.resumed) as f64;
        let rate = fresh / elapsed.as_secs_f64().max(1e-3);
        let left = time_left(elapsed, &self.progress);
        bar.set_message(shown(&format!("{rate:.2} {unit}/s  {message}{left}")).into_owned());
    }
}

impl Drop for StepProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Bar and clock of long work.
pub(crate) struct Terminal {
    started: Instant,
    bar: Option<ProgressBar>,
    quiet: bool,
    supervisor: Option<Arc<Supervisor>>,
    keep_going: Box<dyn Fn() -> bool + Send + Sync>,
    /// Measures the run; none while files are read.
    pilot: Option<Pilot>,
    consent: Arc<Consent>,
}

impl Terminal {
    /// Draws a bar on stderr if that is a terminal and `quiet` is not set.
    pub(crate) fn new(quiet: bool, message: &'static str) -> Self {
        let bar = is_drawn(quiet).then(|| {
            let bar = ProgressBar::new(1);
            bar.set_style(style("{bar:30} {percent:>3} %  {msg}"));
            bar.set_message(message);
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        let (supervisor, keep_going) = (watcher(quiet), Box::new(keep_going()));
        let (pilot, consent) = (Some(Pilot::new()), host::consent());
        Terminal { started: Instant::now(), bar, quiet, supervisor, keep_going, pilot, consent }
    }

    /// Progress of reading files, which is neither estimated nor asked about.
    pub(crate) fn of_files(quiet: bool, message: &'static str) -> Self {
        let mut terminal = Terminal::new(quiet, message);
        terminal.pilot = None;
        terminal
    }

    /// Progress of draws of the exact pair.
    pub(crate) fn of_pair(quiet: bool) -> Self {
        Terminal::new(quiet, "drawing the exact pair")
    }

    /// Time since the start.
    pub(crate) fn elapsed_ms(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1e3
    }

    /// Removes the bar.
    pub(crate) fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Shows the share of the work that is done.
    pub(crate) fn show_share(&self, share: f64, message: &str) {
        let progress = Progress { done: (1e3 * share) as u64, total: 1_000, resumed: 0 };
        self.show(&progress, |_| message.to_owned());
    }

    /// Shows the progress; `message` describes it, from the number of results per second.
    pub(crate) fn show(&self, progress: &Progress, message: impl FnOnce(&str) -> String) {
        if let Some(supervisor) = &self.supervisor {
            supervisor.report(progress.done, progress.total);
        }
        let elapsed = self.started.elapsed();
        let measured = (elapsed.as_secs_f64(), progress.done, progress.total);
        let left = self.pilot.as_ref().and_then(|pilot| pilot.note(measured, &self.consent));
        if let Some(left) = left {
            self.consent.consider(left, self.quiet, &User(self.bar.as_ref()));
        }
        let Some(bar) = &self.bar else { return };
        bar.set_length(progress.total);
        bar.set_position(progress.done);
        let fresh = progress.done.saturating_sub(progress.resumed) as f64;
        let rate = short(fresh / elapsed.as_secs_f64().max(1e-3));
        let message = format!("{}{}", message(&rate), time_left(elapsed, progress));
        bar.set_message(shown(&message).into_owned());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Control for Terminal {
    fn keep_going(&self) -> bool {
        (self.keep_going)()
    }

    fn now_ms(&self) -> f64 {
        self.elapsed_ms()
    }

    fn after_draws(&self, done: u64, total: u64) {
        let progress = Progress { done, total, resumed: 0 };
        self.show(&progress, |rate| format!("{rate} draws of the pair/s"));
    }

    fn warn(&self, message: &str) {
        User(self.bar.as_ref()).without_bar(|| print_note(&format!("warning: {message}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_counts_only_work_of_this_run() {
        let elapsed = Duration::from_secs(60);
        let left = |resumed, done| time_left(elapsed, &Progress { done, total: 1000, resumed });
        // 100 in a minute, and 100 to do; with the 800 before, the rest would take 6.7 s.
        assert_eq!(left(800, 900), "  ETA 60s");
        assert_eq!(left(0, 900), "  ETA 7s");
        assert_eq!(left(800, 1000), "  ETA 0s");
        assert_eq!(left(800, 800), "");
    }
}
