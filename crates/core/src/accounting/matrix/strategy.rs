//! Strategy matrices.

use super::buffered::LinearBuffers;
use super::participation::check_steps;
use crate::accounting::AccountingError;
use crate::accounting::error::argument;

/// A strategy: a lower triangular matrix C of T rows without zeros on its diagonal.
///
/// | form | C | stored |
/// |---|---|---|
/// | identity | independent noise in every step: DP-SGD, DP-FedAvg | 1 |
/// | tree | row t, counted from 1, adds the steps t − 2ᵇ + 1 … t, where 2ᵇ is the largest power of two that divides t | – |
/// | Toeplitz | C_ts = c_{t−s}, 0 from some number of bands on | the bands |
/// | lower triangular | any | T(T + 1)/2 entries |
///
/// Steps are counted from 0. The tree is tree aggregation without restarts: the sum of the first t
/// steps has the noise of as many nodes as t has binary digits 1.
///
/// # Reference
/// Tree: Kairouz et al., arXiv 2103.00039. Square root: Kalinin and Lampert, arXiv 2405.13763. Bands:
/// Choquette-Choo et al., arXiv 2306.08153. Buffers: Dvijotham et al., arXiv 2404.16706.
///
/// # Example
/// ```
/// use dpscope_core::accounting::matrix::MatrixStrategy;
/// let tree = MatrixStrategy::tree(16);
/// assert_eq!(tree.norm(&[0]), 5.0_f64.sqrt()); // the nodes that end at 1, 2, 4, 8 and 16
/// assert_eq!(tree.norm(&[15]), 1.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixStrategy {
    steps: usize,
    form: Form,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    Tree,
    /// The first column, without zeros at its end, and buffers that generate it.
    Toeplitz(Vec<f64>, Option<LinearBuffers>),
    /// Row after row, up to the diagonal.
    LowerTriangular(Vec<f64>),
}

/// Most rows of a matrix that is stored entry by entry.
pub const MOST_ROWS: usize = 2_500;

/// An entry or shape that no strategy has.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StrategyMatrixError {
    /// Not a square matrix, or too large.
    #[error(
        "has {rows} rows and {entries} entries; expected a square matrix of 1 to {MOST_ROWS} rows"
    )]
    Shape {
        /// Number of rows.
        rows: usize,
        /// Number of entries.
        entries: usize,
    },
    /// An entry that is not allowed at its place.
    #[error(
        "has {} in row {row}, column {column}; it must be {allowed}",
        crate::format::given(*.value)
    )]
    Entry {
        /// Row, counted from 1.
        row: usize,
        /// Column, counted from 1.
        column: usize,
        /// The entry.
        value: f64,
        /// What is allowed.
        allowed: &'static str,
    },
}

impl MatrixStrategy {
    /// The identity matrix, C = I.
    #[must_use]
    pub fn identity(steps: u32) -> Self {
        Self::of_bands(steps, vec![1.0])
    }

    /// Tree aggregation.
    #[must_use]
    pub const fn tree(steps: u32) -> Self {
        Self { steps: steps as usize, form: Form::Tree }
    }

    /// A Toeplitz matrix whose first column is proportional to 1, 1/2, 3/8, …, the coefficients of
    /// (1 − x)^−½, up to a number of bands, and has norm 1.
    #[must_use]
    pub fn banded_square_root(steps: u32, bands: u32) -> Self {
        let mut coefficients = square_root_coefficients(bands);
        let norm = coefficients.iter().map(|band| band * band).sum::<f64>().sqrt();
        coefficients.iter_mut().for_each(|band| *band /= norm);
        Self::of_bands(steps, coefficients)
    }

    /// A Toeplitz matrix from its bands, which are not 0 at both ends.
    pub(super) fn of_bands(steps: u32, bands: Vec<f64>) -> Self {
        Self { steps: steps as usize, form: Form::Toeplitz(bands, None) }
    }

