//! Outputs of recorded runs.

use crate::adjacency::World;

/// A recorded run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunIndex {
    /// Its world.
    pub world: World,
    /// Its place in the world's file, from 0.
    pub run: usize,
}

/// Errors of the shape of recorded outputs.
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
        /// Number of values.
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
    pub(in crate::recorded) epochs: usize,
    pub(super) steps: usize,
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

    /// Finite outputs of a shape that they are known to have.
    pub(in crate::recorded) const fn of_shape(
        values: &'a [f64],
        [epochs, steps]: [usize; 2],
    ) -> Self {
        RecordedRuns { values, epochs, steps }
    }

    /// Some of the runs; none outside them.
    pub(crate) fn part(&self, runs: std::ops::Range<usize>) -> Self {
        let length = self.run_len();
        let values = self.values.get(runs.start * length..runs.end * length);
        RecordedRuns { values: values.unwrap_or_default(), ..*self }
    }

    /// Number of runs.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.values.len() / self.run_len()
    }

    /// Whether there is no run.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Steps per epoch.
    pub(crate) const fn steps(&self) -> usize {
        self.steps
    }

    pub(super) const fn run_len(&self) -> usize {
        self.epochs * self.steps
    }

    /// The outputs of each run, epoch-major.
    pub fn runs(&self) -> impl Iterator<Item = &'a [f64]> + use<'a> {
        self.values.chunks_exact(self.run_len())
    }

    /// Runs whose values are all finite; the others count as failed runs.
    pub(in crate::recorded) fn finite_runs(&self) -> impl Iterator<Item = &'a [f64]> + use<'a> {
        self.runs().filter(|run| run.iter().all(|value| value.is_finite()))
    }

    /// Refuses two worlds whose runs differ in shape.
    pub(super) fn check_shape(self, zero_out: RecordedRuns<'_>) -> Result<(), IndependenceError> {
        if (self.epochs, self.steps) == (zero_out.epochs, zero_out.steps) {
            return Ok(());
        }
        let (target, zero_out) = (self.run_len(), zero_out.run_len());
        Err(IndependenceError::WorldShapes { target, zero_out })
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
}
