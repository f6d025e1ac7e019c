//! Errors of audits of a split.

use crate::audit::one_run::OneRunError;

/// An argument outside its domain.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// A side without rows, or too many rows.
    #[error(
        "{side} of {rows} rows are of the named side: a split has rows on both sides, at most 1e12 in all"
    )]
    Side {
        /// Rows of the named side.
        side: u64,
        /// All rows.
        rows: u64,
    },
    /// A side with fewer than five rows.
    #[error(
        "{members} members and {non_members} non-members: a split audit needs at least 5 rows of each"
    )]
    Few {
        /// Rows that were trained on.
        members: u64,
        /// Rows that were held out.
        non_members: u64,
    },
    /// A score that is not a number.
    #[error("score {index} of the {side} is not a number; give every row a score")]
    NotANumber {
        /// Whose score.
        side: &'static str,
        /// Its index, from 0.
        index: usize,
    },
    /// No row is named, or more than there are.
    #[error("guesses = {guesses}: must lie in 1 … {rows}, the number of rows")]
    Guesses {
        /// Named rows.
        guesses: u64,
        /// All rows.
        rows: u64,
    },
    /// A number of correct guesses that is impossible.
    #[error("correct = {correct}: with {guesses} guesses it must lie in {least} … {most}")]
    Correct {
        /// Correct guesses.
        correct: u64,
        /// All guesses.
        guesses: u64,
        /// Named rows that must be of the side.
        least: u64,
        /// Named rows that can be of it.
        most: u64,
    },
    /// No stratum, or counts of all strata that do not add up.
    #[error("{0}")]
    Strata(String),
    /// An argument of the bound.
    #[error(transparent)]
    Bound(#[from] OneRunError),
}
