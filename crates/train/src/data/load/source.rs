//! The content of a file, before and after it is parsed.

use dpscope_core::foreign_text::ForeignText;
use dpscope_formats::{FormatError, Limits};

use crate::data::error::DataError;
use crate::data::examples::Features;
use crate::model::Shape;

/// Name and content of a file. The name is used in messages and to recognise formats.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// File name without its directory.
    pub name: &'a str,
    /// Content, optionally gzip-compressed.
    pub bytes: &'a [u8],
}

/// Selects what is loaded from a file.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions<'a> {
    /// Number of training records, taken from the start of the fixed order; the rest is held out.
    /// `None` uses all records for training.
    pub records: Option<usize>,
    /// Labels to select; the first becomes class 0, and so on. `None` selects all, in ascending
    /// order.
    pub classes: Option<&'a [u32]>,
    /// The column of a csv file with a header line, or the array of an npz file, whose values are the
    /// clients of the records. Nine tenths of the records of each client are then used for training,
    /// whatever `records` says.
    pub client_column: Option<&'a str>,
    /// Limits on reading.
    pub limits: Limits,
}

/// All records of a file, in file order.
pub(super) struct LabelledRecords {
    pub(super) format: &'static str,
    pub(super) shape: Shape,
    pub(super) features: Features,
    pub(super) labels: Vec<u32>,
    pub(super) clients: Option<FileClients>,
}

/// A parsed file: features, and labels if the format includes them.
pub(super) struct ParsedFile {
    pub(super) format: &'static str,
    pub(super) shape: Shape,
    pub(super) features: Features,
    pub(super) records: usize,
    pub(super) labels: Option<Vec<u32>>,
    pub(super) clients: Option<FileClients>,
}

/// Records of clients, numbered in the order of their values in the file.
#[derive(Debug, PartialEq)]
pub(super) struct FileClients {
    /// Name of the column.
    pub(super) column: String,
    /// The client of each record.
    pub(super) of_records: Vec<u32>,
    /// What stands for each client in the file.
    pub(super) values: Vec<f64>,
}

/// Largest label.
pub(super) const MAX_LABEL: u32 = 65_535;

/// File name in lower case without `.gz`.
pub(super) fn uncompressed_name(file_name: &str) -> String {
    let name = file_name.to_ascii_lowercase();
    name.strip_suffix(".gz").map(str::to_owned).unwrap_or(name)
}

/// Whether a lower-case name is that of an IDX file.
pub(super) fn has_idx_name(name: &str) -> bool {
    name.contains("-idx") || name.ends_with(".idx") || name.ends_with("-ubyte")
}

pub(super) fn format_error(source: Source<'_>, error: FormatError) -> DataError {
    DataError::Format { name: ForeignText::new(source.name), source: error }
}