    /// A Toeplitz matrix from its first column.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `steps` | T | 1 to 10⁶ |
    /// | `coefficients` | c₀, c₁, …; zeros follow | 1 to T numbers, \|c\| ≤ 1e15, c₀ ≥ 1e-15 |
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    pub fn toeplitz(steps: u32, coefficients: &[f64]) -> Result<Self, AccountingError> {
        check_steps(steps)?;
        check_bands(steps, coefficients.len() as u64)?;
        if let Some(value) = coefficients.iter().find(|value| !(value.abs() <= 1e15)) {
            return Err(argument("coefficients", *value, "of absolute value at most 1e15"));
        }
        if !(coefficients[0] >= 1e-15) {
            return Err(argument(
                "coefficients",
                coefficients[0],
                "at least 1e-15 in the diagonal",
            ));
        }
        let bands = coefficients.iter().rposition(|&value| value != 0.0).map_or(1, |last| last + 1);
        Ok(Self::of_bands(steps, coefficients[..bands].to_vec()))
    }

    /// A Toeplitz matrix that linear buffers generate.
    ///
    /// # Errors
    /// [`AccountingError::Argument`] for no steps, or more than 10⁶.
    pub fn buffered(steps: u32, buffers: LinearBuffers) -> Result<Self, AccountingError> {
        check_steps(steps)?;
        let coefficients = buffers.coefficients(steps as usize);
        Ok(Self { steps: steps as usize, form: Form::Toeplitz(coefficients, Some(buffers)) })
    }

    /// A matrix from all its entries, row after row.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `rows` | T | 1 to 2,500 |
    /// | `entries` | T² entries, at most 1e15 | 0 above the diagonal, from 1e-15 in it |
    ///
    /// # Errors
    /// [`StrategyMatrixError`], with the place.
    pub fn lower_triangular(rows: usize, entries: &[f64]) -> Result<Self, StrategyMatrixError> {
        if !(1..=MOST_ROWS).contains(&rows) || entries.len() != rows * rows {
            return Err(StrategyMatrixError::Shape { rows, entries: entries.len() });
        }
        let mut kept = Vec::with_capacity(rows * (rows + 1) / 2);
        for (row, values) in entries.chunks_exact(rows).enumerate() {
            for (column, &value) in values.iter().enumerate() {
                let allowed = match column.cmp(&row) {
                    _ if !(value.abs() <= 1e15) => "a number of absolute value at most 1e15",
                    std::cmp::Ordering::Greater if value != 0.0 => {
                        "0: a strategy matrix is lower triangular"
                    }
                    std::cmp::Ordering::Equal if !(value.abs() >= 1e-15) => {
                        "of absolute value at least 1e-15 in the diagonal: other matrices are singular"
                    }
                    _ => continue,
                };
                let (row, column) = (row + 1, column + 1);
                return Err(StrategyMatrixError::Entry { row, column, value, allowed });
            }
            kept.extend_from_slice(&values[..=row]);
        }
        Ok(Self { steps: rows, form: Form::LowerTriangular(kept) })
    }

    /// Number of steps, T.
    #[must_use]
    pub const fn steps(&self) -> usize {
        self.steps
    }

    /// The first column of a Toeplitz matrix, without zeros at its end; none for another matrix.
    #[must_use]
    pub fn coefficients(&self) -> Option<&[f64]> {
        match &self.form {
            Form::Toeplitz(coefficients, _) => Some(coefficients),
            Form::Tree | Form::LowerTriangular(_) => None,
        }
    }

    /// The buffers that generate the matrix, if it was built from some.
    #[must_use]
    pub const fn buffers(&self) -> Option<&LinearBuffers> {
        match &self.form {
            Form::Toeplitz(_, buffers) => buffers.as_ref(),
            Form::Tree | Form::LowerTriangular(_) => None,
        }
    }

    pub(super) const fn form(&self) -> &Form {
        &self.form
    }

