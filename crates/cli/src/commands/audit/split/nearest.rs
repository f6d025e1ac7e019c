//! Scores of rows by the rows that a generator released.

use std::path::Path;

use crate::commands::audit::recorded::{array_of, check_finite};
use crate::failure::Failure;

/// Most differences of numbers: about a minute.
const MOST_WORK: f64 = 1e11;

/// Minus the distance of each row to the nearest released one, for members and non-members.
///
/// Columns are scaled by their standard deviation over the rows of both sides together: a scale of one side
/// alone would know the sides. Distances are Euclidean.
pub(super) fn scores(sides: [&Path; 2], synthetic: &Path) -> Result<[Vec<f64>; 2], Failure> {
    let [members, others] = sides;
    let tables = [table(members, "members")?, table(others, "non_members")?];
    let released = table(synthetic, "synthetic")?;
    for (path, table) in [(others, &tables[1]), (synthetic, &released)] {
        if table.columns != tables[0].columns {
            return Err(Failure::input(format!(
                "has {} columns, and {} has {}; give all tables the same columns in the same order",
                table.columns,
                members.display(),
                tables[0].columns
            ))
            .about(path));
        }
    }
    let rows = (tables[0].rows() + tables[1].rows()) as f64;
    let work = rows * released.rows() as f64 * released.columns as f64;
    if work > MOST_WORK {
        return Err(Failure::input(format!(
            "{rows} rows against {} released ones of {} columns take too long; pass a random part of the \
             released rows",
            released.rows(),
            released.columns
        )));
    }
    let scales = scales(&tables);
    let released = released.scaled(&scales);
    Ok(tables.map(|table| {
        let table = table.scaled(&scales);
        table.values.chunks(table.columns).map(|row| -released.distance_to(row)).collect()
    }))
}

/// Rows of numbers.
struct Table {
    columns: usize,
    values: Vec<f64>,
}

fn table(path: &Path, name: &str) -> Result<Table, Failure> {
    let array = array_of(path, name, false)?;
    let remedy =
        "give every row a finite number in every column, or leave the column out of all tables";
    check_finite(&array, path, remedy)?;
    let (shape, values) = array.into_parts();
    let columns = match shape[..] {
        [_] => 1,
        [_, columns] => columns,
        _ => {
            return Err(Failure::input(format!("has shape {shape:?}; expected rows and columns"))
                .about(path));
        }
    };
    Ok(Table { columns, values })
}

impl Table {
    fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    fn scaled(mut self, scales: &[f64]) -> Self {
        for row in self.values.chunks_mut(self.columns) {
            row.iter_mut().zip(scales).for_each(|(value, scale)| *value /= scale);
        }
        self
    }

    fn distance_to(&self, row: &[f64]) -> f64 {
        let mut least = f64::INFINITY;
        for released in self.values.chunks(self.columns) {
            let mut sum = 0.0;
            for (one, other) in released.iter().zip(row) {
                sum += (one - other) * (one - other);
            }
            least = least.min(sum);
        }
        least.sqrt()
    }
}

/// Standard deviations of the columns over both sides; 1 for constant columns.
fn scales(tables: &[Table; 2]) -> Vec<f64> {
    let rows = || tables.iter().flat_map(|table| table.values.chunks(table.columns));
    let count = rows().count() as f64;
    (0..tables[0].columns)
        .map(|column| {
            let mean = rows().map(|row| row[column]).sum::<f64>() / count;
            let squares =
                rows().map(|row| (row[column] - mean) * (row[column] - mean)).sum::<f64>();
            let deviation = (squares / count).sqrt();
            if deviation > 0.0 { deviation } else { 1.0 }
        })
        .collect()
}
