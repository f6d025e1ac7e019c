//! The files that a command has read: no output replaces one of them, or is readable by more users.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::file_id::FileId;

/// Permissions of a new file, before the umask.
const NEW_FILE: u32 = 0o666;
/// Permissions of the owner, which inputs do not restrict.
const OWNER: u32 = 0o700;

/// Files that a command has read.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// One name of each file.
    names: BTreeMap<FileId, PathBuf>,
    /// Permissions that at least one file lacks.
    denied: u32,
}

impl Inputs {
    pub(crate) const fn new() -> Self {
        Inputs { names: BTreeMap::new(), denied: 0 }
    }

    /// Adds a file that was read.
    pub(crate) fn remember(&mut self, path: &Path) {
        if path.is_file() {
            self.denied |= mode(path).map_or(0, |mode| !mode);
            self.names.insert(FileId::of(path), path.to_owned());
        }
    }

    /// Whether a path leads to a file that was read, by whatever name.
    pub(crate) fn contains(&self, path: &Path) -> bool {
        let id = FileId::of(path);
        // a system may reuse the inode of a removed input
        self.names.get(&id).is_some_and(|name| FileId::of(name) == id)
    }

    /// The permissions of a new file: readable only by users who may read all inputs.
    pub(crate) fn mode_of_new_file(&self) -> u32 {
        NEW_FILE & (OWNER | !self.denied)
    }

    /// The permissions of a file that replaces the one at `path`; none if there is none.
    pub(crate) fn mode_of_replacement(&self, path: &Path) -> Option<u32> {
        mode(path).map(|mode| mode & (OWNER | !self.denied))
    }
}

/// The permissions of an existing file; none on systems without them.
fn mode(path: &Path) -> Option<u32> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(path).ok().map(|metadata| metadata.permissions().mode() & 0o777)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}
