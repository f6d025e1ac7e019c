//! The plan of an audit of one run: what is fixed before the coins are drawn.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::GuessRule;
use serde::{Deserialize, Serialize};

/// What is fixed before the coins are drawn; its bytes are part of the commitment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneRunPlan {
    /// Name and version of this document.
    pub schema: String,
    /// What a coin decides.
    pub game: PlannedGame,
    /// What the bound certifies.
    pub adjacency: Adjacency,
    /// Number of canaries.
    pub canaries: u64,
    /// SHA-256 of the arrays of canaries, hexadecimal.
    pub canaries_digest: String,
    /// Which canaries are guessed.
    pub rule: PlannedRule,
    /// The δ of the statements.
    pub deltas: Vec<f64>,
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// Which scores indicate an included canary.
    pub direction: ScoreDirection,
    /// Trainings that the plan allows, each with coins of its own.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub runs: u64,
}

const fn one() -> u64 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(runs: &u64) -> bool {
    *runs == 1
}

impl OneRunPlan {
    /// Name and version of the document.
    pub const SCHEMA: &'static str = "dpscope.one_run_plan/1";
}

/// What a planned coin decides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedGame {
    /// Whether a canary is included: one coin per canary.
    Coins,
    /// Which of canaries 2i and 2i + 1 is included: one coin per pair, heads for the first.
    Pairs,
    /// Which of canaries si … si + s − 1 is included, with equal probability: one draw per set of s.
    Sets(u32),
    /// How often each canary of a pool is included: a Poisson number of this mean is drawn from the pool,
    /// each with equal probability, with replacement.
    Poisson(f64),
}

impl PlannedGame {
    /// Canaries of which one is included; none where each has a coin of its own.
    #[must_use]
    pub const fn set_size(self) -> Option<u32> {
        match self {
            PlannedGame::Coins | PlannedGame::Poisson(_) => None,
            PlannedGame::Pairs => Some(2),
            PlannedGame::Sets(size) => Some(size),
        }
    }
}

/// Which canaries are guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedRule {
    /// 8, 16, 32, … and all of the most confident ones, at a joint level.
    Walk,
    /// So many of the most confident ones, on both sides alternately.
    Most(u64),
    /// So many on each side.
    Sides {
        /// Guesses "included".
        included: u64,
        /// Guesses "not included".
        excluded: u64,
    },
}

impl From<PlannedRule> for GuessRule {
    fn from(rule: PlannedRule) -> Self {
        match rule {
            PlannedRule::Walk => GuessRule::Walk,
            PlannedRule::Most(guesses) => GuessRule::Most(guesses),
            PlannedRule::Sides { included, excluded } => GuessRule::Sides { included, excluded },
        }
    }
}

impl From<GuessRule> for PlannedRule {
    fn from(rule: GuessRule) -> Self {
        match rule {
            GuessRule::Walk => PlannedRule::Walk,
            GuessRule::Most(guesses) => PlannedRule::Most(guesses),
            GuessRule::Sides { included, excluded } => PlannedRule::Sides { included, excluded },
        }
    }
}

/// Which scores indicate an included canary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreDirection {
    /// Larger ones, such as minus the loss.
    #[default]
    Higher,
    /// Smaller ones, such as the loss.
    Lower,
}
