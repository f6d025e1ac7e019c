//! Files of a page, which never leave it.

use dpscope_formats::{FormatError, Limits};

/// Limits of a page: 128 MiB per file, 8 million numbers.
pub(crate) fn limits() -> Limits {
    Limits { max_arrays: 1 << 10, ..Limits::for_memory(128 << 20) }
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
