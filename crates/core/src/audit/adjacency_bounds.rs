//! Lower bounds on ε from one count, for each adjacency.

use crate::adjacency::Adjacency;

/// Lower bounds on ε from one count.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AdjacencyBounds {
    /// For replacing one record by another; 0 where nothing is shown.
    pub replace: f64,
    /// For adding or removing one record; 0 where nothing is shown.
    pub add_remove: f64,
}

impl AdjacencyBounds {
    /// Both bounds 0.
    pub const NONE: Self = Self { replace: 0.0, add_remove: 0.0 };

    /// For each adjacency, the larger of the two bounds.
    #[must_use]
    pub fn larger(self, other: Self) -> Self {
        Self {
            replace: self.replace.max(other.replace),
            add_remove: self.add_remove.max(other.add_remove),
        }
    }

    /// The bound for an adjacency; zero-out is as add/remove.
    #[must_use]
    pub const fn of(&self, adjacency: Adjacency) -> f64 {
        match adjacency {
            Adjacency::Replace => self.replace,
            Adjacency::AddRemove | Adjacency::ZeroOut => self.add_remove,
        }
    }

    /// Bounds of both adjacencies by the same function.
    pub(super) fn by<E>(bound: impl Fn(Adjacency) -> Result<f64, E>) -> Result<Self, E> {
        Ok(Self { replace: bound(Adjacency::Replace)?, add_remove: bound(Adjacency::AddRemove)? })
    }
}
