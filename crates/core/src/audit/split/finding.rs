//! What scores and guesses of a split indicate.

/// Something that the data of a split indicate.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "code", rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SplitFinding {
    /// Many rows share their score with another row.
    TiedScores {
        /// Share of such rows.
        share: f64,
    },
    /// Members have smaller scores than non-members.
    ScoresReversed {
        /// Share of the pairs of a member and a non-member in which the member has the larger score.
        auc: f64,
    },
    /// Every guess is correct, and there are many.
    AllCorrect {
        /// Guesses.
        guesses: u64,
    },
    /// A bound is more than three times the claim.
    FarAboveClaim {
        /// The bound.
        epsilon: f64,
        /// The claim.
        claimed: f64,
    },
}
