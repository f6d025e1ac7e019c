//! Rows of a batch, dense or sparse.

/// The features of a record other than 0, in ascending order.
///
/// Functions panic if a place is beyond the features of the network, or the slices differ in length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SparseRow<'a, N> {
    /// Indices of the features.
    pub places: &'a [u32],
    /// Their values, which are finite.
    pub values: &'a [N],
}

/// Rows of a batch, those of canaries first.
#[derive(Debug, Clone, Copy)]
pub struct BatchRows<'a, N> {
    /// Features of the first rows, `inputs()` per row.
    pub examples: &'a [N],
    /// The other rows.
    pub sparse: &'a [SparseRow<'a, N>],
    /// Labels, one per row.
    pub labels: &'a [u32],
    /// Number of rows that are canaries; they are not sparse.
    pub canaries: usize,
}

/// Rows of one kind.
#[derive(Debug, Clone, Copy)]
pub(super) enum Inputs<'a> {
    Dense(&'a [f32]),
    Sparse(&'a [SparseRow<'a, f32>]),
}

impl<'a> BatchRows<'a, f32> {
    /// The rows from `first` to the end of their kind, at most `count`, and their labels. A group of
    /// canaries contains no other rows, so that sums do not depend on how records are stored.
    pub(super) fn group(&self, first: usize, count: usize) -> (Inputs<'a>, &'a [u32]) {
        let dense = self.labels.len() - self.sparse.len();
        let kinds = [self.canaries, dense, self.labels.len()];
        let end = kinds.into_iter().find(|&end| end > first).unwrap_or(first);
        let end = end.min(first + count);
        let inputs = self.examples.len() / dense.max(1);
        let rows = match first.checked_sub(dense) {
            Some(first) => Inputs::Sparse(&self.sparse[first..end - dense]),
            None => Inputs::Dense(&self.examples[first * inputs..end * inputs]),
        };
        (rows, &self.labels[first..end])
    }
}

impl SparseRow<'_, f32> {
    /// Writes all features, zeros included.
    pub(super) fn expand(&self, out: &mut [f32]) {
        out.fill(0.0);
        for (&place, &value) in self.places.iter().zip(self.values) {
            out[place as usize] = value;
        }
    }
}
