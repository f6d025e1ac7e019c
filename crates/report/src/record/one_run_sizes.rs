//! Sizes of an audit of one run, and files of canaries.

use serde::Serialize;

/// The document of `dpscope plan one-run`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneRunSizes {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.one_run_sizes/1")))]
    pub schema: &'static str,
    /// δ of the statement.
    pub delta: f64,
    /// Chance that the bound is wrong.
    pub significance: f64,
    /// What an ideal attack is expected to show, an estimate.
    pub rows: Vec<OneRunSize>,
    /// Canaries for a wanted ε; none if no ε was named.
    pub targets: Vec<OneRunTarget>,
    /// What was committed; none without a folder.
    pub committed: Option<CommitmentRecord>,
}

/// What so many canaries are expected to show, if training is as leaky as a Gaussian mechanism and the
/// attack is ideal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneRunSize {
    /// μ of the mechanism.
    pub gdp_mu: f64,
    /// Its ε at δ.
    pub true_epsilon: f64,
    /// Number of canaries.
    pub canaries: u64,
    /// Number of guesses: that of --guesses, or the best one.
    pub guesses: u64,
    /// The expected bound.
    pub expected_epsilon: f64,
    /// The bound if all of these guesses are correct.
    pub ceiling: f64,
}

/// Canaries for a wanted ε.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneRunTarget {
    /// μ of the mechanism.
    pub gdp_mu: f64,
    /// The wanted bound.
    pub epsilon: f64,
    /// Canaries whose expected bound reaches it; none up to 10⁹.
    pub canaries: Option<u64>,
}

/// What was committed before the training.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitmentRecord {
    /// The folder of the plan.
    pub folder: String,
    /// SHA-256 to publish, hexadecimal.
    pub commitment: String,
    /// Number of canaries.
    pub canaries: u64,
    /// SHA-256 of the canaries, hexadecimal.
    pub canaries_digest: String,
    /// Trainings that the plan allows.
    pub runs: u64,
}

/// Canaries of a pool that were drawn and committed before the training.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PoolCommitment {
    /// The folder of the plan.
    pub folder: String,
    /// SHA-256 to publish, hexadecimal.
    pub commitment: String,
    /// Size of the pool.
    pub members: u64,
    /// SHA-256 of the pool, hexadecimal.
    pub canaries_digest: String,
    /// Canaries to be inserted, each as often as it was drawn.
    pub inserted: u64,
}

/// The document of `dpscope canaries`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CanariesReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.canaries/1")))]
    pub schema: &'static str,
    /// The file of the canaries.
    pub file: String,
    /// Number of canaries.
    pub canaries: u64,
    /// SHA-256 of its arrays, hexadecimal.
    pub canaries_digest: String,
    /// Canaries that equal an earlier one.
    pub copies: u64,
    /// Canaries that equal a record of the base data; none where no base data were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_base_data: Option<u64>,
    /// Seed of the choice of canaries, decimal digits; none where nothing was drawn.
    pub seed: Option<String>,
    /// What was checked, if a plan was.
    pub plan: Option<PlanCheck>,
}

/// What is known of a committed plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PlanCheck {
    /// Canaries, plan, seed and coins are those of the commitment.
    Verified,
    /// The canaries are those of the plan; the seed is not revealed yet.
    SeedHidden,
}
