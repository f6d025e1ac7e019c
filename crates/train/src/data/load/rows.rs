//! Text files with one record per row.

use dpscope_formats::{Limits, read_csv};

use super::arrays::{check_finite, packed, parse_label};
use super::source::{FileClients, ParsedFile, Source, format_error};
use crate::data::error::DataError;
use crate::model::Shape;

/// Parses rows of numbers; the first column contains the labels if `labels_first`, beside that of
/// clients.
pub(super) fn parse(
    source: Source<'_>,
    labels_first: bool,
    client_column: Option<&str>,
    limits: &Limits,
) -> Result<ParsedFile, DataError> {
    let mut table = read_csv(source.bytes, limits).map_err(|error| format_error(source, error))?;
    let mut clients = None;
    if let Some(column) = client_column {
        let (split, rest) = FileClients::split_off(source, column, table)?;
        (clients, table) = (Some(split), rest);
    }
    let (shape, mut values) = table.values.into_parts();
    let (records, columns) = (shape[0], shape.get(1).copied().unwrap_or(1));
    let mut features = columns;
    let mut labels = None;
    if labels_first {
        let first = values.chunks_exact(columns).map(|row| row[0]);
        let read: Result<Vec<u32>, DataError> =
            first.enumerate().map(|(record, label)| parse_label(source, record, label)).collect();
        labels = Some(read?);
        let mut column = 0..values.len();
        values.retain(|_| column.next().is_some_and(|at| at % columns != 0));
        features -= 1;
    }
    check_finite(source, &values, features)?;
    let shape = Shape { channels: features, height: 1, width: 1 };
    let features = packed(values, features);
    Ok(ParsedFile { format: "csv", shape, features, records, labels, clients })
}
