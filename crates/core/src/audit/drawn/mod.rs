//! Audits of one training by something that was drawn at random, in which no coins were planted.
//!
//! | type | what was drawn | what is guessed |
//! |---|---|---|
//! | [`SplitGuesses`] | a hold-out of fixed size | which rows were trained on |
//! | [`SecretGuesses`] | a secret for each of some records, uniform on S values | its value, by lists or ranks |
//! | [`OddsGuesses`] | memberships or labels, independently, with known odds | each of them |
//!
//! [`DrawnGuesses`] is any of them: bounds for both adjacencies, what could have been shown at most, and the
//! p-value without any leak.

mod odds;
mod plan;
mod secrets;

pub use super::drawn_finding::DrawnFinding;
pub use odds::{DrawnValue, OddsGuesses};
pub use plan::DrawnDesign;
pub use secrets::{CandidateScores, SecretGuesses};

use super::AdjacencyBounds;
use super::one_run::OneRunError;
use super::split::{SplitError, SplitGuesses};
use crate::format::given;

/// Guesses of what was drawn, and how many are correct.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "drawn", rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DrawnGuesses {
    /// A random hold-out.
    Split(SplitGuesses),
    /// A random hold-out whose rows were also used, for early stopping, tuning or calibration: bounds are of
    /// training and selection together.
    UsedSplit(SplitGuesses),
    /// A secret for each record.
    Secrets(SecretGuesses),
    /// Memberships or labels with known odds.
    Odds(OddsGuesses),
}

impl DrawnGuesses {
    /// Lower bounds on ε.
    ///
    /// # Errors
    /// [`DrawnError`]: counts, δ or a significance outside their domains.
    pub fn bounds(&self, delta: f64, significance: f64) -> Result<AdjacencyBounds, DrawnError> {
        Ok(match self {
            DrawnGuesses::Split(guesses) => guesses.bounds(delta, significance)?,
            DrawnGuesses::UsedSplit(guesses) => guesses.selection_bounds(delta, significance)?,
            DrawnGuesses::Secrets(guesses) => guesses.bounds(delta, significance)?,
            DrawnGuesses::Odds(guesses) => guesses.bounds(delta, significance)?,
        })
    }

    /// The bounds if as many guesses as possible were correct: no result can exceed them.
    ///
    /// # Errors
    /// As [`Self::bounds`], and [`DrawnError::NoPower`] if they are 0.
    pub fn ceilings(&self, delta: f64, significance: f64) -> Result<AdjacencyBounds, DrawnError> {
        let best = match self {
            DrawnGuesses::Split(guesses) => DrawnGuesses::Split(guesses.all_correct()),
            DrawnGuesses::UsedSplit(guesses) => DrawnGuesses::UsedSplit(guesses.all_correct()),
            DrawnGuesses::Secrets(guesses) => DrawnGuesses::Secrets(guesses.all_correct()),
            DrawnGuesses::Odds(guesses) => DrawnGuesses::Odds(guesses.all_correct()),
        };
        let ceilings = best.bounds(delta, significance)?;
        match ceilings == AdjacencyBounds::NONE {
            true => Err(DrawnError::NoPower { guesses: self.guesses(), delta }),
            false => Ok(ceilings),
        }
    }

    /// Number of guesses.
    #[must_use]
    pub fn guesses(&self) -> u64 {
        match self {
            DrawnGuesses::Split(guesses) | DrawnGuesses::UsedSplit(guesses) => guesses.guesses(),
            DrawnGuesses::Secrets(guesses) => guesses.guesses(),
            DrawnGuesses::Odds(guesses) => guesses.guesses(),
        }
    }

    /// The p-value without any leak.
    ///
    /// # Errors
    /// As [`Self::bounds`].
    pub fn p_value_without_leak(&self) -> Result<f64, DrawnError> {
        Ok(match self {
            DrawnGuesses::Split(guesses) | DrawnGuesses::UsedSplit(guesses) => {
                guesses.p_value_without_leak()?
            }
            DrawnGuesses::Secrets(guesses) => guesses.p_value_without_leak()?,
            DrawnGuesses::Odds(guesses) => guesses.p_value_without_leak()?,
        })
    }

    /// [`DrawnFinding::AllCorrect`] if all guesses are correct and at least half of the possible ones were made: a
    /// mistake in the audit is then more likely than a leak.
    #[must_use]
    pub fn all_correct_finding(&self) -> Option<DrawnFinding> {
        let [guesses, correct, possible] = match self {
            DrawnGuesses::Split(guesses) | DrawnGuesses::UsedSplit(guesses) => guesses.totals(),
            DrawnGuesses::Secrets(guesses) => guesses.totals(),
            DrawnGuesses::Odds(guesses) => guesses.totals(),
        };
        let is_notable = guesses == correct && 2 * guesses >= possible;
        is_notable.then_some(DrawnFinding::AllCorrect { guesses })
    }
}

/// Guesses without a bound.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DrawnError {
    /// Counts of a split.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// Counts of secrets or of guesses with known odds; δ or a significance.
    #[error(transparent)]
    OneRun(#[from] OneRunError),
    /// Even the best result could show nothing.
    #[error(
        "even if all guesses were correct, no ε could be shown at δ = {} with {guesses} guesses: guess more, or \
         pass a smaller δ",
        given(*.delta)
    )]
    NoPower {
        /// All guesses.
        guesses: u64,
        /// The δ of the statement.
        delta: f64,
    },
}
