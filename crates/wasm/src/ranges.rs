//! Ranges of units that a page passes.

use dpscope_engine::UnitRange;

/// An invalid index becomes an empty range, or one that the coordinator has not assigned.
pub(crate) fn range_of(first: f64, end: f64) -> UnitRange {
    UnitRange { first: first as u64, end: end as u64 }
}

/// The range `first..end`, without units from `units` on.
pub(crate) fn range_within(first: f64, end: f64, units: u64) -> UnitRange {
    range_of(first.min(units as f64), end.min(units as f64))
}
