//! Results of checks of independence.

use super::runs::RunIndex;
use crate::adjacency::World;

/// Number of checks for one pair of files: duplicates; in each world positions over epochs,
/// positions over runs and lag-one correlation; shared noise.
pub const CHECKS: u32 = 8;

/// The probability of any finding among all [`CHECKS`] if the runs are independent.
pub const FALSE_ALARM: f64 = 1e-3;

/// A check has a finding if its p-value is at most [`FALSE_ALARM`] ÷ [`CHECKS`] (Bonferroni).
pub const FINDING_BELOW: f64 = FALSE_ALARM / CHECKS as f64;

/// The result of a check of independence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndependenceCheck {
    /// The test statistic, defined by each check.
    pub statistic: f64,
    /// Chance of a statistic at least as extreme if the runs are independent; 1 for too little
    /// data.
    pub p_value: f64,
    /// The dependence, if the p-value is small.
    pub finding: Option<Dependence>,
}

/// A dependence between runs.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
pub enum Dependence {
    /// Runs are bit-identical to other runs.
    DuplicatedRuns {
        /// Runs that repeat an earlier one, D before D′.
        copies: u64,
        /// Compared runs of both worlds.
        runs: u64,
        /// The first pair: a run and its copy.
        first: Option<[RunIndex; 2]>,
    },
    /// All runs of a world are bit-identical.
    IdenticalRuns {
        /// Runs of the world.
        runs: u64,
    },
    /// The largest output of an epoch is too often at the same step as in the run's earlier epochs.
    RepeatedPositionsOverEpochs {
        /// Epochs with the same step.
        hits: u64,
        /// Epochs compared with earlier ones.
        guesses: u64,
        /// T: a coincidence has probability 1/T.
        steps: u64,
    },
    /// The largest output of a run is too often at the same step as in earlier runs.
    RepeatedPositionsOverRuns {
        /// Runs with the same step.
        hits: u64,
        /// Runs compared with earlier ones.
        guesses: u64,
        /// T: a coincidence has probability 1/T.
        steps: u64,
        /// The step, from 0: the one with the largest sum over all runs.
        step: u64,
    },
    /// Scores of neighbouring runs are correlated in file order.
    LagOneCorrelation {
        /// Rank correlation.
        correlation: f64,
    },
    /// Run i of D and run i of D′ are correlated.
    SharedNoise {
        /// Correlation of their outputs.
        correlation: f64,
    },
    /// A score occurs several times in a world.
    RepeatedScores {
        /// Number of different scores that occur equally often.
        values: u64,
        /// How often each of them occurs.
        times: u64,
        /// Runs of the world.
        runs: u64,
    },
    /// Scores of one world occur in the other.
    SharedScores {
        /// The world of these scores.
        of: World,
        /// Number of different scores of it that occur equally often in the other.
        values: u64,
        /// How often each of them occurs there.
        times: u64,
    },
}

impl Dependence {
    /// Whether runs of one world depend on each other, or are runs of the other world.
    #[must_use]
    pub const fn is_within_a_world(&self) -> bool {
        match self {
            Dependence::DuplicatedRuns { .. }
            | Dependence::IdenticalRuns { .. }
            | Dependence::RepeatedScores { .. }
            | Dependence::SharedScores { .. }
            | Dependence::LagOneCorrelation { .. } => true,
            // Within one run, and between the worlds. Runs with one order of the data, or one drift,
            // are independent given that order or drift.
            Dependence::RepeatedPositionsOverEpochs { .. }
            | Dependence::RepeatedPositionsOverRuns { .. }
            | Dependence::SharedNoise { .. } => false,
        }
    }
}

impl IndependenceCheck {
    pub(super) fn new(statistic: f64, p_value: f64, finding: Dependence) -> Self {
        let p_value = if p_value <= 1.0 { p_value.max(0.0) } else { 1.0 };
        let finding = (p_value <= FINDING_BELOW).then_some(finding);
        Self { statistic, p_value, finding }
    }

    pub(super) fn too_little_data() -> Self {
        Self { statistic: 0.0, p_value: 1.0, finding: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_no_finding() {
        let check =
            IndependenceCheck::new(0.0, f64::NAN, Dependence::SharedNoise { correlation: 0.0 });
        assert_eq!((check.p_value, check.finding), (1.0, None));
    }
}
