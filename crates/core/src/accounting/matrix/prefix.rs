//! Errors of prefix sums.

use super::banded;
use super::strategy::{Form, MatrixStrategy};
use crate::accounting::AccountingError;
use crate::accounting::error::argument;

/// Standard deviations of the noise in prefix sums, per coordinate, in units of σ times the clipping
/// norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrefixError {
    /// The root of the mean square over all T sums.
    pub root_mean_square: f64,
    /// That of the sum with the most noise.
    pub largest: f64,
}

/// Which error of prefix sums is minimised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum PrefixObjective {
    /// The root of the mean square.
    #[default]
    Mean,
    /// The largest.
    Largest,
}

impl PrefixObjective {
    /// w of the squared error Σ_t w_t g_t², g the first column of the prefix sums of C⁻¹.
    pub(super) fn weights(self, steps: usize) -> Vec<f64> {
        match self {
            PrefixObjective::Mean => {
                (0..steps).map(|step| (steps - step) as f64 / steps as f64).collect()
            }
            PrefixObjective::Largest => vec![1.0; steps],
        }
    }
}

/// Most products of entries in the inverse of a Toeplitz matrix.
const MOST_PRODUCTS: f64 = 4e9;

impl MatrixStrategy {
    /// The error of prefix sums x₁ + … + x_t, released with the noise (A C⁻¹z)_t, A_ts = 1 for s ≤ t:
    /// √(‖A C⁻¹‖²_F/T), and the norm of the longest row.
    ///
    /// | form | cost |
    /// |---|---|
    /// | tree | T: row t has as many 1 as t has binary digits 1 |
    /// | Toeplitz | T times the bands, or the buffers: row t has norm² g₀² + … + g_t², C·g = 1 |
    /// | lower triangular | T² times half the bands |
    ///
    /// # Guarantee
    /// Equal to those of dense matrices (`crates/core/src/accounting/matrix/tests.rs::errors_are_those_of_dense_matrices`) and of jax_privacy
    /// (`tests/oracles/matrix.rs::errors_are_those_of_jax_privacy`), to 1e-9. Not rounded outward.
    ///
    /// # Errors
    /// [`AccountingError::Argument`] if the noise is not finite, since the inverse grows too fast, or for
    /// too many products.
    pub fn prefix_error(&self) -> Result<PrefixError, AccountingError> {
        let steps = self.steps();
        let squares = match self.form() {
            Form::Tree => (1..=steps).map(|step| f64::from(step.count_ones())).collect(),
            Form::Toeplitz(coefficients, buffers) => {
                if buffers.is_none() && steps as f64 * coefficients.len() as f64 > MOST_PRODUCTS {
                    let allowed = "fewer: steps times bands are above 4e9";
                    return Err(argument("steps", steps as f64, allowed));
                }
                let mut column = match buffers {
                    Some(buffers) => buffers.prefix_column(steps),
                    None => banded::prefix_column(coefficients, steps),
                };
                let mut sum = 0.0;
                column.iter_mut().for_each(|entry| {
                    sum += *entry * *entry;
                    *entry = sum;
                });
                column
            }
            Form::LowerTriangular(entries) => dense_squares(entries, steps, self.bands()),
        };
        let mean = squares.iter().sum::<f64>() / steps as f64;
        let largest = squares.iter().fold(0.0, |a: f64, &b| if b <= a { a } else { b });
        if !(mean.is_finite() && largest.is_finite()) {
            let allowed = "fewer: the inverse of the strategy grows beyond the largest number";
            return Err(argument("steps", steps as f64, allowed));
        }
        Ok(PrefixError { root_mean_square: mean.sqrt(), largest: largest.sqrt() })
    }
}

/// Squares of the norms of the rows of A C⁻¹, column by column of C⁻¹.
fn dense_squares(entries: &[f64], steps: usize, bands: usize) -> Vec<f64> {
    let row = |row: usize| &entries[row * (row + 1) / 2..][..=row];
    let mut squares = vec![0.0; steps];
    let mut column = vec![0.0; steps];
    for first in 0..steps {
        let mut sum = 0.0;
        for at in first..steps {
            let values = row(at);
            let from = (at + 1).saturating_sub(bands).max(first);
            let known = values[from..at].iter().zip(&column[from..at]);
            let shown: f64 = known.map(|(c, x)| c * x).sum();
            column[at] = (f64::from(u8::from(at == first)) - shown) / values[at];
            sum += column[at];
            squares[at] += sum * sum;
        }
    }
    squares
}
