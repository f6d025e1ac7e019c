//! ε of noisy votes of teachers (PATE).

use dpscope_core::accounting::pate::{CountedVotesEpsilon, VoteNoise, VotesEpsilon};
use serde::Serialize;

/// The document of `dpscope bound pate` and `dpscope calibrate pate`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PateReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.pate/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Number of teachers, k.
    pub teachers: u32,
    /// Inverse scale of the Laplace noise, γ.
    pub gamma: f64,
    /// Where noise is added.
    pub noise: VoteNoise,
    /// ε of a single vote, with δ = 0.
    pub vote_epsilon: f64,
    /// The probability that a unanimous vote is released as it is; ½ is a coin.
    pub unanimous: f64,
    /// δ of every ε here except that of a single vote.
    pub delta: f64,
    /// ε of the votes, whatever their counts.
    #[serde(flatten)]
    pub value: VotesEpsilon,
    /// The largest order of the moments.
    pub orders: u32,
    /// ε of the votes with their counts, which must not be published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<CountedVotesEpsilon>,
    /// Labels of the votes, if they were recorded; not for publication either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<VoteLabels>,
    /// What was calibrated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<VotesTarget>,
}

/// Recorded labels beside what their votes make probable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VoteLabels {
    /// Labels 1 beyond their expected number.
    pub more_ones: f64,
    /// Labels of the majority beyond their expected number.
    pub more_majorities: f64,
    /// The probability of such labels at most, if the noise is as stated.
    pub p_value: f64,
    /// Chance that labels with the stated noise are reported.
    pub significance: f64,
    /// Whether the labels contradict the stated noise.
    pub is_fault: bool,
}

/// The most iterations within an ε.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VotesTarget {
    /// The ε that is not exceeded.
    pub epsilon: f64,
    /// Votes of each iteration.
    pub votes_per_iteration: u64,
    /// The most iterations by composition.
    pub iterations: u64,
    /// The most iterations by moments, as published for PATE-GAN.
    pub iterations_by_moments: u64,
}
