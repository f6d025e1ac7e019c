//! Plans of audits with canary clients.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_shot::CanaryDesign;
use serde::{Deserialize, Serialize};

use super::PoolCommitment;
use crate::words::OneShotAttacker;

/// What is fixed before the training; its bytes are part of the commitment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FederatedPlan {
    /// Name and version of this document.
    pub schema: String,
    /// Number of trained parameters.
    pub dimension: u64,
    /// How the number of canaries is drawn.
    pub design: CanaryDesign,
    /// What the bound certifies.
    pub adjacency: Adjacency,
    /// What the attacker sees.
    pub attacker: OneShotAttacker,
    /// Server rounds over which each cosine is the maximum; 1 for other attackers.
    pub server_rounds: u64,
    /// The δ of the statement.
    pub delta: f64,
    /// Chance that the bound is wrong.
    pub significance: f64,
    /// Numbers of examples that canaries report, each drawn by lot; empty if they report what clients do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f64>,
    /// Norms that canaries send, in units of the clipping norm, each drawn by lot; empty if all send 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loudness: Vec<f64>,
}

impl FederatedPlan {
    /// Name and version of the document.
    pub const SCHEMA: &'static str = "dpscope.federated_plan/1";
}

/// The document of `dpscope plan federated`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FederatedSizes {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.federated_sizes/1")))]
    pub schema: &'static str,
    /// Mean number of canaries.
    pub canaries: f64,
    /// δ of the statement.
    pub delta: f64,
    /// Chance that the bound is wrong.
    pub significance: f64,
    /// The most canaries at which δ costs nothing; none at δ = 0.
    pub most_canaries: Option<f64>,
    /// What a Gaussian leak is expected to show, an estimate.
    pub rows: Vec<FederatedSize>,
    /// What was committed; none without a folder.
    pub committed: Option<FederatedCommitment>,
    /// Canaries of a pool that were drawn and committed; none of clients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolCommitment>,
}

/// What canaries are expected to show, if their scores are those of a Gaussian mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FederatedSize {
    /// μ of the mechanism.
    pub gdp_mu: f64,
    /// Its ε at δ.
    pub true_epsilon: f64,
    /// The bound for any training algorithm is at least this with probability ½, or more.
    pub median_epsilon: f64,
}

/// What was committed before the training.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FederatedCommitment {
    /// The folder of the plan.
    pub folder: String,
    /// SHA-256 to publish, hexadecimal.
    pub commitment: String,
    /// Canaries to insert.
    pub inserted: u64,
    /// csv of what each canary declares; none if the plan has neither weights nor loudness.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classes: Option<String>,
}

/// The document of `dpscope canaries direction`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DirectionReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.direction/1")))]
    pub schema: &'static str,
    /// The file of the direction.
    pub file: String,
    /// The canary, from 0 on; none for the control client.
    pub canary: Option<u64>,
    /// Number of coordinates.
    pub dimension: u64,
}
