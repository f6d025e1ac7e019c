//! What an experiment has found.

use serde_json::Value;

use super::names::{Notes, Table};
use super::page::Numbers;

/// A repeated experiment.
pub(super) struct Reproduced {
    /// The data file with its words.
    pub(super) page: &'static str,
    pub(super) numbers: Numbers,
    /// What is missing, if Ctrl-C stopped it.
    pub(super) interrupted: Option<String>,
}

impl Reproduced {
    pub(super) fn new(
        page: &'static str,
        facts: Value,
        tables: Vec<Table>,
        notes: Vec<Notes>,
    ) -> Self {
        let numbers = Numbers { facts, tables, notes };
        Self { page, numbers, interrupted: None }
    }
}
