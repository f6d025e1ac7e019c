//! The data of both worlds: they may differ by the target row alone.

use std::path::Path;

use dpscope_core::adjacency::World;
use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::table::{Rows, Schema};
use dpscope_synth::generator::Manifest;

use super::{RunPlace, read_rows};
use crate::committed::DATA;
use crate::failure::Failure;

/// The data of a world.
pub(crate) fn data_file(folder: &Path, world: World) -> std::path::PathBuf {
    folder.join(DATA).join(format!("{}.csv", RunPlace::world_name(world)))
}

/// Checks that the data differ by the target row alone. False if there are no data.
pub(crate) fn check_worlds(
    folder: &Path,
    manifest: &Manifest,
    schema: &Schema,
) -> Result<bool, Failure> {
    let paths = World::BOTH.map(|world| data_file(folder, world));
    if !paths.iter().any(|path| path.exists()) {
        return Ok(false);
    }
    let [with, without] = [read_rows(&paths[0], schema)?, read_rows(&paths[1], schema)?];
    let target = manifest.target_row(schema)?;
    if without.iter().any(|row| row == target) {
        return Err(Failure::input(
            "contains the target row, which must be absent there; remove it, or choose a target that \
             occurs once",
        )
        .about(&paths[1]));
    }
    let mut expected = without;
    expected.values.extend(&target);
    match ordered(&with) == ordered(&expected) {
        true => Ok(true),
        false => Err(Failure::input(format!(
            "is not {} and the target row; the data of both worlds must differ by this row alone: write \
             them with `dpscope plan generator`",
            ForeignText::new(&paths[1])
        ))
        .about(&paths[0])),
    }
}

fn ordered(rows: &Rows) -> Vec<&[f64]> {
    let mut rows: Vec<&[f64]> = rows.iter().collect();
    rows.sort_unstable_by(|one, other| {
        let pairs = one.iter().zip(*other);
        pairs
            .map(|(a, b)| a.total_cmp(b))
            .find(|order| order.is_ne())
            .unwrap_or(one.len().cmp(&other.len()))
    });
    rows
}