    /// Number of diagonals that are not 0, from the main one on.
    #[must_use]
    pub fn bands(&self) -> usize {
        match &self.form {
            Form::Tree => 1 << self.steps.max(1).ilog2(),
            Form::Toeplitz(coefficients, _) => coefficients.len().min(self.steps),
            Form::LowerTriangular(entries) => {
                let width = |row: usize| {
                    let values = &entries[row * (row + 1) / 2..][..=row];
                    values.iter().position(|&value| value != 0.0).map_or(1, |first| row + 1 - first)
                };
                (0..self.steps).map(width).max().unwrap_or(1)
            }
        }
    }

    /// Most entries of a column that are not 0.
    pub(super) fn column_length(&self) -> usize {
        match &self.form {
            Form::Tree => self.steps.max(1).ilog2() as usize + 1,
            Form::Toeplitz(..) => self.bands(),
            Form::LowerTriangular(_) => self.steps,
        }
    }

    /// Whether no entry is negative.
    pub(super) fn is_non_negative(&self) -> bool {
        match &self.form {
            Form::Tree => true,
            Form::Toeplitz(values, _) | Form::LowerTriangular(values) => {
                values.iter().all(|&value| value >= 0.0)
            }
        }
    }

    /// The entries of a column that may not be 0, with their rows.
    pub(super) fn column(&self, step: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (mut row, mut band) = (step, 0);
        std::iter::from_fn(move || {
            if row >= self.steps {
                return None;
            }
            match &self.form {
                // the next row, counted from 1, whose steps include this one
                Form::Tree => {
                    let entry = (row, 1.0);
                    row += 1 << (row + 1).trailing_zeros();
                    Some(entry)
                }
                Form::Toeplitz(coefficients, _) => {
                    let entry = (row, *coefficients.get(band)?);
                    row += 1;
                    band += 1;
                    Some(entry)
                }
                Form::LowerTriangular(entries) => {
                    let entry = (row, entries[row * (row + 1) / 2 + step]);
                    row += 1;
                    Some(entry)
                }
            }
        })
    }

    /// CᵀC·1_R: the weights of the releases that decide best between a participant in the steps R
    /// and none, as pairs of step and weight.
    #[must_use]
    pub fn weights(&self, steps: &[u32]) -> Vec<(usize, f64)> {
        let mut seen = vec![0.0; self.steps];
        for (row, entry) in steps.iter().flat_map(|&step| self.column(step as usize)) {
            seen[row] += entry;
        }
        let weight = |step| self.column(step).map(|(row, entry)| entry * seen[row]).sum();
        let weights = (0..self.steps).map(|step| (step, weight(step)));
        weights.filter(|&(_, weight)| weight != 0.0).collect()
    }

    /// ‖C·1_R‖: what a participant in the steps R shows who sends the same update of norm 1 in each.
    /// Steps beyond the last one show nothing.
    #[must_use]
    pub fn norm(&self, steps: &[u32]) -> f64 {
        let steps = steps.iter().map(|&step| step as usize);
        self.square(steps, &mut vec![0.0; self.steps]).sqrt()
    }

    /// ‖C·1_R‖², with scratch memory of zeros.
    pub(super) fn square(
        &self,
        steps: impl Iterator<Item = usize> + Clone,
        seen: &mut [f64],
    ) -> f64 {
        let entries = || steps.clone().flat_map(|step| self.column(step));
        entries().for_each(|(row, entry)| seen[row] += entry);
        // Σ C_tr (C·1_R)_t over r ∈ R
        let square = entries().map(|(row, entry)| entry * seen[row]).sum();
        entries().for_each(|(row, _)| seen[row] = 0.0);
        square
    }
}

/// The first coefficients of (1 − x)^−½, at least one.
pub(super) fn square_root_coefficients(count: u32) -> Vec<f64> {
    let mut coefficients = vec![1.0];
    let mut last = 1.0;
    for j in 1..count {
        last *= 1.0 - 0.5 / f64::from(j);
        coefficients.push(last);
    }
    coefficients
}

pub(super) fn check_bands(steps: u32, bands: u64) -> Result<(), AccountingError> {
    if (1..=u64::from(steps)).contains(&bands) {
        Ok(())
    } else {
        Err(argument("bands", bands as f64, "from 1 to the number of steps"))
    }
}
