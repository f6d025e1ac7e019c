//! Bounds again, from the counts in a report.
//!
//! A report whose values follow from its counts is consistent. That does not show who made it, or that the
//! counts were observed: whoever changes counts can compute the values that belong to them.

pub(crate) mod audits;
pub(crate) mod canaries;
mod checker;
mod findings;
mod json;
pub(crate) mod one_shot;
pub(crate) mod open;
mod result;
pub(crate) mod run_attack;
mod sharing;
pub(crate) mod theory;
pub(crate) mod verdict;

pub use checker::Checker;
pub use json::parse_report;
pub use open::{OpenValue, OpenValues};
pub use result::{
    Difference, Recomputation, RecomputationOutcome, RecomputationReport, RecomputeError,
};
