/// Channels of a grid; a flat vector of n numbers is (n, 1, 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Numbers at each place of the grid.
    pub channels: usize,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl Shape {
    /// Numbers in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.channels * self.height * self.width
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
