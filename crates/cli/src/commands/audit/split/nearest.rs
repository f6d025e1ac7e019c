//! Scores of rows by the rows that a generator released.

use std::path::Path;

use dpscope_core::audit::split::nearest_distances;
use dpscope_core::foreign_text::ForeignText;

use crate::commands::audit::recorded::{check_finite, table_of};
use crate::failure::Failure;

/// Most differences of numbers: about a minute.
const MOST_WORK: f64 = 1e11;

/// Minus the distance of each row to the nearest released one, for members and non-members.
///
/// Columns are scaled by their standard deviation over the rows of both sides together: a scale of one side
/// alone would know the sides. Distances are Euclidean.
pub(super) fn scores(sides: [&Path; 2], synthetic: &Path) -> Result<[Vec<f64>; 2], Failure> {
    let [members, others] = sides;
    let first = table(members, "members")?;
    let second = table(others, "non_members")?.in_order_of(&first, others, members)?;
    let released = table(synthetic, "synthetic")?.in_order_of(&first, synthetic, members)?;
    let tables = [first, second];
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
        let distances = nearest_distances(&table.values, &released.values, table.columns);
        distances.into_iter().map(|distance| -distance).collect()
    }))
}

/// Rows of numbers, with the names of their columns where the file has them.
struct Table {
    names: Option<Vec<String>>,
    columns: usize,
    values: Vec<f64>,
}

fn table(path: &Path, name: &str) -> Result<Table, Failure> {
    let (names, array) = table_of(path, name)?;
    let remedy =
        "give every row a finite number in every column, or leave the column out of all tables";
    check_finite(&array, path, remedy)?;
    let (shape, values) = array.into_parts();
    let columns = match shape[..] {
        [_] => 1,
        [_, columns] if columns > 0 => columns,
        _ => {
            return Err(Failure::input(format!("has shape {shape:?}; expected rows and columns"))
                .about(path));
        }
    };
    Ok(Table { names, columns, values })
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

    /// The columns in the order of another table, if both have names.
    fn in_order_of(mut self, first: &Table, path: &Path, other: &Path) -> Result<Self, Failure> {
        let (Some(names), Some(wanted)) = (&self.names, &first.names) else { return Ok(self) };
        if names == wanted {
            return Ok(self);
        }
        let place_of = |wanted: &String| {
            names.iter().position(|name| name == wanted).ok_or_else(|| {
                Failure::input(format!(
                    "has no column `{}`, and {} has one; give all tables the same columns",
                    ForeignText::new(wanted),
                    other.display()
                ))
                .about(path)
            })
        };
        let places = wanted.iter().map(place_of).collect::<Result<Vec<usize>, _>>()?;
        if places.len() == self.columns {
            let rows = self.values.chunks(self.columns);
            self.values = rows.flat_map(|row| places.iter().map(|&place| row[place])).collect();
        }
        Ok(self)
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
