//! Random sets of rows, one of which is of the rarer side.

use super::SplitError;
use crate::audit::one_run::ListGuesses;

/// Sets of S rows, in each of which one row, the odd one, is of the rarer side.
///
/// The r rows of the rarer side are matched with S − 1 others each at random, S = ⌊larger/r⌋ + 1; the rows
/// that are left over are never guessed. Given the sets, the odd rows are independent and uniform, whichever
/// side is rarer.
///
/// # Proof
/// The number of matchings of a split depends on N, r and S alone, so all S^r splits that fit the sets have
/// the same probability. Moving the odd place of a set replaces one record, and removing it from a data set
/// with all rows of the set, or adding it to one with none, is the hub of [`ListGuesses`].
///
/// The matching must not see sides or scores. Matching on covariates breaks this unless it is random within
/// blocks that were formed without sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SplitSets {
    rarer: u64,
    larger: u64,
    odd_is_included: bool,
}

impl SplitSets {
    /// The sets of a split.
    ///
    /// # Errors
    /// [`SplitError::Side`] if a side has no rows.
    pub const fn new(included: u64, not_included: u64) -> Result<Self, SplitError> {
        let rows = included.saturating_add(not_included);
        if included == 0 || not_included == 0 || rows > 1_000_000_000_000 {
            return Err(SplitError::Side { side: included, rows });
        }
        let odd_is_included = included < not_included;
        let (rarer, larger) = match odd_is_included {
            true => (included, not_included),
            false => (not_included, included),
        };
        Ok(Self { rarer, larger, odd_is_included })
    }

    /// Rows of a set: S.
    #[must_use]
    pub const fn set_size(&self) -> u64 {
        self.larger / self.rarer + 1
    }

    /// Number of sets: that of the rows of the rarer side.
    #[must_use]
    pub const fn sets(&self) -> u64 {
        self.rarer
    }

    /// Whether the odd row of a set was trained on; else the others were.
    #[must_use]
    pub const fn odd_is_included(&self) -> bool {
        self.odd_is_included
    }

    /// Rows of the larger side that are in no set.
    #[must_use]
    pub const fn left_over(&self) -> u64 {
        self.larger - self.rarer * (self.set_size() - 1)
    }

    /// The guesses of the odd row of k sets, v of them correct.
    ///
    /// # Errors
    /// [`SplitError::Bound`] for counts outside their domains.
    pub fn guesses(&self, guesses: u64, correct: u64) -> Result<ListGuesses, SplitError> {
        let lists = ListGuesses::new(self.sets(), self.set_size(), 1)?;
        Ok(lists.with_counts(guesses, correct)?)
    }
}
