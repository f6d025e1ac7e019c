//! The process that decodes a Parquet file, from both sides.

use std::borrow::Cow;
use std::io::{Read, Write};
use std::process::{Command, ExitCode, ExitStatus};
use std::time::Duration;

use super::limited_process::{ProcessEnd, ProcessLimits, run_limited};
use super::parquet::write_csv;
use crate::failure::Failure;
use crate::files::MAX_STREAM_BYTES;
use crate::host;

/// The argument that makes this program decode its standard input. Only the program itself passes it:
/// neither the help nor a completion script has it.
const TASK: &str = "decode-parquet";
/// Exit code where the first line of stderr is the reason.
const REFUSED: u8 = 2;

const LIMITS: ProcessLimits =
    ProcessLimits { time: Duration::from_secs(300), output_bytes: MAX_STREAM_BYTES };
/// Memory beside four times the file.
#[cfg(target_os = "linux")]
const MEMORY_BYTES: u64 = 1 << 30;

/// The table of a Parquet file as csv, decoded by another process.
pub(super) fn to_csv(bytes: &[u8], booleans: &[Cow<'_, str>; 2]) -> Result<Vec<u8>, Failure> {
    if host::is_guest() {
        return Err(Failure::input(
            "is a Parquet file, which only the program decodes, in a process of its own; run dpscope \
             itself, or convert the file to csv",
        ));
    }
    let program = std::env::current_exe().map_err(|error| no_process(&error))?;
    let mut command = Command::new(program);
    command.arg(TASK).args(booleans.iter().map(AsRef::as_ref));
    match run_limited(&mut command, bytes, LIMITS).map_err(|error| no_process(&error))? {
        ProcessEnd::Interrupted => Err(Failure::interrupted()),
        ProcessEnd::Exited { status, output, .. } if status.success() => Ok(output),
        ProcessEnd::Exited { status, message, .. } => Err(refusal(status, &message)),
        ProcessEnd::Slow => Err(Failure::input(format!(
            "is a Parquet file that is not decoded within {} s; convert it to csv",
            LIMITS.time.as_secs()
        ))),
        ProcessEnd::Large => Err(Failure::input(format!(
            "is a Parquet file of more than {} bytes as csv; use fewer rows",
            LIMITS.output_bytes
        ))),
    }
}

fn no_process(error: &std::io::Error) -> Failure {
    Failure::input(format!(
        "is a Parquet file, and no process to decode it could be started ({error}); convert it to csv"
    ))
}

fn refusal(status: ExitStatus, message: &str) -> Failure {
    if status.code() == Some(REFUSED.into()) {
        let reason = message.lines().next().unwrap_or_default();
        return Failure::input(format!("Parquet: {reason}"));
    }
    Failure::input(format!(
        "is a Parquet file that cannot be decoded: the decoder failed ({status}). The file may be \
         damaged, or need more memory than allowed; write it again with smaller pages, or convert it \
         to csv"
    ))
}

/// Decodes standard input to standard output, if the command line asks for it.
pub(crate) fn decode_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|argument| argument != TASK) {
        return None;
    }
    let names: Vec<String> = arguments.map(|name| name.to_string_lossy().into_owned()).collect();
    let [no, yes] = names.as_slice() else { return None };
    Some(match decode([no, yes]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("{}", reason.replace(['\n', '\r'], " "));
            ExitCode::from(REFUSED)
        }
    })
}

fn decode(booleans: [&str; 2]) -> Result<(), String> {
    let mut bytes = Vec::new();
    let text = |error: std::io::Error| error.to_string();
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(text)?;
    limit_process(bytes.len() as u64).map_err(text)?;
    let mut output = std::io::BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    write_csv(bytes, booleans, &mut output)?;
    output.flush().map_err(text)
}

/// Limits memory and time, also where the other process no longer does, and leaves no core dump.
#[cfg(target_os = "linux")]
fn limit_process(file_bytes: u64) -> std::io::Result<()> {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let memory = MEMORY_BYTES.saturating_add(file_bytes.saturating_mul(4));
    let limits = [
        (Resource::RLIMIT_AS, memory),
        (Resource::RLIMIT_CPU, LIMITS.time.as_secs()),
        (Resource::RLIMIT_CORE, 0),
    ];
    for (resource, limit) in limits {
        let (_, hard) = getrlimit(resource)?;
        let limit = limit.min(hard);
        setrlimit(resource, limit, limit)?;
    }
    Ok(())
}

/// Elsewhere the system has no such limit, or does not obey it.
#[cfg(not(target_os = "linux"))]
fn limit_process(_: u64) -> std::io::Result<()> {
    Ok(())
}
