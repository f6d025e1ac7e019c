//! Features of runs that the user computed: one row of numbers per run.

use dpscope_formats::Limits;
use dpscope_formats::table::{
    Column, ColumnKind, Schema, TableFileError, read_column_names, read_table,
};

/// Features of the runs of a world.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureTable {
    /// Name of each feature.
    pub names: Vec<String>,
    /// One list of features per run.
    pub runs: Vec<Vec<f64>>,
}

/// Reads csv with a line of names, then one line of finite numbers per run.
///
/// | argument | meaning |
/// |---|---|
/// | `bytes` | the file, UTF-8 |
/// | `names` | those that it must have; none for any |
/// | `limits` | on the file, its values and its cells |
///
/// # Errors
/// [`TableFileError`], with line and column.
///
/// # Example
/// ```
/// use dpscope_formats::Limits;
/// use dpscope_synth::generator::read_features;
/// let table = read_features(b"a,b\n1,2\n3,4e-1\n", None, &Limits::default())?;
/// assert_eq!(table.runs, [[1.0, 2.0], [3.0, 0.4]]);
/// let refused = read_features(b"a,c\n1,2\n", Some(&table.names), &Limits::default());
/// assert!(refused.unwrap_err().to_string().starts_with("column 2 is `c`, and the schema has `b`"));
/// # Ok::<(), dpscope_formats::table::TableFileError>(())
/// ```
pub fn read_features(
    bytes: &[u8],
    names: Option<&[String]>,
    limits: &Limits,
) -> Result<FeatureTable, TableFileError> {
    let names = match names {
        Some(names) => names.to_vec(),
        None => read_column_names(bytes, limits)?,
    };
    let kind = ColumnKind::Number { low: f64::MIN, high: f64::MAX };
    let columns = names.iter().map(|name| Column { name: name.clone(), kind: kind.clone() });
    let schema = Schema::new(columns.collect())
        .map_err(|error| TableFileError::Line { line: 1, reason: error.to_string() })?;
    let rows = read_table(bytes, &schema, limits)?;
    let runs = rows.iter().map(<[f64]>::to_vec).collect();
    Ok(FeatureTable { names, runs })
}
