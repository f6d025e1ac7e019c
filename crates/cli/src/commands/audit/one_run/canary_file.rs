//! The file of canaries: what is known of them before the training.

use std::path::Path;

use dpscope_recorded::{CanaryFile, File};

use crate::failure::Failure;
use crate::files::{limits, read};

/// Inputs and labels of canaries.
pub(crate) fn read_canaries(path: &Path) -> Result<CanaryFile, Failure> {
    let limits = limits();
    let bytes = read(path, &limits)?;
    let name = path.display().to_string();
    Ok(CanaryFile::read(&File { name: &name, bytes: &bytes, limits: &limits })?)
}
