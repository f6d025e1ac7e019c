//! One process at a time executes the runs of a folder: two would write the same files.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use crate::failure::Failure;
use crate::files::cannot_write;
use crate::output::print_note;
use dpscope_core::foreign_text::ForeignText;

/// Stays in the folder; the system releases the lock when its process ends, however it does.
const LOCK: &str = "run.lock";

/// The lock of a folder, held as long as the file is open.
#[derive(Debug)]
pub(super) struct FolderLock {
    _file: File,
    /// False on a volume without locks, where another process may execute runs.
    pub(super) is_held: bool,
}

/// Locks a folder; it is an error if another process holds the lock.
pub(super) fn lock(folder: &Path) -> Result<FolderLock, Failure> {
    let path = folder.join(LOCK);
    let opened = OpenOptions::new().create(true).append(true).open(&path);
    let file = opened.map_err(|error| cannot_write(&path, &error))?;
    let is_held = match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => {
            let why = "is locked by another `dpscope generator run`, which executes the runs of this \
                       folder; wait until it ends, or stop it";
            return Err(Failure::input(why).about(&path));
        }
        Err(TryLockError::Error(error)) => {
            print_note(&format!(
                "{} cannot be locked ({error}); do not start a second `dpscope generator run` on this folder",
                ForeignText::new(path)
            ));
            false
        }
    };
    Ok(FolderLock { _file: file, is_held })
}
