//! How the canaries of one run were included and guessed.

use dpscope_core::adjacency::Adjacency;
use serde::{Deserialize, Serialize};

/// How canaries were included and guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneRunDesign {
    /// What a coin decides.
    pub game: CanaryGameKind,
    /// Canaries, or sets of canaries.
    pub canaries: u64,
    /// Canaries of which one is included; 2 where each has a coin of its own.
    pub set_size: u32,
    /// What the bound certifies.
    pub adjacency: Adjacency,
    /// How the number of guesses was chosen.
    pub rule: GuessRuleKind,
    /// What is known of the coins.
    pub coins: CoinsStatus,
}

/// What a coin decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CanaryGameKind {
    /// Whether a canary is included.
    Coins,
    /// Whether a canary is included, with a known probability other than one half.
    UnfairCoins,
    /// Which canaries are included; their number may have been fixed, as in a draw without replacement.
    FixedSize,
    /// Which canary of a set is included.
    Sets,
    /// Which canary of a pair is included; the pairs were matched after the training, as exactly half
    /// of the canaries were included.
    MatchedPairs,
}

/// How the number of guesses was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GuessRuleKind {
    /// Several numbers are tried at a joint level.
    Walk,
    /// It was fixed beforehand.
    Fixed,
    /// It was fixed beforehand, and so was the side that is guessed.
    OneSide,
}

/// The score by which canaries are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CanaryScoreKind {
    /// Minus the loss of the trained model.
    FinalLoss,
    /// The loss before the training minus the loss after it.
    LossDifference,
    /// Log-likelihood ratio of the noisy sums of all steps.
    WhiteBox,
}

/// What is known of the coins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CoinsStatus {
    /// They follow from a seed that was committed before the training.
    Committed,
    /// The user states that they were fair, or had a known probability.
    NotCommitted,
    /// The user also states that they were independent, whatever number of canaries is included.
    StatedIndependent,
    /// The program drew them from random words of their own.
    Drawn,
    /// Only counts are known.
    Unseen,
}
