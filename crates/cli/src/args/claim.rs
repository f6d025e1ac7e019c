//! The claim that a result is compared with.

use clap::{Args, ValueEnum};
use dpscope_core::adjacency::Adjacency;

use super::open_unit;

/// The claim that a result is compared with.
#[derive(Debug, Args)]
pub(crate) struct ClaimArgs {
    /// Epsilon reported for the training; exit with code 3 if it is refuted.
    #[arg(long, value_name = "EPS")]
    pub(crate) claim: Option<f64>,
    /// Delta reported with it; must equal --delta.
    #[arg(long, value_name = "DELTA", value_parser = open_unit, requires = "claim")]
    pub(crate) claim_delta: Option<f64>,
    /// Adjacency of the claim.
    #[arg(long, value_enum, default_value = "add-remove", requires = "claim")]
    pub(crate) claim_adjacency: AdjacencyArg,
    /// Exit with code 3 if the bound exceeds this epsilon.
    #[arg(long, value_name = "EPS")]
    pub(crate) fail_above: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum AdjacencyArg {
    AddRemove,
    ZeroOut,
    Replace,
}

impl From<AdjacencyArg> for Adjacency {
    fn from(adjacency: AdjacencyArg) -> Self {
        match adjacency {
            AdjacencyArg::AddRemove => Adjacency::AddRemove,
            AdjacencyArg::ZeroOut => Adjacency::ZeroOut,
            AdjacencyArg::Replace => Adjacency::Replace,
        }
    }
}
