//! Rows drawn from the public domain of a schema.

use dpscope_core::random::Words;
use dpscope_formats::table::{ColumnKind, Schema};

/// A row, uniform in each column.
#[must_use]
pub fn uniform_row(schema: &Schema, words: &mut Words) -> Vec<f64> {
    schema.columns().iter().map(|column| uniform(&column.kind, words)).collect()
}

fn uniform(kind: &ColumnKind, words: &mut Words) -> f64 {
    match kind {
        ColumnKind::Number { low, high } => {
            let share = words.uniform();
            (low * (1.0 - share) + high * share).clamp(*low, *high)
        }
        ColumnKind::Integer { low, high } => {
            let values = i64::from(*high) - i64::from(*low) + 1;
            let drawn = match u32::try_from(values) {
                Ok(values) => words.below(values),
                Err(_) => words.next_word(), // all of 2³²
            };
            (i64::from(*low) + i64::from(drawn)) as f64
        }
        ColumnKind::Category { names } => f64::from(words.below(names.len() as u32)),
    }
}

/// A row like another one: one cell and about half of the others are drawn again.
pub(super) fn similar_row(row: &[f64], schema: &Schema, words: &mut Words) -> Vec<f64> {
    let always = words.below(row.len().max(1) as u32) as usize;
    let cell = |(at, (value, column)): (usize, (&f64, &dpscope_formats::table::Column))| {
        let is_drawn = at == always || words.uniform() < 0.5;
        if is_drawn { uniform(&column.kind, words) } else { *value }
    };
    row.iter().zip(schema.columns()).enumerate().map(cell).collect()
}
