//! Reads files with limits and writes them atomically.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dpscope_engine::{Artefact, ArtefactError, Plan, UnitRange};
use dpscope_formats::Limits;
use dpscope_formats::table::{Rows, Schema, read_table};

use crate::disk::HAS_DISK;
use crate::failure::Failure;
use crate::memory::readable_bytes;
use crate::temporary::{TemporaryFile, remove_abandoned};
use crate::{committed, host};

/// Limits on arrays, from the available memory.
pub(crate) fn limits() -> Limits {
    if HAS_DISK { Limits::for_memory(readable_bytes()) } else { Limits::for_page() }
}

/// The path that stands for standard input.
const STDIN: &str = "-";

/// A file name without its folder. Standard input is text, unless its first bytes say otherwise.
pub(crate) fn name_of(path: &Path) -> Cow<'_, str> {
    if path == Path::new(STDIN) {
        return "stdin.csv".into();
    }
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// The file beside `path` that contains incomplete outputs.
pub(crate) fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".part");
    path.with_file_name(name)
}

/// Limit on files without a length, such as pipes.
pub(crate) const MAX_STREAM_BYTES: u64 = 1 << 30;

/// How long a pipe may be without a writer.
const PIPE_TIMEOUT: Duration = Duration::from_secs(30);

/// Reads standard input, which is possible once.
fn read_stdin(limit: u64) -> Result<Vec<u8>, Failure> {
    static IS_READ: AtomicBool = AtomicBool::new(false);
    let path = Path::new(STDIN);
    if IS_READ.swap(true, Ordering::Relaxed) {
        return Err(Failure::input(
            "is standard input, which was read already; pass one of the \
                                   worlds as a file",
        )
        .about(path));
    }
    let mut bytes = Vec::new();
    let input = std::io::stdin().lock().take(limit.saturating_add(1)).read_to_end(&mut bytes);
    input.map_err(|error| Failure::input(format!("cannot be read: {error}")).about(path))?;
    if bytes.len() as u64 > limit {
        let problem = format!("is larger than the limit of {limit} bytes");
        return Err(Failure::input(problem).about(path));
    }
    Ok(bytes)
}

/// Opens a file. A pipe without a writer is an error after this time.
fn open(path: &Path, pipe_timeout: Duration) -> std::io::Result<File> {
    if std::fs::metadata(path)?.is_file() {
        return File::open(path);
    }
    let (opened, waiting) = std::sync::mpsc::channel();
    let owned = path.to_owned();
    std::thread::spawn(move || opened.send(File::open(owned)));
    waiting.recv_timeout(pipe_timeout).unwrap_or_else(|_| {
        let seconds = pipe_timeout.as_secs();
        Err(std::io::Error::other(format!("no program wrote to this pipe within {seconds} s")))
    })
}

/// Reads an input, or standard input for `-`, within the limits. No output may replace the file.
pub(crate) fn read(path: &Path, limits: &Limits) -> Result<Vec<u8>, Failure> {
    let bytes = read_own(path, limits)?;
    remember_input(path);
    Ok(bytes)
}

/// The rows of a table that was read from a file; an error ends with the remedy.
pub(crate) fn table_rows(
    path: &Path,
    bytes: &[u8],
    schema: &Schema,
    limits: &Limits,
    remedy: &str,
) -> Result<Rows, Failure> {
    read_table(bytes, schema, limits)
        .map_err(|error| Failure::input(format_args!("{error}; {remedy}")).about(path))
}

/// Marks a file as an input, which no output of this command may replace.
pub(crate) fn remember_input(path: &Path) {
    if HAS_DISK {
        host::with_inputs(|inputs| inputs.remember(path));
    }
}

/// Reads a file that the same command writes, such as the state of a run.
pub(crate) fn read_own(path: &Path, limits: &Limits) -> Result<Vec<u8>, Failure> {
    let too_large = |limit: u64| {
        Failure::input(format!("is larger than the limit of {limit} bytes")).about(path)
    };
    if let Some(bytes) = host::file(path) {
        let fits = bytes.len() as u64 <= limits.max_bytes;
        return if fits { Ok(bytes) } else { Err(too_large(limits.max_bytes)) };
    }
    if !HAS_DISK {
        return Err(Failure::input("is missing; add the file").about(path));
    }
    if path == Path::new(STDIN) {
        return read_stdin(limits.max_bytes.min(MAX_STREAM_BYTES));
    }
    let unreadable =
        |error: std::io::Error| Failure::input(format!("cannot be read: {error}")).about(path);
    let file = open(path, PIPE_TIMEOUT).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(Failure::input("is a directory; name a file").about(path));
    }
    let limit =
        if metadata.is_file() { limits.max_bytes } else { limits.max_bytes.min(MAX_STREAM_BYTES) };
    let mut bytes = Vec::new();
    if metadata.len() <= limit {
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if metadata.len().max(bytes.len() as u64) > limit {
        return Err(too_large(limit));
    }
    Ok(bytes)
}

/// Reads an artefact, which the same command may replace.
pub(crate) fn read_own_artefact<P: Plan>(path: &Path) -> Result<Artefact<P>, Failure> {
    let limits = Limits { max_bytes: P::MAX_BYTES as u64, ..Limits::default() };
    let bytes = read_own(path, &limits)?;
    Artefact::from_bytes(&bytes).map_err(|error| Failure::from(error).about(path))
}

/// The error of an output that would replace an input.
const IS_INPUT: &str =
    "this file is an input of the command and is not overwritten; choose another";

