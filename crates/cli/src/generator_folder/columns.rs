//! Columns of data whose bounds nobody stated: an audit with them reports no ε.

use std::collections::BTreeSet;
use std::path::Path;

use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::table::{TableFileError, is_parquet};
use dpscope_synth::generator::ColumnEntry;

use crate::failure::Failure;
use crate::files::{limits, read};

/// Most categories that are taken from data.
const MOST_CATEGORIES: usize = 1_000;

/// Minimum and maximum of numbers, all values of others.
pub(crate) fn columns_from_data(path: &Path) -> Result<Vec<ColumnEntry>, Failure> {
    let bytes = read(path, &limits())?;
    if is_parquet(&bytes) {
        return Err(Failure::input(TableFileError::Parquet).about(path));
    }
    let mut reader = csv::Reader::from_reader(&*bytes);
    let refused = |error: csv::Error| Failure::input(ForeignText::of(error)).about(path);
    let names: Vec<String> = reader.headers().map_err(refused)?.iter().map(str::to_owned).collect();
    let mut values: Vec<BTreeSet<String>> = vec![BTreeSet::new(); names.len()];
    for record in reader.records() {
        for (column, cell) in values.iter_mut().zip(&record.map_err(refused)?) {
            column.insert(cell.to_owned());
        }
    }
    names.into_iter().zip(values).map(|(name, values)| entry(name, values, path)).collect()
}

fn entry(name: String, values: BTreeSet<String>, path: &Path) -> Result<ColumnEntry, Failure> {
    let integers: Option<Vec<i32>> = values.iter().map(|cell| cell.trim().parse().ok()).collect();
    let integers = integers.unwrap_or_default();
    if let (Some(&low), Some(&high)) = (integers.iter().min(), integers.iter().max()) {
        return Ok(ColumnEntry::Integer { name, low, high });
    }
    let finite = |cell: &String| cell.trim().parse().ok().filter(|x: &f64| x.is_finite());
    let numbers: Option<Vec<f64>> = values.iter().map(finite).collect();
    if let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) {
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        return Ok(ColumnEntry::Number { name, low, high });
    }
    match values.len() {
        0 => Err(Failure::input("has no rows").about(path)),
        1..=MOST_CATEGORIES => {
            Ok(ColumnEntry::Category { name, names: values.into_iter().collect() })
        }
        many => Err(Failure::input(format!(
            "column `{name}` has {many} categories; state them in --columns"
        ))
        .about(path)),
    }
}
