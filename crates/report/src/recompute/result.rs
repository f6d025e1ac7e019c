//! What a recomputation finds, and why there may be none.

use serde::Serialize;
use serde_json::Value;

use super::open::OpenValue;

/// The document of `dpscope recompute`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecomputationReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.recomputation/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// The file of the report.
    pub file: String,
    /// What was found.
    pub outcome: RecomputationOutcome,
    /// Its values.
    #[serde(flatten)]
    pub found: Recomputation,
}

/// Whether a report follows from its counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecomputationOutcome {
    /// All checked values follow from others. That is not authenticity.
    Consistent,
    /// A value differs.
    Inconsistent,
    /// What was checked follows, but a value that decides could not be computed again.
    NotCompared,
    /// Nothing in the report could be checked.
    Nothing,
}

/// What a recomputation found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recomputation {
    /// Name and version of the report.
    pub document: String,
    /// JSON pointers of the values that were computed again, and parts of a page, as `page:text`.
    pub checked: Vec<String>,
    /// JSON pointers of the numbers that they were computed from.
    pub used: Vec<String>,
    /// Checked values that differ.
    pub differences: Vec<Difference>,
    /// What decides and could not be computed again: the bound of the headline, the text of a page of
    /// another version.
    pub not_compared: Vec<OpenValue>,
    /// Numbers, texts and flags that do not follow from others in the report.
    pub open: Vec<OpenValue>,
}

impl Recomputation {
    /// What was found, in one word.
    #[must_use]
    pub fn outcome(&self) -> RecomputationOutcome {
        match (self.differences.len(), self.checked.len()) {
            (0, 0) => RecomputationOutcome::Nothing,
            (0, _) if !self.not_compared.is_empty() => RecomputationOutcome::NotCompared,
            (0, _) => RecomputationOutcome::Consistent,
            _ => RecomputationOutcome::Inconsistent,
        }
    }
}

/// A value that does not follow from the counts of its report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Its JSON pointer, or a part of a page, as `page:text`.
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
    /// What the program printed where it failed.
    #[error(
        "this is an error of dpscope, not a report: fix what its `message` says, then run the command again"
    )]
    ErrorDocument,
    /// A document of another kind or version.
    #[error("the schema is {found}, and this version reads {known}")]
    Schema {
        /// Its schema.
        found: String,
        /// The schemas that can be read, with commas between them.
        known: String,
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
