//! A process with limits on its time and output.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::progress::is_interrupted;

/// How often an interruption is looked for.
const PERIOD: Duration = Duration::from_millis(100);
/// What is read of its messages.
const MOST_MESSAGE_BYTES: u64 = 1 << 12;

/// What a process may do.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessLimits {
    pub(super) time: Duration,
    pub(super) output_bytes: u64,
}

/// How a process ended.
#[derive(Debug)]
pub(super) enum ProcessEnd {
    Exited {
        status: ExitStatus,
        output: Vec<u8>,
        /// The start of its messages.
        message: String,
    },
    /// It was ended, because it took longer than allowed.
    Slow,
    /// It was ended, because it wrote more than allowed.
    Large,
    Interrupted,
}

/// Runs a command with `input` on its standard input, and ends it where it exceeds a limit.
///
/// # Errors
/// The command cannot be started.
pub(super) fn run_limited(
    command: &mut Command,
    input: &[u8],
    limits: ProcessLimits,
) -> std::io::Result<ProcessEnd> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (sender, output) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // a process that reads no further has its reason
            let _ = stdin.map(|mut stdin| stdin.write_all(input));
        });
        let most = limits.output_bytes.saturating_add(1);
        scope.spawn(move || sender.send(read_up_to(most, stdout)));
        let message = scope.spawn(|| read_up_to(MOST_MESSAGE_BYTES, stderr));
        let started = Instant::now();
        let end = read_output(&output, limits, started)
            .and_then(|output| Ok((output, exit_status(&mut child, limits, started)?)));
        if end.is_err() {
            let _ = child.kill(); // it may have ended already
        }
        child.wait()?;
        if is_interrupted() {
            return Ok(ProcessEnd::Interrupted); // the signal may have ended the process, too
        }
        let message = message.join().unwrap_or_default();
        Ok(match end {
            Err(end) => end,
            Ok((output, status)) => ProcessEnd::Exited {
                status,
                output,
                message: String::from_utf8_lossy(&message).into_owned(),
            },
        })
    })
}

/// The whole output, or why the process must be ended.
fn read_output(
    output: &Receiver<Vec<u8>>,
    limits: ProcessLimits,
    started: Instant,
) -> Result<Vec<u8>, ProcessEnd> {
    loop {
        match output.recv_timeout(PERIOD) {
            Ok(bytes) if bytes.len() as u64 > limits.output_bytes => return Err(ProcessEnd::Large),
            Ok(bytes) => return Ok(bytes),
            Err(RecvTimeoutError::Disconnected) => return Ok(Vec::new()),
            Err(RecvTimeoutError::Timeout) => check_time(limits, started)?,
        }
    }
}

/// The status of a process that writes no more.
fn exit_status(
    child: &mut Child,
    limits: ProcessLimits,
    started: Instant,
) -> Result<ExitStatus, ProcessEnd> {
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Ok(status);
        }
        check_time(limits, started)?;
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

fn check_time(limits: ProcessLimits, started: Instant) -> Result<(), ProcessEnd> {
    match (is_interrupted(), started.elapsed() >= limits.time) {
        (true, _) => Err(ProcessEnd::Interrupted),
        (_, true) => Err(ProcessEnd::Slow),
        _ => Ok(()),
    }
}

fn read_up_to(most: u64, pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // what was read before an error counts
    let _ = pipe.map(|pipe| pipe.take(most).read_to_end(&mut bytes));
    bytes
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn end_of(script: &str, input: &[u8]) -> ProcessEnd {
        end_within(Duration::from_secs(60), script, input)
    }

    fn end_within(time: Duration, script: &str, input: &[u8]) -> ProcessEnd {
        let limits = ProcessLimits { time, output_bytes: 1 << 20 };
        run_limited(Command::new("sh").args(["-c", script]), input, limits).expect("sh starts")
    }

    #[test]
    fn output_and_message_are_those_of_the_process() {
        let input = vec![b'x'; 1 << 20]; // more than a pipe holds
        let ProcessEnd::Exited { status, output, message } =
            end_of("cat; echo why >&2; exit 7", &input)
        else {
            panic!("it exits")
        };
        assert_eq!((status.code(), output == input, &*message), (Some(7), true, "why\n"));
    }

    #[test]
    fn a_process_without_an_end_is_ended() {
        let time = Duration::from_millis(200);
        for script in ["exec sleep 300", "exec 1>&-; exec sleep 300"] {
            for input in [vec![], vec![0; 1 << 20]] {
                assert!(matches!(end_within(time, script, &input), ProcessEnd::Slow), "{script}");
            }
        }
    }

    #[test]
    fn too_much_output_ends_the_process() {
        assert!(matches!(end_of("exec yes", b""), ProcessEnd::Large));
        // further messages are not read
        let ProcessEnd::Exited { message, .. } = end_of("exec yes >&2", b"") else {
            panic!("it exits")
        };
        assert_eq!(message.len(), MOST_MESSAGE_BYTES as usize);
    }

    #[test]
    fn a_signal_is_an_exit() {
        let end = end_of("kill -ABRT $$", &vec![0; 1 << 20]);
        let ProcessEnd::Exited { status, .. } = end else { panic!("it exits") };
        assert_eq!(status.code(), None);
    }
}
