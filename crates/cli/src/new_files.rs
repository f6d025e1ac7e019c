//! Files that appear together: a disk that is full leaves none of them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::files::cannot_write;

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
    fs::create_dir(&unfinished).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::input(
            "exists: another command writes a plan here, or was killed while it did; in this case \
             remove it, and repeat",
        )
        .about(&unfinished),
        _ => cannot_write(&unfinished, &error),
    })?;
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
    let Some(name) = files.iter().find(|name| folder.join(name).exists()) else { return Ok(()) };
    let problem = "exists: a plan is never overwritten; choose another folder";
    Err(Failure::input(problem).about(&folder.join(name)))
}

/// Moves all files; after an error, those that were moved are removed.
fn move_files(from: &Path, to: &Path) -> Result<(), Failure> {
    let mut moved = Vec::new();
    let result = move_each(from, to, &mut moved);
    result.map_err(|(path, error)| {
        for path in moved {
            let _ = fs::remove_file(path); // best effort: the first error is reported
        }
        cannot_write(&path, &error)
    })
}

fn move_each(
    from: &Path,
    to: &Path,
    moved: &mut Vec<PathBuf>,
) -> Result<(), (PathBuf, std::io::Error)> {
    let entries = fs::read_dir(from).map_err(|error| (from.to_owned(), error))?;
    for entry in entries {
        let entry = entry.map_err(|error| (from.to_owned(), error))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            fs::create_dir_all(&target).map_err(|error| (target.clone(), error))?;
            move_each(&source, &target, moved)?;
            continue;
        }
        fs::rename(&source, &target).map_err(|error| (target.clone(), error))?;
        moved.push(target);
    }
    Ok(())
}
