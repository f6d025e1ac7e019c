//! Files and folders under a temporary name, until they are complete.
//!
//! Each is locked while its process lives, so that those of killed programs are recognised and removed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::file_id::is_only_name;

/// The ending of temporary names.
const ENDING: &str = ".dpscope.tmp";
/// Digits of the random part of a temporary name.
const DIGITS: usize = 16;

/// A name that no other process uses. It is random: containers on a shared volume have equal process IDs.
pub(crate) fn new_name() -> io::Result<String> {
    let random = getrandom::u64().map_err(io::Error::other)?;
    Ok(format!("{random:0DIGITS$x}"))
}

/// A file that has a temporary name until [`TemporaryFile::persist`], and is removed without it.
#[derive(Debug)]
pub(crate) struct TemporaryFile {
    pub(crate) file: File,
    path: PathBuf,
    is_persistent: bool,
}

impl TemporaryFile {
    /// A new file beside `target`, with these permissions where the system has some.
    pub(crate) fn beside(target: &Path, mode: u32) -> io::Result<Self> {
        let name = target.file_name().ok_or_else(|| io::Error::other("is not a file name"))?;
        loop {
            let mut name = name.to_os_string();
            name.push(format!(".{}{ENDING}", new_name()?));
            let path = target.with_file_name(name);
            let file = created(&path, mode)?;
            // before it is locked, another process may take it for an abandoned file
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {}
                Ok(()) if !is_only_name(&path) => {}
                // locked, or on a volume without locks, where nothing is removed
                _ => return Ok(TemporaryFile { file, path, is_persistent: false }),
            }
        }
    }

    /// Flushes the file and renames it: a reader sees either the old content or the new.
    pub(crate) fn persist(mut self, target: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        // the lock is still held
        rename_flushed(&self.path, target, flush)?;
        self.is_persistent = true;
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if !self.is_persistent {
            let _ = fs::remove_file(&self.path); // best effort: another error is reported
        }
    }
}

fn created(path: &Path, mode: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    options.open(path)
}

/// Renames a file, which after a power failure has one of the names and its whole content.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    rename_with(from, to, flush)
}

/// As [`rename`]; `flush` writes a file or a folder to the disk.
fn rename_with(from: &Path, to: &Path, flush: impl Fn(&Path)) -> io::Result<()> {
    flush(from);
    rename_flushed(from, to, flush)
}

/// Renames a file that is on the disk.
fn rename_flushed(from: &Path, to: &Path, flush: impl Fn(&Path)) -> io::Result<()> {
    fs::rename(from, to)?;
    flush(folder_of(to));
    Ok(())
}

/// Writes a file or a folder to the disk, where the system can.
pub(crate) fn flush(path: &Path) {
    // best effort: some systems refuse it for folders, or for files that are only read
    let _ = File::open(path).and_then(|file| file.sync_all());
}

/// The folder of a file, also where the path is a name alone.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Removes temporary files of killed programs beside `target`.
pub(crate) fn remove_abandoned(target: &Path) {
    let entries = fs::read_dir(folder_of(target)).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_temporary)) {
        let path = entry.path();
        // only a living process holds the lock
        let abandoned = is_only_name(&path).then(|| File::open(&path)).and_then(Result::ok);
        if abandoned.is_some_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(&path); // best effort: it is in nobody's way
        }
    }
}

fn is_temporary(name: &str) -> bool {
    let random = name.strip_suffix(ENDING).and_then(|rest| rest.rsplit_once('.'));
    random.is_some_and(|(_, random)| {
        random.len() == DIGITS && random.chars().all(|digit| digit.is_ascii_hexdigit())
    })
}

#[cfg(all(test, unix))]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn renames_flush_the_file_before_and_the_folder_after() {
        let folder = std::env::temp_dir().join(format!("dpscope-rename-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.join(name));
        fs::write(&from, "x").unwrap();
        let flushed = RefCell::new(Vec::new());
        let note = |path: &Path| flushed.borrow_mut().push((path.to_owned(), to.exists()));
        rename_with(&from, &to, note).unwrap();
        let missing = rename_with(&from, &to, |_| {}).is_err();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(flushed.into_inner(), [(from, false), (folder, true)]);
        assert!(missing);
        assert_eq!(folder_of(Path::new("report.html")), Path::new("."));
    }

    #[test]
    fn files_of_processes_that_live_remain() {
        let folder = std::env::temp_dir().join(format!("dpscope-tmp-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let target = folder.join("report");
        let of_this_process = TemporaryFile::beside(&target, 0o600).unwrap();
        let abandoned = ["report.0123456789abcdef.dpscope.tmp", "report.dpscope.tmp", "x.tmp"];
        abandoned.iter().for_each(|name| fs::write(folder.join(name), "x").unwrap());
        remove_abandoned(&target);
        let remain = abandoned.map(|name| folder.join(name).exists());
        let is_kept = of_this_process.path.exists();
        of_this_process.persist(&target).unwrap();
        let is_persistent = target.exists();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!((remain, is_kept, is_persistent), ([false, true, true], true, true));
    }
}
