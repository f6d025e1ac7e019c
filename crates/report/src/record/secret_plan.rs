//! What is fixed about secrets before a training.

use serde::{Deserialize, Serialize};

use super::ScoreDirection;

/// The plan of an audit by secrets: `plan.json` in its folder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecretPlan {
    /// Name and version of this document.
    pub schema: String,
    /// Records with a secret.
    pub records: u64,
    /// Values from which each secret is drawn.
    pub values: u64,
    /// Decoys of each secret; none if attacks rank all values, or name lists.
    pub decoys: Option<u64>,
    /// Length of the lists; without it, 1 if a number of guesses is fixed, and else ranks are tested at several
    /// lengths together.
    pub list_length: Option<u64>,
    /// Guessed secrets; none for all.
    pub guesses: Option<u64>,
    /// Which scores indicate the true value.
    pub direction: ScoreDirection,
    /// δ of the statement.
    pub delta: f64,
    /// Chance that a bound is wrong.
    pub significance: f64,
}

impl SecretPlan {
    /// The `schema` of these plans.
    pub const SCHEMA: &'static str = "dpscope.secret_plan/1";
}
