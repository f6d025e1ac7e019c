//! The result of a sweep.

use dpscope_core::accounting::Training;
use serde::Serialize;

use crate::commands::lines::{Line, Quantity};

#[derive(Serialize)]
pub(super) struct Sweep {
    pub(super) schema: &'static str,
    pub(super) version: &'static str,
    pub(super) significance: f64,
    /// Rows of the input.
    pub(super) settings: usize,
    /// Finished rows, in the order of the input.
    pub(super) rows: Vec<SweepRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) device: Option<String>,
    #[serde(skip)]
    pub(super) quantities: Vec<Quantity>,
}

/// A training run and its values.
#[derive(Serialize)]
pub(super) struct SweepRow {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) setting: Training,
    pub(super) delta: f64,
    pub(super) values: Vec<Line>,
}
