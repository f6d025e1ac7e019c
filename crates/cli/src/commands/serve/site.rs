//! The served files: built into the program, or of a folder.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::GzEncoder;

use dpscope_core::foreign_text::ForeignText;

use crate::failure::Failure;

/// Files of `web/dist` by their paths; empty if the app was not built before the program.
const EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/site.rs"));

const LARGEST_FILE: u64 = 64 << 20;

/// Files below this fit into one packet, compressed or not.
const SMALLEST_COMPRESSED: usize = 1 << 10;

/// A file of a site.
pub(super) struct ServedFile {
    pub(super) bytes: Cow<'static, [u8]>,
    /// The bytes in gzip format, if that is smaller.
    pub(super) compressed: Option<Arc<[u8]>>,
}

/// Files by their paths, each compressed once.
pub(super) struct Site {
    files: Files,
    compressed: Mutex<HashMap<String, Compressed>>,
}

/// A compressed file; none if that is not smaller.
struct Compressed {
    /// Hash of the uncompressed bytes: files in a folder may change.
    hash: u64,
    bytes: Option<Arc<[u8]>>,
}

enum Files {
    Embedded(&'static [(&'static str, &'static [u8])]),
    /// A folder, as canonical path.
    Folder(PathBuf),
}

impl Site {
    fn new(files: Files) -> Self {
        Site { files, compressed: Mutex::default() }
    }

    pub(super) fn embedded() -> Result<Self, Failure> {
        if EMBEDDED.is_empty() {
            return Err(Failure::input(
                "this program was built without the app: run `cargo xtask web` in its source and \
                 build it again, or pass the folder of a built app with --dir",
            ));
        }
        Ok(Site::new(Files::Embedded(EMBEDDED)))
    }

    pub(super) fn folder(path: &Path) -> Result<Self, Failure> {
        let rejected =
            |why: String| Failure::input(format!("--dir {}: {why}", ForeignText::new(path)));
        let folder = path.canonicalize().map_err(|error| rejected(error.to_string()))?;
        if !folder.join("index.html").is_file() {
            return Err(rejected("no index.html in this folder".to_owned()));
        }
        Ok(Site::new(Files::Folder(folder)))
    }

    /// The file at a relative path.
    pub(super) fn file(&self, path: &str) -> Option<ServedFile> {
        let bytes = self.read(path)?;
        let is_compressible =
            bytes.len() >= SMALLEST_COMPRESSED && is_compressible(media_type(path));
        let compressed = if is_compressible { self.compressed(path, &bytes) } else { None };
        Some(ServedFile { bytes, compressed })
    }

    /// The bytes of a file in gzip format, computed at the first request.
    fn compressed(&self, path: &str, bytes: &[u8]) -> Option<Arc<[u8]>> {
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let hash = hasher.finish();
        let known = self.compressed.lock().ok()?;
        if let Some(found) = known.get(path).filter(|found| found.hash == hash) {
            return found.bytes.clone();
        }
        drop(known); // other files are served meanwhile
        let gzip = gzip(bytes).ok()?;
        let gzip = (gzip.len() < bytes.len()).then(|| Arc::from(gzip));
        let entry = Compressed { hash, bytes: gzip.clone() };
        self.compressed.lock().ok()?.insert(path.to_owned(), entry);
        gzip
    }

    fn read(&self, path: &str) -> Option<Cow<'static, [u8]>> {
        match &self.files {
            Files::Embedded(files) => {
                let (_, bytes) = files.iter().find(|(name, _)| *name == path)?;
                Some(Cow::Borrowed(bytes))
            }
            Files::Folder(folder) => {
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

fn gzip(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// Whether files of a media type are not compressed already.
fn is_compressible(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || ["application/json", "application/wasm", "image/svg+xml"].contains(&media_type)
}

/// The media type of a file, by its extension.
pub(super) fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "css" => "text/css; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "csv" | "md" | "py" | "toml" | "txt" => "text/plain; charset=utf-8",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "wasm" => "application/wasm",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}
