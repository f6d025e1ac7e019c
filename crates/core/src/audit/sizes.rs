//! The size that an audit needs.

/// Larger audits are not planned.
const LARGEST: u64 = 1_000_000_000;

/// The smallest size from `fewest` on, in steps of 1 %, that reaches what is wanted; none up to 10⁹. The search
/// begins at `first`.
pub(super) fn smallest_size<E>(
    fewest: u64,
    first: u64,
    reaches: impl Fn(u64) -> Result<bool, E>,
) -> Result<Option<u64>, E> {
    // a size that is too small, and one that may do
    let (mut low, mut high) = (fewest.saturating_sub(1), fewest.max(first));
    if high > LARGEST {
        return Ok(None);
    }
    while !reaches(high)? {
        if high == LARGEST {
            return Ok(None);
        }
        (low, high) = (high, (2 * high).min(LARGEST));
    }
    while high - low > (low / 100).max(1) {
        let middle = low + (high - low) / 2;
        if reaches(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(Some(high))
}
