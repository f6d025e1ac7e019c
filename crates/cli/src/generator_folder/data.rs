//! The data of both worlds: they may differ by the target row alone.

use std::path::Path;

use dpscope_core::adjacency::World;
use dpscope_formats::Limits;
use dpscope_formats::table::{Rows, Schema, read_table, write_table};

use super::{DATA, Manifest, RunPlace, read_rows};
use crate::failure::Failure;

/// The data of a world.
pub(crate) fn data_file(folder: &Path, world: World) -> std::path::PathBuf {
    folder.join(DATA).join(format!("{}.csv", RunPlace::world_name(world)))
}

/// The row of these cells.
pub(crate) fn row_of(cells: &[String], schema: &Schema) -> Result<Vec<f64>, String> {
    let none = Rows { columns: schema.columns().len(), values: Vec::new() };
    let quoted: Vec<String> =
        cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
    let text = format!("{}{}\n", write_table(schema, &none), quoted.join(","));
    let rows = read_table(text.as_bytes(), schema, &Limits::default());
    Ok(rows.map_err(|error| error.to_string())?.values)
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
            paths[1].display()
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

impl Manifest {
    /// The target row.
    pub(crate) fn target_row(&self, schema: &Schema) -> Result<Vec<f64>, Failure> {
        let cells = self.target.as_deref().unwrap_or_default();
        row_of(cells, schema)
            .map_err(|why| Failure::input(format!("the target of {}: {why}", super::MANIFEST)))
    }
}
