//! One process at a time executes the runs of a folder: two would write the same files.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use crate::failure::Failure;
use crate::files::cannot_write;
use crate::output::print_note;

/// Stays in the folder; the system releases the lock when its process ends, however it does.
const LOCK: &str = "run.lock";

/// The lock of a folder, held as long as the file is open.
pub(super) fn lock(folder: &Path) -> Result<File, Failure> {
    let path = folder.join(LOCK);
    let opened = OpenOptions::new().create(true).append(true).open(&path);
    let file = opened.map_err(|error| cannot_write(&path, &error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let why = "is locked by another `dpscope generator run`, which executes the runs of this \
                       folder; wait until it ends, or stop it";
            return Err(Failure::input(why).about(&path));
        }
        // a volume without locks
        Err(TryLockError::Error(error)) => print_note(&format!(
            "{} cannot be locked ({error}); start no second `dpscope generator run` on this folder",
            path.display()
        )),
    }
    Ok(file)
}
