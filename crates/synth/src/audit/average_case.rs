//! A table of the size of a published average case.

use dpscope_core::math;
use dpscope_core::random::{Purpose, Words};
use dpscope_core::special::normal_quantile;

use super::error::AuditError;
use crate::table::{Column, ColumnKind, Schema, Table, Value};

/// Rows and columns of the published average case.
const ROWS: u64 = 686;
const COUNTS: usize = 8;
const FLAGS: usize = 20;
/// Upper bound of a count.
const MOST: i32 = 60;
/// Share of rows with the label 1, as published.
const POSITIVE: f64 = 0.0641;

/// 686 rows of 29 columns, the size of a published average case, whose data are of third parties: rows of
/// a distribution of our own, always the same ones.
///
/// Each row has a factor u, and each cell z = λu + √(1 − λ²)e, where u and all e are independent
/// N(0, 1).
///
/// | columns | value | λ |
/// |---|---|---|
/// | 8 counts, 0 to 60 | min(60, ⌊exp(1 + 0.8z)⌋) | 0.5 |
/// | 20 flags, j = 0 … 19 | 1 where z > Φ⁻¹(1 − 0.4·0.85ʲ) | 0.5 |
/// | label | 1 where z > Φ⁻¹(1 − 0.0641) | 0.8 |
///
/// Bounds are public: 0 to 60, 0 or 1.
///
/// # Errors
/// None for these constants.
pub fn average_case() -> Result<Table, AuditError> {
    let column = |at: usize| {
        let (name, high) = match at < COUNTS {
            true => (format!("count_{at}"), MOST),
            false => (format!("flag_{}", at - COUNTS), 1),
        };
        Column { name, kind: ColumnKind::Integer { low: 0, high } }
    };
    let names = ["0", "1"].map(String::from).to_vec();
    let label = Column { name: "label".to_owned(), kind: ColumnKind::Category { names } };
    let columns = (0..COUNTS + FLAGS).map(column).chain([label]);
    let schema = Schema::new(columns.collect())?.with_label("label")?;
    let mut words = Words::new(0, Purpose::SyntheticData, 29);
    let mut row = |id: u64| {
        let factor = words.normal();
        let mut latent =
            |loading: f64| loading * factor + (1.0 - loading * loading).sqrt() * words.normal();
        let exceeds = |z: f64, share: f64| {
            u8::from(normal_quantile(1.0 - share).is_ok_and(|threshold| z > threshold))
        };
        let mut cells: Vec<Value> = (0..COUNTS)
            .map(|_| math::exp(1.0 + 0.8 * latent(0.5)).floor().min(f64::from(MOST)))
            .map(Value::Number)
            .collect();
        let mut share = 0.4;
        for _ in 0..FLAGS {
            cells.push(Value::Number(f64::from(exceeds(latent(0.5), share))));
            share *= 0.85;
        }
        cells.push(Value::Category(exceeds(latent(0.8), POSITIVE).to_string()));
        (id, cells)
    };
    Ok(Table::new(schema, &(0..ROWS).map(&mut row).collect::<Vec<_>>())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_those_of_the_distribution() {
        let table = average_case().unwrap();
        assert_eq!((table.ids().len(), table.schema().columns().len()), (686, 29));
        let mean =
            |column: usize| table.rows().iter().map(|row| row[column]).sum::<f64>() / ROWS as f64;
        // four standard errors of a share
        for (column, share) in [(8, 0.4), (12, 0.4 * 0.522), (28, POSITIVE)] {
            let error = 4.0 * (share * (1.0 - share) / ROWS as f64).sqrt();
            assert!((mean(column) - share).abs() < error, "{column}: {}", mean(column));
        }
        // E exp(1 + 0.8 z) = exp(1.32) = 3.74, minus about a half for the floor
        assert!((mean(0) - 3.25).abs() < 0.5, "{}", mean(0));
        assert_eq!(table, average_case().unwrap());
    }
}
