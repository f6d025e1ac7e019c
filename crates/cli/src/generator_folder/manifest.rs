//! `manifest.toml` and files of columns.

use std::path::Path;

use dpscope_formats::Limits;
use dpscope_formats::table::SchemaError;
use dpscope_synth::generator::{ColumnEntry, Manifest, ManifestError, columns_from_toml};
use sha2::{Digest, Sha256};

use crate::canary_plan::hex;
use crate::committed::MANIFEST;
use crate::failure::Failure;
use crate::files::{read, read_text, write_text};

/// Larger files are no manifests.
const MOST_BYTES: u64 = 1 << 22;

impl From<ManifestError> for Failure {
    fn from(error: ManifestError) -> Self {
        Failure::input(error)
    }
}

impl From<SchemaError> for Failure {
    fn from(error: SchemaError) -> Self {
        Failure::input(error)
    }
}

/// The columns of a schema file.
pub(crate) fn read_columns(path: &Path) -> Result<Vec<ColumnEntry>, Failure> {
    let text = read_text(path, MOST_BYTES)?;
    columns_from_toml(&text).map_err(|error| Failure::from(error).about(path))
}

/// The manifest of a folder.
pub(crate) fn read_manifest(folder: &Path) -> Result<Manifest, Failure> {
    let path = folder.join(MANIFEST);
    let text = read_text(&path, MOST_BYTES)?;
    Manifest::from_toml(&text).map_err(|error| Failure::from(error).about(&path))
}

/// Writes the manifest of a folder.
pub(crate) fn write_manifest(manifest: &Manifest, folder: &Path) -> Result<(), Failure> {
    write_text(&folder.join(MANIFEST), &manifest.to_toml()?)
}

/// SHA-256 of the manifest of a folder, hexadecimal: the commitment of canaries that follow from it.
pub(crate) fn manifest_digest(folder: &Path) -> Result<String, Failure> {
    let path = folder.join(MANIFEST);
    let bytes = read(&path, &Limits { max_bytes: MOST_BYTES, ..Limits::default() })?;
    Ok(hex(&Sha256::digest(&bytes)))
}
