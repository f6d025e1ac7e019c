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
        let out = &mut out[..self.rows * right.columns];
        #[cfg(not(any(target_arch = "wasm32", feature = "portable")))]
        self.times_packed(right, beta, out);
        #[cfg(any(target_arch = "wasm32", feature = "portable"))]
        self.times_in_place(right, beta, out);
    }

    #[cfg(not(any(target_arch = "wasm32", feature = "portable")))]
    fn times_packed(self, right: Matrix<'_>, beta: f32, out: &mut [f32]) {
        let inner = self.columns.min(right.rows);
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

    /// By kernels of ours: those of `matrixmultiply` use no vectors in WebAssembly.
    #[cfg(any(target_arch = "wasm32", feature = "portable", test))]
    fn times_in_place(self, right: Matrix<'_>, beta: f32, out: &mut [f32]) {
        use super::instruction_set::InstructionSet;
        use super::row_products::{DotProducts, Start, WeightedRows};

        let set = InstructionSet::detect();
        if right.column_step == 1 {
            let start = if beta == 0.0 { Start::Zero } else { Start::Out };
            let steps = [self.row_step, self.column_step];
            let (factors, rows, length) = (self.values, right.values, right.columns);
            set.run(WeightedRows { factors, steps, rows, length, start, out });
        } else {
            if beta == 0.0 {
                out.fill(0.0);
            }
            let (left, right, terms) = (self.values, right.values, self.columns);
            set.run(DotProducts { left, right, terms, out });
        }
    }
}

#[cfg(all(test, not(feature = "portable")))]
mod tests {
    use super::*;

    fn values(count: usize, seed: usize) -> Vec<f32> {
        (0..count).map(|at| ((at * 37 + seed * 11) % 101) as f32 / 50.0 - 1.0).collect()
    }

    /// The products of a layer: outputs, and gradients of inputs and of weights.
    #[test]
    fn products_in_place_equal_packed_ones() {
        for (rows, inner, columns) in [(1, 1, 1), (5, 600, 32), (50, 32, 100), (7, 3, 9)] {
            let (row_major, other) = (values(rows * inner, 1), values(inner * columns, 2));
            let (by_columns, turned) = (values(columns * inner, 3), values(inner * rows, 4));
            for (left, right) in [
                (Matrix::new(&row_major, rows, inner), Matrix::new(&other, inner, columns)),
                (
                    Matrix::new(&row_major, rows, inner),
                    Matrix::transposed(&by_columns, columns, inner),
                ),
                (Matrix::transposed(&turned, inner, rows), Matrix::new(&other, inner, columns)),
            ] {
                for beta in [0.0, 1.0] {
                    let start = if beta == 0.0 { f32::NAN } else { 0.5 };
                    let (mut packed, mut in_place) =
                        (vec![start; rows * columns], vec![start; rows * columns]);
                    left.times_packed(right, beta, &mut packed);
                    left.times_in_place(right, beta, &mut in_place);
                    let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-4 * (1.0 + b.abs());
                    assert!(in_place.iter().zip(&packed).all(near), "{rows} {inner} {columns}");
                }
            }
        }
    }
}
