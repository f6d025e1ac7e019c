//! Commands of `cargo xtask test`, which end even where a test does not: a command that writes nothing for
//! too long is ended with all its processes, and the error names the test program and its tests.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process::{in_root, shown};

/// How long a command may write nothing. The longest test takes a minute or two on two cores, and the
/// longest compilation less.
const LONGEST_SILENCE: Duration = Duration::from_secs(15 * 60);
/// How long a test program may take to list its tests.
const LONGEST_LISTING: Duration = Duration::from_secs(60);
/// Between the name of a test and its result, which is missing as long as it runs.
const STARTED: &str = " ... ";
/// How many tests an error names; the others are counted.
const NAMED: usize = 20;

/// What a command told, or that it ended.
enum Event {
    /// It wrote something, which ended these lines.
    Output(Vec<String>),
    /// One of its two streams ended.
    Closed,
    Exited(std::io::Result<ExitStatus>),
}

/// Where the tests of a command are, from the lines of cargo and libtest.
#[derive(Debug, Default)]
struct Progress {
    /// The running test program, as cargo names it.
    program: Option<String>,
    /// Tests that are announced: by libtest if they take more than a minute, and before they start where
    /// they run one after the other.
    announced: BTreeSet<String>,
    finished: BTreeSet<String>,
    last_line: String,
}

/// Runs a command to the end: its output is passed on, and each line of it is shown to `on_line`.
///
/// # Errors
///
/// When it cannot start, or writes nothing for a quarter of an hour. It has ended then, as have the programs
/// that it started.
pub(crate) fn supervised(command: &mut Command, on_line: impl FnMut(&str)) -> Result<ExitStatus> {
    watched(command, true, |_| LONGEST_SILENCE, on_line)
}

/// Runs a command as [`supervised`] does, with a limit of silence that may depend on its progress.
fn watched(
    command: &mut Command,
    is_shown: bool,
    longest_silence: impl Fn(&Progress) -> Duration,
    mut on_line: impl FnMut(&str),
) -> Result<ExitStatus> {
    let (id, events) = start(command, is_shown)?;
    let mut progress = Progress::default();
    let (mut open, mut exited) = (2, None);
    while open > 0 || exited.is_none() {
        match events.recv_timeout(longest_silence(&progress)) {
            Ok(Event::Output(lines)) => {
                for line in lines {
                    progress.read(&line);
                    on_line(&line);
                }
            }
            Ok(Event::Closed) => open -= 1,
            Ok(Event::Exited(status)) => exited = Some(status?),
            Err(_) => {
                group::end(id);
                let silence = longest_silence(&progress).as_secs();
                bail!(
                    "`{}` wrote nothing for {silence} s: {}",
                    shown(command),
                    progress.waits_for()
                );
            }
        }
    }
    group::leave();
    exited.with_context(|| format!("`{}` did not exit", shown(command)))
}

/// Starts a command in a process group of its own.
fn start(command: &mut Command, is_shown: bool) -> Result<(u32, Receiver<Event>)> {
    if std::io::stderr().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    group::separate(command);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        command.spawn().with_context(|| format!("cannot start `{}`", shown(command)))?;
    let id = child.id();
    group::enter(id);
    let (sender, events) = channel();
    if let Some(stdout) = child.stdout.take() {
        pass_on(stdout, is_shown.then(std::io::stdout), sender.clone());
    }
    if let Some(stderr) = child.stderr.take() {
        pass_on(stderr, is_shown.then(std::io::stderr), sender.clone());
    }
    std::thread::spawn(move || sender.send(Event::Exited(child.wait())));
    Ok((id, events))
}

/// Sends what a stream has until it ends, and copies it where there is a place for it.
fn pass_on(
    mut from: impl Read + Send + 'static,
    mut to: Option<impl Write + Send + 'static>,
    sender: Sender<Event>,
) {
    std::thread::spawn(move || {
        let (mut buffer, mut line) = ([0; 1 << 13], Vec::new());
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            // who closed the terminal still learns whether the tests pass
            let _ = to.as_mut().map(|to| to.write_all(&buffer[..count]).and_then(|()| to.flush()));
            line.extend(&buffer[..count]);
            let ended = line.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
            let lines: Vec<u8> = line.drain(..ended.map_or(0, |last| last + 1)).collect();
            let rest = if line.ends_with(STARTED.as_bytes()) { &line[..] } else { &[] };
            let lines = [lines, rest.to_vec()].concat();
            let lines = String::from_utf8_lossy(&lines);
            let lines = lines.split(['\n', '\r']).map(without_colours).collect();
            if sender.send(Event::Output(lines)).is_err() {
                return;
            }
        }
        let _ = sender.send(Event::Closed);
    });
}

