//! The served files: built into the program, or of a folder.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Files of `web/dist` by their paths; empty if the app was not built before the program.
const EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/site.rs"));

const LARGEST_FILE: u64 = 64 << 20;

/// Files by their paths.
#[derive(Debug)]
pub(super) enum Site {
    Embedded(&'static [(&'static str, &'static [u8])]),
    /// A folder, as canonical path.
    Folder(PathBuf),
}

impl Site {
    pub(super) fn embedded() -> Result<Self, Failure> {
        if EMBEDDED.is_empty() {
            return Err(Failure::input(
                "this program was built without the app: run `cargo xtask web` in its source and \
                 build it again, or pass the folder of a built app with --dir",
            ));
        }
        Ok(Site::Embedded(EMBEDDED))
    }

    pub(super) fn folder(path: &Path) -> Result<Self, Failure> {
        let rejected = |why: String| Failure::input(format!("--dir {}: {why}", path.display()));
        let folder = path.canonicalize().map_err(|error| rejected(error.to_string()))?;
        if !folder.join("index.html").is_file() {
            return Err(rejected("no index.html in this folder".to_owned()));
        }
        Ok(Site::Folder(folder))
    }

    /// The file at a relative path.
    pub(super) fn file(&self, path: &str) -> Option<Cow<'static, [u8]>> {
        match self {
            Site::Embedded(files) => {
                let (_, bytes) = files.iter().find(|(name, _)| *name == path)?;
                Some(Cow::Borrowed(bytes))
            }
            Site::Folder(folder) => {
                // Links must not leave the folder.
                let file = folder.join(path).canonicalize().ok()?;
                let facts = file.metadata().ok()?;
                let is_served = facts.is_file() && facts.len() <= LARGEST_FILE;
                (is_served && file.starts_with(folder))
                    .then(|| std::fs::read(&file).ok())?
                    .map(Cow::Owned)
            }
        }
    }
}

/// The media type of a file, by its extension.
pub(super) fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "css" => "text/css; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "md" | "txt" => "text/plain; charset=utf-8",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "wasm" => "application/wasm",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}
