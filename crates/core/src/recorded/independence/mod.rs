//! Checks that recorded runs are independent, as confidence limits require.
//!
//! Each check has a statistic, a p-value under independence, and a finding if the p-value is small.

mod checks;
mod dependence;
mod duplicates;
mod lag;
mod positions;
mod runs;
mod shared_noise;
mod tail;

pub use checks::{CheckKind, CheckedWorld, IndependenceChecks, NamedCheck};
pub use dependence::{CHECKS, Dependence, FALSE_ALARM, FINDING_BELOW, IndependenceCheck};
pub use duplicates::{DuplicatedRuns, duplicated_runs};
pub use lag::lag_one_correlation;
pub use positions::{repeated_positions_over_epochs, repeated_positions_over_runs};
pub use runs::{IndependenceError, RecordedRuns, RunIndex};
pub use shared_noise::shared_noise;
pub(super) use tail::{binomial_at_least, student_limit};

#[cfg(test)]
mod tests {
    use super::*;

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
}
