//! Published tables, as files of the program.

use serde::de::DeserializeOwned;

use crate::failure::{Exit, Failure};

fn unreadable(error: impl std::fmt::Display) -> Failure {
    Failure::with(Exit::Internal, format!("published numbers cannot be read: {error}"))
}

/// The rows of a table with a heading.
pub(super) fn csv<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, Failure> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    rows.collect::<Result<_, _>>().map_err(unreadable)
}

/// A document.
pub(super) fn toml<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    toml::from_str(text).map_err(unreadable)
}
