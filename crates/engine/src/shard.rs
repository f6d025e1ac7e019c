//! Ranges of observations.

use serde::{Deserialize, Serialize};

use crate::{Plan, PlanError};

/// Observations `first..end` of each world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObservationRange {
    /// First index.
    pub first: u64,
    /// One after the last index.
    pub end: u64,
}

impl ObservationRange {
    /// Observations of one world.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.end.saturating_sub(self.first)
    }

    /// The first gap between sorted ranges; empty if there is none.
    pub(crate) fn first_gap(&self, ranges: &[ObservationRange]) -> ObservationRange {
        let mut first = self.first;
        for range in ranges {
            if range.first > first {
                return ObservationRange { first, end: range.first };
            }
            first = range.end;
        }
        ObservationRange { first, end: self.end }
    }

    /// Whether the range is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl std::fmt::Display for ObservationRange {
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

    /// The observations of this shard. The shards of a plan are disjoint and cover it.
    ///
    /// # Errors
    /// An index outside 1..=count, or more shards than observations in a world.
    pub fn range(&self, plan: &Plan) -> Result<ObservationRange, PlanError> {
        let Shard { index, count } = *self;
        let max = plan.observations_per_world();
        if !(1..=count).contains(&index) || count > max {
            return Err(PlanError::Shard { index, count, max });
        }
        let edge = |i: u64| (u128::from(max) * u128::from(i) / u128::from(count)) as u64;
        Ok(ObservationRange { first: edge(index - 1), end: edge(index) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::plan;

    #[test]
    fn shards_cover_a_plan_without_overlap() {
        for count in [1, 2, 3, 7, 64, 10_000] {
            let ranges = (1..=count).map(|index| Shard { index, count }.range(&plan()).unwrap());
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
            assert!(Shard { index, count }.range(&plan()).is_err(), "{index}/{count}");
        }
    }
}
