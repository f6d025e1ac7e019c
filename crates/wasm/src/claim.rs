//! Claims of a page.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::{ClaimError, PrivacyClaim};
use dpscope_report::record::ClaimTest;

use crate::failure::Failure;

/// A claim of the page about added records.
pub(crate) fn claim_test(epsilon: Option<f64>, delta: f64) -> ClaimTest {
    let adjacency = Adjacency::AddRemove;
    let claim = epsilon.map(|epsilon| PrivacyClaim { epsilon, delta, adjacency });
    ClaimTest { claim, fail_above: None }
}

pub(crate) fn of_claim(error: ClaimError) -> Failure {
    Failure { field: Some("claim"), ..Failure::rejected(&error) }
}
