//! Files of a page, which never leave it.

#[cfg(feature = "files")]
use dpscope_formats::{Dataset, MissingValues};
use dpscope_formats::{FormatError, Limits};

#[cfg(feature = "files")]
use crate::failure::{Failure, FailureKind};

/// Limits of a page: 128 MiB per file, 8 million numbers.
pub(crate) fn limits() -> Limits {
    Limits { max_arrays: 1 << 10, ..Limits::for_memory(128 << 20) }
}

/// A file of a page.
#[cfg(feature = "files")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct File<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) name: &'a str,
}

#[cfg(feature = "files")]
pub(crate) fn unreadable(field: &'static str, name: &str, why: &dyn std::fmt::Display) -> Failure {
    let message = format!("{name}: {why}");
    Failure { field: Some(field), ..Failure::of(FailureKind::File, &message) }
}

#[cfg(feature = "files")]
pub(crate) fn opened(file: File<'_>, missing: MissingValues) -> Result<Dataset<'_>, String> {
    Dataset::open_as(file.bytes, file.name, &limits(), missing).map_err(|error| with_remedy(&error))
}

/// What a page cannot hold, the program can.
pub(crate) fn with_remedy(error: &FormatError) -> String {
    match error {
        FormatError::LimitExceeded { .. } => {
            format!("{error}; `dpscope audit` reads larger files")
        }
        _ => error.to_string(),
    }
}

/// The numbers of an array of which every axis but one has length 1; else its shape.
#[cfg(feature = "files")]
pub(crate) fn column(array: dpscope_formats::Array) -> Result<Vec<f64>, Vec<usize>> {
    let (shape, data) = array.into_parts();
    if shape.iter().filter(|&&length| length > 1).count() > 1 { Err(shape) } else { Ok(data) }
}
