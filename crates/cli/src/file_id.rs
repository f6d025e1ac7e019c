//! Identifies files independently of their names.

use std::fmt;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf, absolute};

/// Equal for all names of one file: device and inode or, on systems without inodes, the canonical path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FileId {
    #[cfg(unix)]
    Inode {
        device: u64,
        inode: u64,
    },
    Path(PathBuf),
}

impl FileId {
    /// The file at a path, whether it exists or not.
    pub(crate) fn of(path: &Path) -> Self {
        let inode = std::fs::metadata(path).ok().and_then(|metadata| Self::of_metadata(&metadata));
        inode.unwrap_or_else(|| FileId::Path(canonical_path(path)))
    }

    /// An open file; none where the system has no inodes.
    pub(crate) fn of_file(file: &File) -> std::io::Result<Option<Self>> {
        Ok(Self::of_metadata(&file.metadata()?))
    }

    #[cfg(unix)]
    fn of_metadata(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(FileId::Inode { device: metadata.dev(), inode: metadata.ino() })
    }

    #[cfg(not(unix))]
    fn of_metadata(_: &Metadata) -> Option<Self> {
        None
    }
}

impl fmt::Display for FileId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(unix)]
            FileId::Inode { device, inode } => write!(formatter, "{device}:{inode}"),
            FileId::Path(path) => write!(formatter, "{}", path.display()),
        }
    }
}

/// Whether a path is a regular file without another name: no link, symbolic or hard.
pub(crate) fn is_only_name(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| {
        #[cfg(unix)]
        let is_only = std::os::unix::fs::MetadataExt::nlink(&metadata) == 1;
        #[cfg(not(unix))]
        let is_only = true;
        metadata.is_file() && is_only
    })
}

/// The canonical path of a file, whether it exists or not.
fn canonical_path(path: &Path) -> PathBuf {
    let in_folder = || {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = parent.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    let known = path.canonicalize().ok().or_else(in_folder).or_else(|| absolute(path).ok());
    known.unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_to_one_file_are_equal() {
        let there = FileId::of(Path::new("Cargo.toml"));
        assert_eq!(FileId::of(Path::new("./src/../Cargo.toml")), there);
        assert_ne!(FileId::of(Path::new("README.md")), there);
        let absent = FileId::of(Path::new("src/absent"));
        assert_eq!(FileId::of(Path::new("./src/./absent")), absent);
        assert_ne!(FileId::of(Path::new("absent")), absent);
    }

    #[test]
    #[cfg(unix)]
    fn links_are_no_only_names() {
        let folder = std::env::temp_dir().join(format!("dpscope-names-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let [file, hard, soft] = ["file", "hard", "soft"].map(|name| folder.join(name));
        std::fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, &soft).unwrap();
        let before = [is_only_name(&file), is_only_name(&soft), is_only_name(&hard)];
        std::fs::hard_link(&file, &hard).unwrap();
        let after = [is_only_name(&file), FileId::of(&hard) == FileId::of(&soft)];
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!((before, after), ([true, false, false], [false, true]));
    }
}
