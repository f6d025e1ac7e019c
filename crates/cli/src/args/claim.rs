//! The claim that a result is compared with.

use clap::Args;
use dpscope_core::adjacency::Adjacency;

use super::{delta, epsilon};

/// The claim that a result is compared with.
#[derive(Debug, Args)]
pub(crate) struct ClaimArgs {
    /// Epsilon reported for the training; exit with code 3 if it is refuted.
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    pub(crate) claim: Option<f64>,
    /// Delta reported with --claim; must equal --delta.
    #[arg(long, value_name = "DELTA", value_parser = delta, requires = "claim")]
    pub(crate) claim_delta: Option<f64>,
    /// Adjacency of the claim.
    #[arg(long, default_value = "add-remove", requires = "claim")]
    pub(crate) claim_adjacency: Adjacency,
    /// Exit with code 3 if the bound exceeds this epsilon.
    #[arg(long, value_name = "EPS", value_parser = epsilon)]
    pub(crate) fail_above: Option<f64>,
    /// Exit with code 3 if the report has any finding about the data.
    #[arg(long)]
    pub(crate) fail_on_finding: bool,
}