/// Whether a path leads to a file that the command has read.
fn is_input(path: &Path) -> bool {
    host::with_inputs(|inputs| inputs.contains(path))
}

/// Writes a file under a temporary name, flushes it to the disk and renames it: readers of `path` see
/// either the old content or the new. It keeps the permissions of a file that it replaces, less those
/// that an input lacks. An input is never replaced.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if host::keep(path, bytes) || !HAS_DISK {
        return Ok(()); // a page has nowhere to write
    }
    write_whole(path, |file| file.write_all(bytes))
}

/// As [`write_atomically`], in parts.
pub(crate) fn write_whole(
    path: &Path,
    write_parts: impl FnOnce(&mut BufWriter<&File>) -> std::io::Result<()>,
) -> std::io::Result<()> {
    if is_input(path) {
        return Err(std::io::Error::other(IS_INPUT));
    }
    let new = host::with_inputs(|inputs| inputs.mode_of_new_file());
    let temporary = TemporaryFile::beside(path, new)?;
    #[cfg(unix)]
    if let Some(mode) = host::with_inputs(|inputs| inputs.mode_of_replacement(path)) {
        temporary.file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    }
    write_and_persist(temporary, path, write_parts)
}

fn write_and_persist(
    temporary: TemporaryFile,
    path: &Path,
    write_parts: impl FnOnce(&mut BufWriter<&File>) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut file = BufWriter::new(&temporary.file);
    write_parts(&mut file)?;
    file.flush()?;
    drop(file);
    temporary.persist(path)
}

/// Writes a file that must be new, and that only its owner can read.
pub(crate) fn write_secret(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let write = || {
        if path.exists() {
            return Err(std::io::ErrorKind::AlreadyExists.into());
        }
        write_and_persist(TemporaryFile::beside(path, 0o600)?, path, |file| file.write_all(bytes))
    };
    write().map_err(|error| cannot_write(path, &error))
}

/// Writes an artefact atomically.
pub(crate) fn write_artefact<P: Plan>(path: &Path, artefact: &Artefact<P>) -> Result<(), Failure> {
    write_atomically(path, &artefact.to_bytes()).map_err(|error| cannot_write(path, &error))
}

pub(crate) fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("cannot be written: {error}")).about(path)
}

/// Rejects, before any work is done, a path that cannot be written or must not be replaced.
pub(crate) fn check_writable(path: &Path) -> Result<(), Failure> {
    if host::keeps(path) || !HAS_DISK {
        return Ok(());
    }
    if path.exists() && !path.is_file() {
        return Err(Failure::input("is not a regular file; choose another").about(path));
    }
    committed::check(path)?;
    if is_input(path) {
        return Err(cannot_write(path, &std::io::Error::other(IS_INPUT)));
    }
    remove_abandoned(path);
    let probe = TemporaryFile::beside(path, 0o600);
    probe.map(drop).map_err(|error| cannot_write(path, &error))
}

/// As [`check_writable`], and rejects an existing file that does not start with `mark`.
pub(crate) fn check_replaces(path: &Path, mark: &str) -> Result<(), Failure> {
    check_writable(path)?;
    if host::keeps(path) || !HAS_DISK || !path.exists() {
        return Ok(());
    }
    let read_start = || -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(mark.len() as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let found = read_start()
        .map_err(|error| Failure::input(format!("cannot be read: {error}")).about(path))?;
    if found.is_empty() || found == mark.as_bytes() {
        return Ok(());
    }
    Err(Failure::input("has other content, which is not overwritten; choose another file")
        .about(path))
}

/// Reads a small text file.
pub(crate) fn read_text(path: &Path, most_bytes: u64) -> Result<String, Failure> {
    let text = read_own_text(path, most_bytes)?;
    remember_input(path);
    Ok(text)
}

/// Reads a small text file that the same command writes.
pub(crate) fn read_own_text(path: &Path, most_bytes: u64) -> Result<String, Failure> {
    let bytes = read_own(path, &Limits { max_bytes: most_bytes, ..Limits::default() })?;
    String::from_utf8(bytes).map_err(|_| Failure::input("is not text (UTF-8)").about(path))
}

/// Writes text atomically.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    write_atomically(path, text.as_bytes()).map_err(|error| cannot_write(path, &error))
}

/// As [`check_writable`], and rejects an existing file unless it contains counts of the same plan that
/// the new ones include.
pub(crate) fn check_replaceable<P: Plan>(
    path: &Path,
    plan: &P,
    range: UnitRange,
) -> Result<(), Failure> {
    check_writable(path)?;
    if host::keeps(path) || !path.exists() {
        return Ok(());
    }
    let old = read_own_artefact::<P>(path)?;
    let mut checked = old.check_plan(plan);
    if old.range.first < range.first || old.range.end > range.end {
        let found = P::named(&old.range.to_string());
        let expected = range.to_string();
        let mismatch = ArtefactError::RangeMismatch { found, expected };
        checked = checked.and(Err(mismatch));
    }
    checked.map_err(|error| Failure::from(error).about(path))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn pipes_without_a_writer_are_errors() {
        let pipe = std::env::temp_dir().join(format!("dpscope-pipe-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let opened = open(&pipe, Duration::ZERO);
        std::fs::remove_file(&pipe).unwrap();
        let message = opened.unwrap_err().to_string();
        assert_eq!(message, "no program wrote to this pipe within 0 s");
    }
}
