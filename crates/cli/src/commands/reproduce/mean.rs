//! Means with standard errors.

use dpscope_core::format::rounded;
use serde::{Deserialize, Serialize};

/// A mean, an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct MeanEstimate {
    pub(super) value: f64,
    pub(super) standard_error: f64,
}

impl MeanEstimate {
    /// Standard errors beyond which means differ. Student's distribution needs 2.8 for 95 % with
    /// [`Self::LEAST_RUNS`] values.
    pub(super) const ERRORS: f64 = 3.0;
    /// With fewer values, standard errors say little.
    pub(super) const LEAST_RUNS: u64 = 5;

    /// The mean of independent values; its standard error is 0 for a single one.
    pub(super) fn of(values: &[f64]) -> Self {
        let count = values.len().max(1) as f64;
        let value = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|one| (one - value) * (one - value)).sum();
        let standard_error = (squares / (count - 1.0).max(1.0) / count).sqrt();
        Self { value, standard_error }
    }

    /// The difference of two independent means.
    pub(super) fn less(self, other: Self) -> Self {
        let squares =
            self.standard_error * self.standard_error + other.standard_error * other.standard_error;
        Self { value: self.value - other.value, standard_error: squares.sqrt() }
    }

    /// The mean ± its standard error.
    pub(super) fn text(self, digits: usize) -> String {
        format!("{} ± {}", rounded(self.value, digits), rounded(self.standard_error, digits))
    }
}
