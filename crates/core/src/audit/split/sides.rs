//! Rows named as members and rows named as non-members, each at half the level.

use super::{NamedRows, SplitError};
use crate::adjacency::Adjacency;

/// The most probable members and the most probable non-members, with a number of each that was fixed
/// beforehand.
///
/// Each side is tested at half the significance, so that the larger bound holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BothSides {
    /// Rows named as members; none if only non-members are named.
    pub members: Option<NamedRows>,
    /// Rows named as non-members; none if only members are named.
    pub non_members: Option<NamedRows>,
}

/// Lower bounds on ε from one split.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SplitBounds {
    /// For replacing one row by another.
    pub replace: f64,
    /// For adding or removing one row.
    pub add_remove: f64,
}

impl SplitBounds {
    /// Nothing is shown.
    pub(super) const NONE: Self = Self { replace: 0.0, add_remove: 0.0 };

    /// The larger of each.
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
    pub(super) fn by(
        bound: impl Fn(Adjacency) -> Result<f64, SplitError>,
    ) -> Result<Self, SplitError> {
        Ok(Self { replace: bound(Adjacency::Replace)?, add_remove: bound(Adjacency::AddRemove)? })
    }
}

impl BothSides {
    /// The bounds of both sides, the larger of each.
    ///
    /// # Errors
    /// [`SplitError::Bound`] for δ or a significance outside their domains.
    pub fn bounds(&self, delta: f64, significance: f64) -> Result<SplitBounds, SplitError> {
        let named = || [self.members, self.non_members].into_iter().flatten();
        let level = significance / named().count().max(1) as f64;
        named().try_fold(SplitBounds::NONE, |largest, side| {
            let bound = |adjacency| side.epsilon_lower(adjacency, delta, level);
            Ok(largest.larger(SplitBounds::by(bound)?))
        })
    }
}
