//! Files that appear together: a disk that is full leaves none of them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::files::cannot_write;
use crate::temporary::{flush, folder_of, rename};

/// Where the files are until all of them are written.
const UNFINISHED: &str = "unfinished.dpscope.tmp";

/// Writes files into a folder, of which `files` must be new: `write` gets an empty folder, whose content
/// is moved when it succeeds and removed when it fails.
pub(crate) fn write_new_files<T>(
    folder: &Path,
    files: &[&str],
    write: impl FnOnce(&Path) -> Result<T, Failure>,
) -> Result<T, Failure> {
    check_new(folder, files)?;
    let is_new = !folder.exists();
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    let unfinished = folder.join(UNFINISHED);
    let _lock = create_locked(&unfinished)?; // held until the end
    let result = write(&unfinished).and_then(|result| {
        move_files(&unfinished, folder)?;
        Ok(result)
    });
    // best effort: the first error is reported
    let _ = fs::remove_dir_all(&unfinished);
    if is_new && result.is_err() {
        let _ = fs::remove_dir(folder);
    }
    result
}

/// Refuses a folder that has one of these files.
pub(crate) fn check_new(folder: &Path, files: &[&str]) -> Result<(), Failure> {
    let name = files.iter().find(|name| folder.join(name).exists());
    name.map_or(Ok(()), |name| Err(exists(&folder.join(name))))
}

fn exists(path: &Path) -> Failure {
    Failure::input("exists: a plan is never overwritten; choose another folder").about(path)
}

/// Creates a folder, in place of one that a killed program left. It is locked as long as the file is open.
fn create_locked(folder: &Path) -> Result<Option<File>, Failure> {
    // only Unix can lock a folder
    let lock =
        || File::open(folder).ok().filter(|_| cfg!(unix)).map(|file| (file.try_lock(), file));
    let mut created = fs::create_dir(folder);
    let is_old = |created: &std::io::Result<()>| {
        created.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists)
    };
    if is_old(&created) && lock().is_some_and(|(locked, _)| locked.is_ok()) {
        created = fs::remove_dir_all(folder).and_then(|()| fs::create_dir(folder));
    }
    if is_old(&created) {
        let problem =
            "exists: another command writes a plan here; wait until it ends, or remove it";
        return Err(Failure::input(problem).about(folder));
    }
    created.map_err(|error| cannot_write(folder, &error))?;
    Ok(lock().map(|(_, file)| file))
}

/// Moves all files, of which none may exist; after an error, those that were moved are removed.
fn move_files(from: &Path, to: &Path) -> Result<(), Failure> {
    let mut pairs = Vec::new();
    list(from, to, &mut pairs).map_err(|error| cannot_write(to, &error))?;
    if let Some((_, target)) = pairs.iter().find(|(_, target)| target.exists()) {
        return Err(exists(target));
    }
    for (at, (source, target)) in pairs.iter().enumerate() {
        let parent = target.parent().unwrap_or(to);
        let moved = fs::create_dir_all(parent).and_then(|()| rename(source, target));
        if let Err(error) = moved {
            for (_, target) in &pairs[..at] {
                let _ = fs::remove_file(target); // best effort: the first error is reported
            }
            return Err(cannot_write(target, &error));
        }
    }
    // new folders: those in it, and it itself
    [to, folder_of(to)].into_iter().for_each(flush);
    Ok(())
}

/// Lists all files below a folder, with their places below another.
fn list(from: &Path, to: &Path, pairs: &mut Vec<(PathBuf, PathBuf)>) -> std::io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        match source.is_dir() {
            true => list(&source, &target, pairs)?,
            false => pairs.push((source, target)),
        }
    }
    Ok(())
}
