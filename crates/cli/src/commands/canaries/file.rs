//! Files of canaries, which are never overwritten.

use std::path::Path;

use dpscope_formats::{Array, write_npz};

use crate::failure::Failure;
use crate::files::{cannot_write, limits, read_own, write_atomically};

/// Refuses an existing file, unless it has exactly these bytes: canaries do not say which plans are
/// committed to them.
pub(super) fn check_keeps_canaries(path: &Path, own: Option<&[u8]>) -> Result<(), Failure> {
    let is_own =
        own.is_some_and(|own| read_own(path, &limits()).is_ok_and(|existing| existing == own));
    if !path.exists() || is_own {
        return Ok(());
    }
    let problem = "exists: canaries are never overwritten, since a plan may be committed to them; \
                   choose another file, or remove this one";
    Err(Failure::input(problem).about(path))
}

pub(super) fn canary_file(arrays: &[(&str, Array)]) -> Result<Vec<u8>, Failure> {
    let named: Vec<(&str, &Array)> = arrays.iter().map(|(name, array)| (*name, array)).collect();
    write_npz(&named).map_err(Failure::input)
}

pub(super) fn write_canaries(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    check_keeps_canaries(path, Some(bytes))?;
    write_atomically(path, bytes).map_err(|error| cannot_write(path, &error))
}
