//! Errors of audits with canary directions.

use crate::format::given;

/// An argument outside its domain.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OneShotError {
    /// The number of canaries, or its mean, is below 1, above 10⁹ or NaN.
    #[error("canaries = {}: must lie in 1 … 1e9", given(*.canaries))]
    Canaries {
        /// Canaries or their mean.
        canaries: f64,
    },
    /// The probability that a slot has a canary is outside (0, 1), or NaN.
    #[error("inclusion probability = {}: must lie strictly between 0 and 1", given(*.probability))]
    Inclusion {
        /// The probability.
        probability: f64,
    },
    /// More observations than canaries.
    #[error("{observations} null probabilities of {canaries} canaries: must be at most {canaries}")]
    Observations {
        /// Null probabilities.
        observations: usize,
        /// Canaries or slots of the design.
        canaries: u64,
    },
    /// The logarithm of a null probability is positive, or NaN.
    #[error("ln p of canary {index} = {}: must be at most 0", given(*.ln_p))]
    LnP {
        /// Position in the list.
        index: usize,
        /// Its value.
        ln_p: f64,
    },
    /// The cut on null probabilities is outside (0, 1), or NaN.
    #[error("p_cut = {}: must lie strictly between 0 and 1", given(*.p_cut))]
    Cut {
        /// The cut.
        p_cut: f64,
    },
    /// δ is outside [0, 1), or NaN.
    #[error("delta = {}: must lie in [0, 1)", given(*.delta))]
    Delta {
        /// The parameter δ.
        delta: f64,
    },
    /// The significance is outside (0, 1), or NaN.
    #[error("significance = {}: must lie strictly between 0 and 1", given(*.significance))]
    Significance {
        /// The significance.
        significance: f64,
    },
}
