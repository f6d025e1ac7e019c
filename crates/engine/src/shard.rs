//! Ranges of units.

use serde::{Deserialize, Serialize};

use crate::ShardError;

/// Units `first..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitRange {
    /// First index.
    pub first: u64,
    /// One after the last index.
    pub end: u64,
}

impl UnitRange {
    /// Number of units.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.end.saturating_sub(self.first)
    }

    /// The first `most` units.
    pub(crate) fn first(&self, most: u64) -> Self {
        UnitRange { first: self.first, end: self.end.min(self.first.saturating_add(most)) }
    }

    /// The first gap between sorted ranges; empty if there is none.
    pub(crate) fn first_gap(&self, ranges: &[UnitRange]) -> UnitRange {
        let mut first = self.first;
        for range in ranges {
            if range.first > first {
                return UnitRange { first, end: range.first };
            }
            first = range.end;
        }
        UnitRange { first, end: self.end }
    }

    /// Whether the range is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::fmt::Display for UnitRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.first, self.end)
    }
}

/// Shard `index` of `count`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// 1 to `count`.
    pub index: u64,
    /// Number of shards.
    pub count: u64,
}

impl Shard {
    /// The whole run.
    pub const WHOLE: Shard = Shard { index: 1, count: 1 };

    /// The units of this shard. The shards of a plan are disjoint and cover it.
    ///
    /// # Errors
    /// An index outside 1..=count, or more shards than units.
    pub fn range(&self, units: u64) -> Result<UnitRange, ShardError> {
        let Shard { index, count } = *self;
        if !(1..=count).contains(&index) || count > units {
            return Err(ShardError { index, count, max: units });
        }
        let edge = |i: u64| (u128::from(units) * u128::from(i) / u128::from(count)) as u64;
        Ok(UnitRange { first: edge(index - 1), end: edge(index) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_a_plan_without_overlap() {
        for count in [1, 2, 3, 7, 64, 10_000] {
            let ranges = (1..=count).map(|index| Shard { index, count }.range(10_000).unwrap());
            let end = ranges.fold(0, |end, range| {
                assert_eq!(range.first, end);
                assert!(!range.is_empty());
                range.end
            });
            assert_eq!(end, 10_000);
        }
    }

    #[test]
    fn missing_shards_are_refused() {
        for (index, count) in [(0, 1), (3, 2), (1, 0), (1, 10_001)] {
            assert!(Shard { index, count }.range(10_000).is_err(), "{index}/{count}");
        }
    }
}
