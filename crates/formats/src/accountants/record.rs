//! Phases, errors and limits of records.

/// Steps with the same noise and sampling rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussianPhase {
    /// σ, the noise's standard deviation divided by the clip norm: finite, above 0.
    pub noise_multiplier: f64,
    /// q of Poisson sampling, in (0, 1]; 1 without sampling.
    pub sampling_rate: f64,
    /// From 1.
    pub steps: u64,
}

/// Tree aggregation (DP-FTRL) with each record in at most one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeAggregation {
    /// The noise of a node divided by the clip norm: finite, above 0.
    pub noise_multiplier: f64,
    /// Steps of the largest tree, from 1.
    pub steps: u64,
}

/// What is wrong with a record, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct AccountantRecordError {
    /// Place in the file: `$` is all of it.
    pub path: String,
    /// What is wrong and what to do.
    pub problem: String,
}

/// Longest record that is read, bytes.
pub const MAX_RECORD_BYTES: u64 = 1 << 20;

/// Most values in a record.
pub(super) const MOST_NODES: usize = 50_000;

/// Most events inside events.
pub(super) const MOST_DEPTH: usize = 32;

/// Most steps in all.
pub(super) const MOST_STEPS: u64 = 1_000_000_000;
