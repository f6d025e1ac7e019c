//! Files of typed tables: csv, or Parquet with the feature `parquet`.
//!
//! The library that decodes Parquet reserves the size that a page states before it can be limited, and
//! panics or aborts on some damaged files. Neither a check of the footer nor `catch_unwind` prevents
//! that, so this program decodes in another process of itself, whose memory, time and output are
//! limited: whatever a file does to it is one error here. It is no sandbox against a flaw of the
//! decoder that executes code. The decoder is not part of `dpscope-formats`, whose readers never panic and
//! check every size before they allocate.
//!
//! The other process writes the table as csv, which is read as every csv is, within the same limits.

#[cfg(feature = "parquet")]
mod decoder;
#[cfg(feature = "parquet")]
mod limited_process;
#[cfg(feature = "parquet")]
mod parquet;

use std::borrow::Cow;
use std::path::Path;

use dpscope_formats::Limits;
use dpscope_formats::table::{ColumnKind, Rows, Schema, is_parquet, read_table};

use crate::failure::Failure;
use crate::files::read;

#[cfg(feature = "parquet")]
pub(crate) use decoder::decode_if_asked;

/// A file of a table.
#[derive(Debug)]
pub(crate) struct TableFile<'a> {
    path: &'a Path,
    /// The file.
    pub(crate) bytes: Vec<u8>,
    /// The same table as csv, if the file is not.
    converted: Option<Vec<u8>>,
}

impl<'a> TableFile<'a> {
    /// Reads a file. Names of the schema say how Boolean values are written.
    pub(crate) fn read(
        path: &'a Path,
        limits: &Limits,
        schema: Option<&Schema>,
    ) -> Result<Self, Failure> {
        let bytes = read(path, limits)?;
        let converted = match is_parquet(&bytes) {
            true => Some(convert(&bytes, boolean_names(schema)).map_err(|f| f.about(path))?),
            false => None,
        };
        Ok(TableFile { path, bytes, converted })
    }

    /// The table as csv.
    pub(crate) fn csv(&self) -> &[u8] {
        self.converted.as_deref().unwrap_or(&self.bytes)
    }

    /// Whether the file itself is not csv.
    pub(crate) fn is_converted(&self) -> bool {
        self.converted.is_some()
    }

    /// The rows; an error ends with the remedy.
    pub(crate) fn rows(
        &self,
        schema: &Schema,
        limits: &Limits,
        remedy: &str,
    ) -> Result<Rows, Failure> {
        read_table(self.csv(), schema, limits)
            .map_err(|error| self.refusal(format_args!("{error}; {remedy}")))
    }

    /// An error about the csv.
    pub(crate) fn refusal(&self, problem: impl std::fmt::Display) -> Failure {
        let converted = if self.is_converted() { "converted to csv: " } else { "" };
        Failure::input(format_args!("{converted}{problem}")).about(self.path)
    }
}

/// How the schema writes false and true: pandas has `True`, polars and Spark `true`, R `TRUE`.
fn boolean_names(schema: Option<&Schema>) -> [Cow<'_, str>; 2] {
    let columns = schema.map(Schema::columns).unwrap_or_default();
    let found = columns.iter().find_map(|column| {
        let ColumnKind::Category { names } = &column.kind else { return None };
        let find = |value: &str| names.iter().find(|name| name.eq_ignore_ascii_case(value));
        Some([find("false")?, find("true")?].map(|name| Cow::from(name.as_str())))
    });
    found.unwrap_or([Cow::from("false"), Cow::from("true")])
}

#[cfg(feature = "parquet")]
fn convert(bytes: &[u8], booleans: [Cow<'_, str>; 2]) -> Result<Vec<u8>, Failure> {
    decoder::to_csv(bytes, &booleans)
}

#[cfg(not(feature = "parquet"))]
fn convert(_: &[u8], _: [Cow<'_, str>; 2]) -> Result<Vec<u8>, Failure> {
    Err(Failure::input(
        "is a Parquet file, which this build cannot read; install dpscope with `--features parquet`, or \
         convert the file to csv, for example with pandas.read_parquet(path).to_csv(out, index=False)",
    ))
}

#[cfg(test)]
mod tests {
    use dpscope_formats::table::Column;

    use super::*;

    #[test]
    fn boolean_names_are_those_of_the_schema() {
        let schema = |names: &[&str]| {
            let names = names.iter().map(ToString::to_string).collect();
            let kind = ColumnKind::Category { names };
            Schema::new(vec![Column { name: "c".to_string(), kind }]).unwrap()
        };
        assert_eq!(boolean_names(Some(&schema(&["True", "False"]))), ["False", "True"]);
        assert_eq!(boolean_names(Some(&schema(&["TRUE", "x"]))), ["false", "true"]);
        assert_eq!(boolean_names(None), ["false", "true"]);
    }

    #[test]
    #[cfg(not(feature = "parquet"))]
    fn a_build_without_parquet_states_the_remedy() {
        let refused = convert(b"PAR1", boolean_names(None)).unwrap_err().error.to_string();
        assert!(refused.contains("`--features parquet`") && refused.contains("csv"), "{refused}");
    }
}
