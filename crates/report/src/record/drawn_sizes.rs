//! What audits by something that was drawn are expected to show.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::AdjacencyBounds;
use dpscope_core::audit::drawn::{DrawnDesign, DrawnGuesses};
use serde::Serialize;

/// Expected bounds of an audit that is not made yet.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DrawnSizes {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = DrawnSizes::SCHEMA)))]
    pub schema: &'static str,
    /// What is to be drawn and guessed.
    pub design: DrawnDesign,
    /// δ of the statement.
    pub delta: f64,
    /// Chance that the bound is wrong.
    pub significance: f64,
    /// What an ideal attack is expected to show, an estimate.
    pub rows: Vec<DrawnSize>,
    /// Sizes for a wanted ε; none if no ε was named.
    pub targets: Vec<DrawnTarget>,
    /// For secrets: how they are guessed without a length of lists, and what to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// For secrets: the most that as many canaries with coins could show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coins_ceiling: Option<f64>,
    /// What was drawn and committed; none without a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub committed: Option<SecretCommitment>,
}

impl DrawnSizes {
    /// The `schema` of these documents.
    pub const SCHEMA: &'static str = "dpscope.drawn_sizes/1";
}

/// What an ideal attack is expected to show.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DrawnSize {
    /// How far a score moves, in standard deviations.
    pub gdp_mu: f64,
    /// The expected guesses.
    pub guesses: DrawnGuesses,
    /// Lower bounds on ε that the expected guesses give.
    pub bounds: AdjacencyBounds,
    /// The bounds if as many guesses as possible were correct.
    pub ceilings: AdjacencyBounds,
}

/// The size for a wanted ε.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DrawnTarget {
    /// How far a score moves, in standard deviations.
    pub gdp_mu: f64,
    /// The wanted bound.
    pub epsilon: f64,
    /// What neighbours differ in.
    pub adjacency: Adjacency,
    /// Rows, or records with a secret; none up to 10⁹.
    pub size: Option<u64>,
}

/// Secrets that were drawn and committed before the training.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SecretCommitment {
    /// The folder of the plan.
    pub folder: String,
    /// SHA-256 to publish, hexadecimal.
    pub commitment: String,
}
