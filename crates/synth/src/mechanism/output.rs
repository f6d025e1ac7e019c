//! What a mechanism publishes.

use crate::table::{Rows, Scaling};
use crate::trace::Trace;

/// What a mechanism publishes besides its rows; it needs no run.
#[derive(Debug, Clone, PartialEq)]
pub struct Release {
    /// Number of synthetic rows.
    pub rows: u32,
    /// Rows per training step.
    pub batch_size: u32,
    /// δ of the accountant.
    pub delta: f64,
    /// How each column is scaled.
    pub scalings: Vec<Scaling>,
    /// Number of rows with each label, if it does not depend on the run.
    pub label_counts: Option<Vec<u64>>,
}

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The released rows.
    pub rows: Rows,
    /// What the run did.
    pub trace: Trace,
}
