//! How fine a grid is.

/// Resolution of a grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolution {
    /// Step of the grid, nats.
    pub(super) step: f64,
    /// Widest cell, nats.
    pub(super) widest: f64,
}

impl Resolution {
    pub(super) fn refined(self, factor: f64) -> Self {
        Resolution { step: self.step * factor, widest: self.widest * factor }
    }
}
