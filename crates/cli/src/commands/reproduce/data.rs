//! Published tables, as files of the program, and the command lines in them.

use std::collections::BTreeMap;

use clap::{Args, Command};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::failure::{Exit, Failure};

fn unreadable(error: impl std::fmt::Display) -> Failure {
    Failure::with(Exit::Internal, format!("published numbers cannot be read: {error}"))
}

/// The rows of a table with a heading.
pub(super) fn csv<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, Failure> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    rows.collect::<Result<_, _>>().map_err(unreadable)
}

/// The rows of a table of numbers and texts, with null for each empty cell.
pub(super) fn values(text: &str) -> Result<Vec<Value>, Failure> {
    #[derive(Deserialize, Serialize)]
    #[serde(untagged)]
    enum Cell {
        Number(f64),
        Text(String),
    }
    let rows: Vec<BTreeMap<String, Option<Cell>>> = csv(text)?;
    Ok(rows.iter().map(|row| json!(row)).collect())
}

/// A document.
pub(super) fn toml<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    toml::from_str(text).map_err(unreadable)
}

/// The entries of a document that is one list.
pub(super) fn list<T: DeserializeOwned>(text: &str) -> Result<Vec<T>, Failure> {
    let lists: BTreeMap<String, Vec<T>> = toml(text)?;
    Ok(lists.into_values().flatten().collect())
}

/// The options of a command, as they stand on its command line.
pub(super) fn arguments<A: Args>(options: &str) -> Result<A, Failure> {
    let command = A::augment_args(Command::new("dpscope").no_binary_name(true));
    let matches = command.try_get_matches_from(options.split_whitespace());
    matches.and_then(|matches| A::from_arg_matches(&matches)).map_err(unreadable)
}