impl Progress {
    fn read(&mut self, line: &str) {
        let line = line.trim_start();
        if let Some(program) = line.strip_prefix("Running ").or(line.strip_prefix("Doc-tests ")) {
            *self = Self { program: Some(program.to_owned()), ..Self::default() };
        } else if let Some(test) = line.strip_prefix("test ") {
            if let Some(name) = test.strip_suffix(" has been running for over 60 seconds") {
                self.announced.insert(name.to_owned());
            } else if let Some((name, result)) = test.split_once(STARTED) {
                let name = name.trim_end();
                let name = name.strip_suffix(" - should panic").unwrap_or(name);
                if result.is_empty() {
                    self.announced.insert(name.to_owned());
                } else {
                    self.announced.remove(name);
                    self.finished.insert(name.to_owned());
                }
            }
        }
        if !line.is_empty() {
            line.clone_into(&mut self.last_line);
        }
    }

    /// What has not ended.
    fn waits_for(&self) -> String {
        let Some(program) = &self.program else {
            return format!("its last line was `{}`", self.last_line);
        };
        // a harness of ours with many threads announces none
        let unfinished =
            if self.announced.is_empty() { self.listed(program) } else { self.announced.clone() };
        let more = unfinished.len().saturating_sub(NAMED);
        let mut names: Vec<String> = unfinished.into_iter().take(NAMED).collect();
        if more > 0 {
            names.push(format!("{more} more"));
        }
        if names.is_empty() {
            names.push(format!("unknown, the last line was `{}`", self.last_line));
        }
        format!("{program} has not ended; unfinished tests: {}", names.join(", "))
    }

    /// Tests that the program lists and did not finish.
    fn listed(&self, program: &str) -> BTreeSet<String> {
        let path = program.rsplit_once('(').and_then(|(_, path)| path.strip_suffix(')'));
        let mut tests = BTreeSet::new();
        if let Some(path) = path {
            let list = |line: &str| tests.extend(line.strip_suffix(": test").map(str::to_owned));
            // what cannot list its tests is named all the same
            let _ = watched(in_root(path).arg("--list"), false, |_| LONGEST_LISTING, list);
        }
        &tests - &self.finished
    }
}

/// The text without the escape sequences of a terminal.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain += part.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, after)| after);
    }
    plain
}

/// The processes of a command: those of a process group on Unix.
#[cfg(unix)]
mod group {
    use std::os::unix::process::CommandExt;
    use std::process::Command;
    use std::sync::Once;
    use std::sync::atomic::{AtomicI32, Ordering};

    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;

    /// The group that runs; 0 for none.
    static RUNNING: AtomicI32 = AtomicI32::new(0);

    /// Ctrl-C in a terminal does not reach the group by itself.
    pub(super) fn separate(command: &mut Command) {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let _ = ctrlc::set_handler(|| {
                let running = RUNNING.load(Ordering::SeqCst);
                if running != 0 {
                    let _ = killpg(Pid::from_raw(running), Signal::SIGTERM);
                }
                std::process::exit(130)
            });
        });
        command.process_group(0);
    }

    pub(super) fn enter(id: u32) {
        RUNNING.store(id.cast_signed(), Ordering::SeqCst);
    }

    pub(super) fn leave() {
        RUNNING.store(0, Ordering::SeqCst);
    }

    pub(super) fn end(id: u32) {
        let _ = killpg(Pid::from_raw(id.cast_signed()), Signal::SIGKILL);
        leave();
    }
}

#[cfg(not(unix))]
mod group {
    use std::process::Command;

    pub(super) fn separate(_: &mut Command) {}
    pub(super) fn enter(_: u32) {}
    pub(super) fn leave() {}

