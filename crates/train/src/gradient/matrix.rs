//! Matrix products.

/// A row-major matrix, or its transpose.
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
        let matrix = Self::new(values, rows, columns);
        let (row_step, column_step) = (matrix.column_step, matrix.row_step);
        Self { rows: columns, columns: rows, row_step, column_step, ..matrix }
    }

    /// out = self · right + beta · out, with `out` row-major. With `beta` 0 the previous content of
    /// `out` is ignored, even NaN.
    pub(super) fn times(self, right: Matrix<'_>, beta: f32, out: &mut [f32]) {
        let inner = self.columns.min(right.rows);
        let out = &mut out[..self.rows * right.columns];
        let step = |step: usize| step as isize;
        // SAFETY: a matrix has `rows * columns` values, each at `row * row_step + column *
        // column_step`;
        // `out` is large enough for the product and exclusively borrowed.
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
                beta,
                out.as_mut_ptr(),
                step(right.columns),
                1,
            );
        }
    }
}
