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
    /// d is below 2 or above 10¹⁵.
    #[error("dimension = {dimension}: must lie in 2 … 1e15")]
    Dimension {
        /// Dimension d.
        dimension: u64,
    },
    /// A cosine is outside [−1, 1], or NaN.
    #[error("cosine {index} = {}: must lie in [-1, 1]", given(*.cosine))]
    Cosine {
        /// Position in the list; 0 for a single cosine.
        index: usize,
        /// Its value.
        cosine: f64,
    },
    /// No server round.
    #[error("server rounds = 0: must be at least 1")]
    ServerRounds,
    /// The norm of the other updates is below that of the canary, infinite or NaN.
    #[error("norm of the rest = {}: must be finite and at least 1", given(*.norm))]
    Norm {
        /// The norm, in units of the canary.
        norm: f64,
    },
    /// The squared norm of an update is negative, infinite or NaN.
    #[error("squared norm = {}: must be finite and at least 0", given(*.square_norm))]
    SquareNorm {
        /// The squared norm, in units of the clipping norm.
        square_norm: f64,
    },
    /// No weight of a client, or one that is not positive and finite.
    #[error("weights: must be at least one, all positive and finite")]
    Weights,
    /// Too few cosines for an estimate.
    #[error("{observations} cosines: an estimate needs at least 2")]
    TooFew {
        /// Cosines.
        observations: usize,
    },
    /// The fitted mean is not finite, or the standard deviation not positive.
    #[error("mean = {}, standard deviation = {}: must be finite, the latter positive",
        given(*.mean), given(*.sd))]
    Fit {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        sd: f64,
    },
    /// The δ of an estimate is outside (0, 1), or NaN.
    #[error("delta = {}: an estimate needs a delta strictly between 0 and 1", given(*.delta))]
    EstimateDelta {
        /// The parameter δ.
        delta: f64,
    },
    /// ε is negative, infinite or NaN.
    #[error("epsilon = {}: must be finite and at least 0", given(*.epsilon))]
    Epsilon {
        /// The parameter ε.
        epsilon: f64,
    },
    /// μ is outside [0, 100], not below the μ of the leak, or NaN.
    #[error("mu = {}: must lie in [0, 100], and below the expected mu to be refuted", given(*.mu))]
    Mu {
        /// The parameter μ.
        mu: f64,
    },
    /// The power is outside (0, 1), or NaN.
    #[error("power = {}: must lie strictly between 0 and 1", given(*.power))]
    Power {
        /// The power.
        power: f64,
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
    /// No scores of canaries that were not included.
    #[error("no null scores: score draws that were not included as well")]
    NoNull,
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
