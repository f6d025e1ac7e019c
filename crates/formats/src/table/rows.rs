//! Values of rows.

/// Values in row-major order; a category is its position among the names.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Number of columns of the schema.
    pub columns: usize,
    /// One value per row and column.
    pub values: Vec<f64>,
}

impl Rows {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len() / self.columns.max(1)
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The rows, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks_exact(self.columns.max(1))
    }
}
