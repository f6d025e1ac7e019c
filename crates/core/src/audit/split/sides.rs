//! Rows named as members and rows named as non-members, each at half the level.

use super::{NamedRows, SplitError};
use crate::adjacency::Adjacency;
use crate::audit::AdjacencyBounds;

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

impl BothSides {
    /// The bounds of both sides, the larger of each.
    ///
    /// # Errors
    /// [`SplitError::Bound`] for δ or a significance outside their domains.
    pub fn bounds(&self, delta: f64, significance: f64) -> Result<AdjacencyBounds, SplitError> {
        let bound =
            |side: &NamedRows, adjacency, level| side.epsilon_lower(adjacency, delta, level);
        self.bounds_by(significance, bound)
    }

    /// The bounds of both sides, by a function of a side, an adjacency and the level of the side.
    pub(super) fn bounds_by(
        &self,
        significance: f64,
        bound: impl Fn(&NamedRows, Adjacency, f64) -> Result<f64, SplitError>,
    ) -> Result<AdjacencyBounds, SplitError> {
        let named = || [self.members, self.non_members].into_iter().flatten();
        let level = significance / named().count().max(1) as f64;
        named().try_fold(AdjacencyBounds::NONE, |largest, side| {
            Ok(largest.larger(AdjacencyBounds::by(|adjacency| bound(&side, adjacency, level))?))
        })
    }
}
