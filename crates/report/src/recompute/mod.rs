//! Bounds again, from the counts in a report.
//!
//! A report whose values follow from its counts is consistent. That does not show who made it, or that the
//! counts were observed: whoever changes counts can compute the values that belong to them.

mod audits;
mod canaries;
mod checker;
mod findings;
mod generators;
mod json;
mod one_shot;
mod open;
mod result;
mod sharing;
#[cfg(test)]
mod tests;
mod theory;
mod verdict;

pub use json::parse_report;
pub use open::OpenValue;
pub use result::{
    Difference, Recomputation, RecomputationOutcome, RecomputationReport, RecomputeError,
};

use serde_json::Value;

use checker::Checker;

/// Computes what follows from the counts in a report, and compares it.
///
/// Values are compared bit for bit: reports have the same bits on every platform.
///
/// A bound of the headline that the report does not suffice to compute is in `not_compared`.
///
/// # Guarantee
/// An edit of any number, text or flag that is not in `open` is detected
/// (`tests/cli/reports/recompute.rs::every_edit_is_detected_or_listed_as_open`).
///
/// # Errors
/// [`RecomputeError`]: another document, a missing field, impossible counts.
pub fn recompute(report: &Value) -> Result<Recomputation, RecomputeError> {
    let schema = report.get("schema").and_then(Value::as_str).unwrap_or_default();
    if !schema.starts_with("dpscope.") {
        return Err(RecomputeError::NoReport);
    }
    let mut checker = Checker::new(report);
    match schema {
        "dpscope.report/2" => audits::two_worlds(&mut checker)?,
        "dpscope.one_run/1" => canaries::one_run(&mut checker)?,
        "dpscope.one_shot/1" => one_shot::one_shot(&mut checker)?,
        "dpscope.pategan/1" => generators::pategan(&mut checker)?,
        "dpscope.generator/1" => generators::generator(&mut checker)?,
        "dpscope.check/1" => theory::check(&mut checker)?,
        "dpscope.comparison/1" => theory::comparison(&mut checker)?,
        "dpscope.imported/1" => theory::imported(&mut checker)?,
        other => return Err(RecomputeError::Schema { found: other.chars().take(80).collect() }),
    }
    Ok(checker.finish(schema))
}
