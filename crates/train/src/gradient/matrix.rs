//! Products of matrices.

/// A matrix whose rows lie one after the other, or its transpose.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    row_step: usize,
    column_step: usize,
}

impl<'a> Matrix<'a> {
    pub(super) fn new(values: &'a [f32], rows: usize, columns: usize) -> Self {
        let values = &values[..rows * columns];
        Self { values, rows, columns, row_step: columns, column_step: 1 }
    }

    pub(super) fn transposed(values: &'a [f32], rows: usize, columns: usize) -> Self {
        let of = Self::new(values, rows, columns);
        let (row_step, column_step) = (of.column_step, of.row_step);
        Self { rows: columns, columns: rows, row_step, column_step, ..of }
    }

    /// out = self · right + kept · out, where `out` has its rows one after the other. With `kept` 0
    /// it is overwritten, whatever it holds.
    pub(super) fn times(self, right: Matrix<'_>, kept: f32, out: &mut [f32]) {
        let inner = self.columns.min(right.rows);
        let out = &mut out[..self.rows * right.columns];
        let step = |step: usize| step as isize;
        // SAFETY: a matrix holds `rows * columns` values, each at `row * row_step + column *
        // column_step`; `out` holds all of the product, and no one else has it.
        unsafe {
            matrixmultiply::sgemm(
                self.rows,
                inner,
                right.columns,
                1.0,
                self.values.as_ptr(),
                step(self.row_step),
                step(self.column_step),
                right.values.as_ptr(),
                step(right.row_step),
                step(right.column_step),
                kept,
                out.as_mut_ptr(),
                step(right.columns),
                1,
            );
        }
    }
}
