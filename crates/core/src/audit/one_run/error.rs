//! Errors of audits of one run.

use crate::format::given;

/// An argument outside its domain.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OneRunError {
    /// No canary, or more than 10¹².
    #[error("canaries = {canaries}: must lie in 1 … 1e12")]
    Canaries {
        /// Canaries or sets.
        canaries: u64,
    },
    /// Sets of fewer than two canaries.
    #[error("set size = {set_size}: a set has at least 2 canaries, one of them included")]
    SetSize {
        /// Canaries of a set.
        set_size: u32,
    },
    /// A secret with fewer than two values, or more than 2⁶³.
    #[error("values = {values}: a secret has 2 to 2^63 values")]
    Values {
        /// Possible values.
        values: u64,
    },
    /// A list without values, or one of all values.
    #[error("list length = {list_length}: must lie in 1 … {}, one less than the values", values - 1)]
    ListLength {
        /// Values that a list names.
        list_length: u64,
        /// Possible values.
        values: u64,
    },
    /// No guess, or more guesses than canaries.
    #[error("guesses = {guesses}: must lie in 1 … {canaries}, the number of canaries or sets")]
    Guesses {
        /// Guessed canaries.
        guesses: u64,
        /// Number of canaries.
        canaries: u64,
    },
    /// More correct guesses than guesses.
    #[error("correct = {correct} of {guesses} guesses: must lie in 0 … {guesses}")]
    Correct {
        /// Correct guesses.
        correct: u64,
        /// All guesses.
        guesses: u64,
    },
    /// Counts of a ranking that contradict each other.
    #[error(
        "{correct} correct guesses of the first {guesses}, after {before} of the first \
         {guesses_before}: sizes must rise, and counts by no more than the sizes"
    )]
    Ranking {
        /// Correct among the first guesses.
        correct: u64,
        /// Number of first guesses.
        guesses: u64,
        /// Correct at the size before.
        before: u64,
        /// The size before.
        guesses_before: u64,
    },
    /// A ranking without sizes, or a different number of counts.
    #[error("{sizes} sizes and {counts} counts: must be equal numbers, at least 1")]
    Lengths {
        /// Number of sizes.
        sizes: usize,
        /// Number of counts.
        counts: usize,
    },
    /// ε is negative, infinite or NaN.
    #[error("epsilon = {}: must be finite and at least 0", given(*.epsilon))]
    Epsilon {
        /// The parameter ε.
        epsilon: f64,
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
    /// μ is negative, above 100, or NaN.
    #[error("mu = {}: must lie in [0, 100]", given(*.mu))]
    Mu {
        /// The parameter μ.
        mu: f64,
    },
    /// A probability of inclusion outside (0, 1), or NaN.
    #[error("inclusion probability = {}: must lie strictly between 0 and 1", given(*.inclusion))]
    Inclusion {
        /// The probability π.
        inclusion: f64,
    },
    /// No canary is included, or all are.
    #[error(
        "{included} of {canaries} canaries are included; a guess needs at least one included and one excluded canary"
    )]
    Included {
        /// Number of included canaries.
        included: u64,
        /// Number of canaries.
        canaries: u64,
    },
    /// A factor of unknown odds below 1, infinite or NaN.
    #[error("odds factor = {}: must be finite and at least 1", given(*.factor))]
    OddsFactor {
        /// The factor Γ.
        factor: f64,
    },
    /// A rank outside 1 … S.
    #[error("rank = {rank}: ranks count from 1, the most probable value, to {values}")]
    Rank {
        /// The rank.
        rank: u64,
        /// Possible values.
        values: u64,
    },
    /// No run, or more runs than were planned.
    #[error("runs = {runs} of {planned} planned: must lie in 1 … {planned}")]
    Runs {
        /// Runs.
        runs: usize,
        /// Runs of the plan.
        planned: u64,
    },
    /// Runs with different canaries or numbers of guesses.
    #[error("run {run} has different canaries or numbers of guesses from run 0; a plan fixes both")]
    DifferentRuns {
        /// Number of the run, from 0.
        run: usize,
    },
    /// Many guesses, each with a probability of its own.
    #[error(
        "{guesses} guesses with different probabilities take too long: audit a part of the records, with at most \
         about 10,000 guesses, that was drawn before anybody looked at results"
    )]
    Work {
        /// Guesses.
        guesses: u64,
    },
    /// A curve without points.
    #[error("the claimed curve has no point")]
    EmptyCurve,
}
