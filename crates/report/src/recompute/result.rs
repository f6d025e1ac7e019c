//! What a recomputation finds, and why there may be none.

use serde_json::Value;

use super::open::OpenValue;

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
