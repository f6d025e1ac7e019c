//! What scores and guesses of something that was drawn indicate.

/// Something that scores or guesses indicate.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "code", rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DrawnFinding {
    /// Many rows share their score with another row; many candidates, that of the true secret.
    TiedScores {
        /// Share of such rows, or records.
        share: f64,
    },
    /// Members have smaller scores than non-members; true secrets, than other values.
    ScoresReversed {
        /// Share of the pairs in which the member, or the true secret, has the larger score.
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

/// Mean ranks this many standard deviations on the wrong side occur in one of 2,000 audits.
const REVERSED: f64 = 3.29;

impl DrawnFinding {
    /// True values with smaller scores than chance explains, by the share of others with smaller ones, of which
    /// equal ones count half.
    pub(super) fn reversed_candidates(auc: f64, values: u64, records: usize) -> Option<Self> {
        let (others, records) = (values.saturating_sub(1) as f64, records as f64);
        let deviation = ((others + 2.0) / (12.0 * others * records)).sqrt();
        (auc < 0.5 - REVERSED * deviation).then_some(DrawnFinding::ScoresReversed { auc })
    }
}
