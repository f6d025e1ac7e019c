//! `dpscope canaries`: canaries for audits of one run.

mod direction;
mod make;
pub(crate) mod optimise;
mod rows;
mod verify;

use std::path::Path;

use direction::DirectionArgs;
use dpscope_formats::{Array, write_npz};
use make::MakeArgs;
use optimise::OptimiseArgs;
use rows::RowsArgs;
use verify::VerifyArgs;

use crate::failure::{CommandResult, Failure};
use crate::files::{cannot_write, limits, read_own, write_atomically};

pub(crate) fn run(canaries: &Canaries) -> CommandResult {
    canaries.run()
}

subcommands! {
    Canaries {
        /// Choose records of a file as canaries, or draw directions of gradients.
        Make(MakeArgs) => make,
        /// Optimise canaries so that a trained model reveals whether it saw them.
        Optimise(Box<OptimiseArgs>) => optimise,
        /// Write the update direction of a canary client in a committed plan.
        Direction(DirectionArgs) => direction,
        /// Draw canary rows for one run of a generator of synthetic rows.
        Rows(Box<RowsArgs>) => rows,
        /// Check canaries against a committed plan.
        Verify(VerifyArgs) => verify,
    }
}

/// Refuses an existing file, unless it has exactly these bytes: canaries do not say which plans are
/// committed to them.
fn check_keeps_canaries(path: &Path, own: Option<&[u8]>) -> Result<(), Failure> {
    let is_own =
        own.is_some_and(|own| read_own(path, &limits()).is_ok_and(|existing| existing == own));
    if !path.exists() || is_own {
        return Ok(());
    }
    let problem = "exists: canaries are never overwritten, since a plan may be committed to them; \
                   choose another file, or remove this one";
    Err(Failure::input(problem).about(path))
}

fn canary_file(arrays: &[(&str, Array)]) -> Result<Vec<u8>, Failure> {
    let named: Vec<(&str, &Array)> = arrays.iter().map(|(name, array)| (*name, array)).collect();
    write_npz(&named).map_err(Failure::input)
}

fn write_canaries(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    check_keeps_canaries(path, Some(bytes))?;
    write_atomically(path, bytes).map_err(|error| cannot_write(path, &error))
}
