//! Bounds again, from the counts in a report.
//!
//! A report whose values follow from its counts is consistent. That does not show who made it, or that the
//! counts were observed: whoever changes counts can compute the values that belong to them.

mod audits;
mod canaries;
mod checker;
mod open;
mod theory;

pub use open::OpenValue;

use serde_json::Value;

use checker::Checker;

/// What a recomputation found.
#[derive(Debug, Clone, PartialEq)]
pub struct Recomputation {
    /// Name and version of the report.
    pub schema: String,
    /// JSON pointers of the values that were computed again.
    pub checked: Vec<String>,
    /// JSON pointers of the numbers that they were computed from.
    pub used: Vec<String>,
    /// Those that differ.
    pub differences: Vec<Difference>,
    /// Numbers that do not follow from others in the report.
    pub open: Vec<OpenValue>,
}

/// A value that does not follow from the counts of its report.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Its JSON pointer.
    pub pointer: String,
    /// What the report says.
    pub stated: Value,
    /// What follows from the counts.
    pub expected: Value,
}

/// A report that cannot be computed again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecomputeError {
    /// No `schema` field of this program.
    #[error(
        "this is not a report of dpscope: it has no field `schema` that starts with \"dpscope.\""
    )]
    NoReport,
    /// A document of another kind or version.
    #[error("the schema is {found}, and this version reads {}", KNOWN.join(", "))]
    Schema {
        /// Its schema.
        found: String,
    },
    /// A field without a value of its type.
    #[error("{pointer} is missing, or is not {expected}")]
    Field {
        /// Its JSON pointer.
        pointer: String,
        /// What it should be.
        expected: &'static str,
    },
    /// Numbers that no audit has.
    #[error("the counts at {pointer} are impossible: {problem}")]
    Counts {
        /// The JSON pointer of the counts.
        pointer: &'static str,
        /// What is wrong.
        problem: String,
    },
}

const KNOWN: [&str; 8] = [
    "dpscope.report/2",
    "dpscope.one_run/1",
    "dpscope.one_shot/1",
    "dpscope.pategan/1",
    "dpscope.generator/1",
    "dpscope.check/1",
    "dpscope.comparison/1",
    "dpscope.imported/1",
];

/// Computes what follows from the counts in a report, and compares it.
///
/// Values are compared bit for bit: reports have the same bits on every platform.
///
/// # Guarantee
/// An edit of any number of `checked` or `used` is detected
/// (`tests/cli/reports/recompute.rs::every_edited_number_is_detected_or_listed_as_open`).
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
        "dpscope.one_shot/1" => canaries::one_shot(&mut checker)?,
        "dpscope.pategan/1" => audits::pategan(&mut checker)?,
        "dpscope.generator/1" => audits::generator(&mut checker)?,
        "dpscope.check/1" => theory::check(&mut checker)?,
        "dpscope.comparison/1" => theory::comparison(&mut checker)?,
        "dpscope.imported/1" => theory::imported(&mut checker)?,
        other => return Err(RecomputeError::Schema { found: other.chars().take(80).collect() }),
    }
    Ok(checker.finish(schema))
}
