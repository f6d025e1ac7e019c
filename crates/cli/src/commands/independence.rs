//! What recorded outputs say about the independence that intervals need.

use dpscope_core::mechanism::BatchedGaussian;

use super::outputs::{Look, Outputs};
use crate::failure::Failure;

/// What looks suspicious, in words.
pub(super) fn findings(
    _mechanism: &BatchedGaussian,
    _target: &Outputs,
    _zero_out: &Outputs,
    _look: &Look,
) -> Result<Vec<String>, Failure> {
    Ok(Vec::new())
}
