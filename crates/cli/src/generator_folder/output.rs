//! Outputs of runs, valid, failed or missing.

use std::path::{Path, PathBuf};

use dpscope_core::adjacency::World;
use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::table::{Rows, Schema};
use dpscope_synth::generator::{Manifest, Outcome, OutcomeError};

use crate::failure::Failure;
use crate::file_id::is_only_name;
use crate::files::{cannot_write, limits, read, read_own, read_text, table_rows, write_atomically};
use crate::shell::quoted_path;

/// What a second execution of a run gave.
pub(crate) const SEED_CHECK: &str = "seed-check.txt";
/// A reason for a failure is a few lines.
const MOST_REASON_BYTES: u64 = 1 << 20;

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunPlace<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) world: World,
    pub(crate) run: u64,
}

impl<'a> RunPlace<'a> {
    pub(crate) fn world_name(world: World) -> &'static str {
        match world {
            World::Target => "with",
            World::ZeroOut => "without",
        }
    }

    /// As "with/0003".
    pub(crate) fn name(&self) -> String {
        format!("{}/{:04}", Self::world_name(self.world), self.run)
    }

    /// The file of this kind.
    pub(crate) fn file(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.name()))
    }

    pub(crate) fn is_done(&self) -> bool {
        self.file("csv").exists() || self.file("failed").exists()
    }

    /// The outcome of a run that is done.
    pub(crate) fn outcome(&self, manifest: &Manifest, schema: &Schema) -> Result<Outcome, Failure> {
        let (csv, failed) = (self.file("csv"), self.file("failed"));
        match (csv.exists(), failed.exists()) {
            (true, true) => Err(Failure::input(
                "exists beside the csv of the same run, which is therefore both done and failed; \
                 remove the wrong one",
            )
            .about(&failed)),
            (false, false) => Err(Failure::input(format!(
                "is missing: finish the runs with `dpscope generator run {}`, or, for a run that failed, \
                 write the reason to {}",
                quoted_path(self.folder),
                ForeignText::new(&failed)
            ))
            .about(&csv)),
            (false, true) => {
                let reason = read_text(&failed, MOST_REASON_BYTES)?;
                Ok(Outcome::Failed(reason.lines().next().unwrap_or_default().to_owned()))
            }
            (true, false) => {
                let rows = read_rows(&csv, schema)?;
                manifest.check_rows(&rows).map_err(|problem| {
                    Failure::input(OutcomeError::Rows { problem }).about(&csv)
                })?;
                Ok(Outcome::Rows(rows))
            }
        }
    }
}

/// The rows of a file.
pub(crate) fn read_rows(path: &Path, schema: &Schema) -> Result<Rows, Failure> {
    rows_of(&read(path, &limits())?, path, schema)
}

/// The rows that a command wrote to a file. A linked file is replaced by a copy.
pub(crate) fn read_released(path: &Path, schema: &Schema) -> Result<Rows, Failure> {
    let bytes = read_own(path, &limits())?;
    let rows = rows_of(&bytes, path, schema)?;
    // a link may lead to a file that changes later
    if !is_only_name(path) {
        write_atomically(path, &bytes).map_err(|error| cannot_write(path, &error))?;
    }
    Ok(rows)
}

fn rows_of(bytes: &[u8], path: &Path, schema: &Schema) -> Result<Rows, Failure> {
    let remedy =
        "tables must match the columns in the manifest; fix the program that writes this one";
    table_rows(path, bytes, schema, &limits(), remedy)
}
