//! What a check of independence found.

use super::runs::RunIndex;

/// Checks that are made on one pair of files: duplicates; positions over epochs and over runs and
/// lag-one correlation in each world; shared noise.
pub const CHECKS: u32 = 8;

/// The chance of any finding at all when every run is independent, over all [`CHECKS`].
pub const FALSE_ALARM: f64 = 1e-3;

/// A check finds something when its p-value is at most [`FALSE_ALARM`] ÷ [`CHECKS`] (Bonferroni).
pub const FINDING_BELOW: f64 = FALSE_ALARM / CHECKS as f64;

/// What a check of independence came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IndependenceCheck {
    /// What was measured; each check says what it is.
    pub statistic: f64,
    /// Chance of a statistic at least as extreme if the runs are independent; 1 where there is too
    /// little data to tell.
    pub p_value: f64,
    /// What was found; none where nothing was.
    pub finding: Option<Dependence>,
}

/// In which way runs depend on each other.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "snake_case"))]
pub enum Dependence {
    /// Runs repeat another one in every bit.
    DuplicatedRuns {
        /// Runs that repeat an earlier one, D before D′.
        copies: u64,
        /// Runs of both worlds that were compared.
        runs: u64,
        /// The first pair: a run, and another that is its copy.
        first: Option<[RunIndex; 2]>,
    },
    /// The largest output of an epoch is too often at the step of the run's earlier epochs.
    RepeatedPositionsOverEpochs {
        /// Epochs where it is.
        hits: u64,
        /// Epochs that were compared with earlier ones.
        guesses: u64,
        /// T: chance is one in T.
        steps: u64,
    },
    /// The largest output of a run is too often at the step of the earlier runs.
    RepeatedPositionsOverRuns {
        /// Runs where it is.
        hits: u64,
        /// Runs that were compared with earlier ones.
        guesses: u64,
        /// T: chance is one in T.
        steps: u64,
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
}

impl Dependence {
    /// Whether runs of one world depend on each other.
    #[must_use]
    pub const fn is_within_a_world(&self) -> bool {
        match self {
            Dependence::DuplicatedRuns { .. }
            | Dependence::RepeatedPositionsOverRuns { .. }
            | Dependence::LagOneCorrelation { .. } => true,
            // Within one run, and between the worlds.
            Dependence::RepeatedPositionsOverEpochs { .. } | Dependence::SharedNoise { .. } => {
                false
            }
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