    pub(super) fn end(id: u32) {
        let _ = Command::new("taskkill").args(["/F", "/T", "/PID", &id.to_string()]).output();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARGO: &str = "     Running tests/gpu/main.rs (target/debug/deps/gpu-0a1b)";

    fn after(lines: &[&str]) -> Progress {
        let mut progress = Progress::default();
        lines.iter().for_each(|line| progress.read(line));
        progress
    }

    #[test]
    fn announced_tests_are_named_until_they_finish() {
        let slow = |name: &str| format!("test {name} has been running for over 60 seconds");
        let lines = [CARGO, &slow("a::b"), &slow("c"), &slow("d"), "test c ... ok"];
        let panics = "test d - should panic ... ok";
        let told = after(&[&lines[..], &[panics]].concat()).waits_for();
        assert!(told.starts_with("tests/gpu/main.rs (target/debug/deps/gpu-0a1b)"), "{told}");
        assert!(told.ends_with("unfinished tests: a::b"), "{told}");
        let one_by_one = after(&[CARGO, "test a  ... ", "test a  ... ok", "test b  ... "]);
        assert!(one_by_one.waits_for().ends_with("unfinished tests: b"));
        let next = after(&[&lines[..], &["   Doc-tests dpscope_core"]].concat());
        assert!(next.announced.is_empty() && next.program.unwrap() == "dpscope_core");
    }

    #[test]
    fn tests_that_no_harness_announces_are_listed() {
        let own = std::env::current_exe().unwrap();
        let program = format!("Running unittests src/main.rs ({})", own.display());
        let progress = after(&[&program, "test fuzz::tests::targets ... ok"]);
        let listed = progress.listed(progress.program.as_ref().unwrap());
        let own = "supervision::tests::tests_that_no_harness_announces_are_listed";
        assert!(listed.contains(own), "{listed:?}");
        let progress = after(&[&program, &format!("test {own} ... ok")]);
        assert!(!progress.listed(progress.program.as_ref().unwrap()).contains(own));
        assert!(progress.waits_for().contains(" more"), "{}", progress.waits_for());
    }

    #[test]
    fn colours_are_ignored() {
        assert_eq!(without_colours("\x1b[1m\x1b[92m   Running\x1b[0m a"), "   Running a");
        assert_eq!(without_colours("plain"), "plain");
    }

    #[test]
    fn every_line_of_both_streams_is_seen() {
        let mut lines = Vec::new();
        let mut command = in_root("cargo");
        command.args(["--version", "--verbose"]);
        let silence = |_: &Progress| LONGEST_SILENCE;
        let status = watched(&mut command, false, silence, |line| lines.push(line.to_owned()));
        assert!(status.unwrap().success() && lines[0].starts_with("cargo "), "{lines:?}");
        let (mut lines, mut unknown) = (String::new(), in_root("cargo"));
        let status = watched(unknown.arg("no-such-task"), false, silence, |line| lines += line);
        assert!(!status.unwrap().success() && lines.contains("no-such-task"), "{lines}");
    }

    /// The process that hangs is a child of the command, which waits for it.
    #[test]
    #[cfg(unix)]
    fn a_command_that_hangs_ends_with_its_processes_and_is_named() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let slow = "test hangs has been running for over 60 seconds";
        // in one stream: of two, either may be read first
        let script = format!("echo '{CARGO}'; echo '{slow}'; tail -f /dev/null; echo end");
        let mut command = in_root("sh");
        command.args(["-c", &script]).stdin(writer);
        let silence = |progress: &Progress| {
            let has_told = progress.program.is_some() && !progress.announced.is_empty();
            if has_told { Duration::ZERO } else { LONGEST_SILENCE }
        };
        let error = watched(&mut command, false, silence, |_| ()).unwrap_err().to_string();
        for part in ["wrote nothing for 0 s", "gpu-0a1b) has not ended", "tests: hangs"] {
            assert!(error.contains(part), "{error}");
        }
        drop(command); // its own end of the pipe
        let (sender, closed) = channel();
        std::thread::spawn(move || sender.send(reader.read_to_end(&mut Vec::new())));
        let ended = closed.recv_timeout(Duration::from_secs(60));
        assert_eq!(ended.expect("no process holds the pipe").unwrap(), 0);
    }
}
