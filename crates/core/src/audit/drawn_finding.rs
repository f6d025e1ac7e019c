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
    /// True values with larger ranks than chance explains, if ranks are from 1 to `values`.
    #[must_use]
    pub fn reversed_ranks(values: u64, ranks: &[u64]) -> Option<Self> {
        let (others, records) = (values.saturating_sub(1) as f64, ranks.len() as f64);
        let above = ranks.iter().map(|&rank| values.saturating_sub(rank) as f64 / others);
        let auc = above.sum::<f64>() / records;
        let deviation = ((others + 2.0) / (12.0 * others * records)).sqrt();
        (auc < 0.5 - REVERSED * deviation).then_some(DrawnFinding::ScoresReversed { auc })
    }
}
