//! Are recorded runs independent of each other, as the interval needs them to be?
//!
//! Each check has a statistic, a p-value under independence, and a finding where the p-value is
//! small.

mod checks;
mod duplicates;
mod lag;
mod positions;
mod shared_noise;
mod tail;

pub use checks::{CheckKind, IndependenceChecks, NamedCheck};
pub use duplicates::{DuplicatedRuns, duplicated_runs};
pub use lag::lag_one_correlation;
pub use positions::{repeated_positions_over_epochs, repeated_positions_over_runs};
pub use shared_noise::shared_noise;

use crate::adjacency::World;

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

/// A recorded run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunIndex {
    /// Its world.
    pub world: World,
    /// Its place in the world's file, from 0.
    pub run: usize,
}

impl IndependenceCheck {
    fn new(statistic: f64, p_value: f64, finding: Dependence) -> Self {
        let p_value = if p_value <= 1.0 { p_value.max(0.0) } else { 1.0 };
        let finding = (p_value <= FINDING_BELOW).then_some(finding);
        Self { statistic, p_value, finding }
    }

    fn too_little_data() -> Self {
        Self { statistic: 0.0, p_value: 1.0, finding: None }
    }
}

/// An array that is not runs × epochs × steps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndependenceError {
    /// No epochs or no steps.
    #[error("{name} = 0; pass at least one")]
    Empty {
        /// `epochs` or `steps_per_epoch`.
        name: &'static str,
    },
    /// A number of values that is no multiple of one run.
    #[error(
        "outputs has {actual} values, not a multiple of epochs × steps_per_epoch = {run}; check the \
         shape of the array"
    )]
    Shape {
        /// Values given.
        actual: usize,
        /// Values of one run; the largest number where they exceed it.
        run: usize,
    },
    /// Two worlds whose runs differ in shape.
    #[error(
        "outputs of the two worlds have {target} and {zero_out} values per run; pass both the same \
         epochs and steps"
    )]
    WorldShapes {
        /// Values of a run in D.
        target: usize,
        /// Values of a run in D′.
        zero_out: usize,
    },
}

/// Outputs of many runs, runs × epochs × steps in C order.
#[derive(Debug, Clone, Copy)]
pub struct RecordedRuns<'a> {
    values: &'a [f64],
    epochs: usize,
    steps: usize,
}

impl<'a> RecordedRuns<'a> {
    /// A view of an array.
    ///
    /// # Errors
    /// No epochs, no steps, or a number of values that is no multiple of epochs × steps.
    pub fn new(
        values: &'a [f64],
        epochs: usize,
        steps_per_epoch: usize,
    ) -> Result<Self, IndependenceError> {
        for (name, value) in [("epochs", epochs), ("steps_per_epoch", steps_per_epoch)] {
            if value == 0 {
                return Err(IndependenceError::Empty { name });
            }
        }
        let run = epochs.checked_mul(steps_per_epoch);
        if !run.is_some_and(|run| values.len().is_multiple_of(run)) {
            let run = run.unwrap_or(usize::MAX);
            return Err(IndependenceError::Shape { actual: values.len(), run });
        }
        Ok(Self { values, epochs, steps: steps_per_epoch })
    }

    /// How many runs there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.values.len() / self.run_len()
    }

    /// Whether there is no run.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    const fn run_len(&self) -> usize {
        self.epochs * self.steps
    }

    fn runs(&self) -> impl Iterator<Item = &'a [f64]> + use<'a> {
        self.values.chunks_exact(self.run_len())
    }

    /// Runs without a value that is not finite: the others count as failed elsewhere.
    fn finite_runs(&self) -> impl Iterator<Item = &'a [f64]> + use<'a> {
        self.runs().filter(|run| run.iter().all(|value| value.is_finite()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_is_checked() {
        let values = [0.0; 12];
        assert_eq!(RecordedRuns::new(&values, 2, 3).unwrap().len(), 2);
        assert!(RecordedRuns::new(&[], 2, 3).unwrap().is_empty());
        assert_eq!(
            RecordedRuns::new(&values, 0, 3).unwrap_err(),
            IndependenceError::Empty { name: "epochs" }
        );
        assert_eq!(
            RecordedRuns::new(&values, 1, 5).unwrap_err(),
            IndependenceError::Shape { actual: 12, run: 5 }
        );
    }

    #[test]
    fn a_run_longer_than_memory_is_refused_or_empty() {
        assert_eq!(
            RecordedRuns::new(&[], 1 << (usize::BITS - 1), 2).unwrap_err(),
            IndependenceError::Shape { actual: 0, run: usize::MAX }
        );
        let empty = RecordedRuns::new(&[], 2, usize::MAX / 2).unwrap();
        assert_eq!(empty.len(), 0);
        let checks = [
            repeated_positions_over_epochs(empty),
            repeated_positions_over_runs(empty),
            shared_noise(empty, empty).unwrap(),
            duplicated_runs(empty, empty).unwrap().check,
        ];
        assert_eq!(checks.map(|check| check.p_value), [1.0; 4]);
    }

    #[test]
    fn nan_is_no_finding() {
        let check =
            IndependenceCheck::new(0.0, f64::NAN, Dependence::SharedNoise { correlation: 0.0 });
        assert_eq!((check.p_value, check.finding), (1.0, None));
    }
}
