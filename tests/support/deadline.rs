//! Ends a test program if one of its tests does not end.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::Command;
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

/// Environment variable: the seconds that a test may take after each program that it starts.
pub const SECONDS: &str = "DPSCOPE_TEST_SECONDS";
const DEFAULT_SECONDS: u64 = 1_800;
/// How often tests are checked.
const PERIOD: Duration = Duration::from_millis(500);

/// When each test last started a program, by its name.
static WATCHED: Mutex<BTreeMap<String, Instant>> = Mutex::new(BTreeMap::new());

/// The test on a thread, which leaves [`WATCHED`] when the thread ends.
struct RunningTest(String);

impl Drop for RunningTest {
    fn drop(&mut self) {
        WATCHED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

thread_local! {
    static RUNNING: OnceCell<RunningTest> = const { OnceCell::new() };
}

/// Ends this program and names the test on this thread, if that test neither ends nor calls this again in
/// time. Each test that starts a program calls this function, for example through
/// [`crate::cli::dpscope`].
pub fn watch() {
    RUNNING.with(|running| {
        let RunningTest(name) = running.get_or_init(|| {
            let thread = std::thread::current();
            // threads of our own harness have no names
            let name = thread.name().map_or_else(|| format!("{:?}", thread.id()), str::to_owned);
            RunningTest(name)
        });
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        watched.insert(name.clone(), Instant::now());
    });
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let seconds = std::env::var(SECONDS).ok().and_then(|text| text.parse().ok());
        let limit = Duration::from_secs(seconds.unwrap_or(DEFAULT_SECONDS));
        std::thread::spawn(move || {
            loop {
                std::thread::park_timeout(PERIOD);
                let watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(name) = late(&watched, limit) {
                    end(name, limit);
                }
            }
        });
    });
}

/// A test that takes longer than the limit.
fn late(watched: &BTreeMap<String, Instant>, limit: Duration) -> Option<&str> {
    let mut tests = watched.iter();
    tests.find(|(_, since)| since.elapsed() > limit).map(|(name, _)| name.as_str())
}

fn end(name: &str, limit: Duration) -> ! {
    let text = format!(
        "\ntest {name}: it has not ended {} s after it started a program; this test program ends\n",
        limit.as_secs()
    );
    // not `eprintln`, whose text the harness holds back until the end of a test
    let _ = std::io::stderr().write_all(text.as_bytes());
    let own = std::process::id().to_string();
    let _ = Command::new("pkill").args(["-KILL", "-P", &own]).status(); // its programs
    std::process::exit(101)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Started by the test below.
    #[test]
    fn endless() {
        if std::env::var_os(SECONDS).is_some() {
            watch();
            loop {
                std::thread::park();
            }
        }
    }

    #[test]
    fn a_test_without_an_end_is_named() {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["--exact", "deadline::tests::endless"]).env(SECONDS, "0");
        let output = program.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains("test deadline::tests::endless: it has not ended"), "{text}");
        assert_eq!(output.status.code(), Some(101));
    }

    #[test]
    fn tests_that_ended_are_not_late() {
        std::thread::spawn(watch).join().unwrap();
        let watched = WATCHED.lock().unwrap();
        assert_eq!(late(&watched, Duration::ZERO), None);
    }
}
