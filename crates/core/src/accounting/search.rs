//! The work of a query on all its grids, and what it has proven so far.

use std::cell::Cell;

use super::error::is_of_the_grid;
use super::pld::MOST_POINTS;
use super::resolution::Resolution;
use super::{AccountingError, Query};

/// The work of one query on all its grids, and the upper value that it has proven so far.
///
/// A value on any grid is proven: a query without an error ends with what it has once the next grid would
/// exceed the limit.
#[derive(Debug)]
pub(super) struct Search {
    /// Whether the query leaves the error open.
    is_limited: bool,
    /// Whether the distance of an upper value from the exact one is computed.
    has_numeric_error: bool,
    /// Points of all composed grids so far.
    spent: Cell<f64>,
    /// Points of the last grid times its step, nats.
    length: Cell<f64>,
    upper: Cell<Option<(f64, Resolution)>>,
}

/// Maximum number of points of all composed grids of a query without an error; about 2 s.
const MOST_WORK: f64 = 1.8e7;

/// Maximum number of coarser grids for a lower value.
const MOST_COARSER: usize = 6;

impl Search {
    /// The search of a query, before its first grid.
    pub(super) fn new(query: &Query) -> Self {
        Search {
            is_limited: query.error.is_none(),
            has_numeric_error: true,
            spent: Cell::new(0.0),
            length: Cell::new(0.0),
            upper: Cell::new(None),
        }
    }

    /// A search for a lower value alone, with the work that this one has left.
    pub(super) fn rest_for_lower(&self) -> Self {
        let (spent, length, upper) = (self.spent.clone(), Cell::new(0.0), Cell::new(None));
        Search { has_numeric_error: false, spent, length, upper, ..*self }
    }

    pub(super) fn has_numeric_error(&self) -> bool {
        self.has_numeric_error
    }

    /// The smallest upper value so far, and the resolution of its grid, where it may end the search.
    pub(super) fn proven_upper(&self) -> Option<(f64, Resolution)> {
        self.upper.get().filter(|_| self.is_limited)
    }

    /// An error if a grid would exceed the limit; the number of points is about inverse to the step.
    pub(super) fn check(&self, resolution: Resolution) -> Result<(), AccountingError> {
        let points = self.spent.get() + self.length.get() / resolution.step;
        if self.is_limited && points > MOST_WORK {
            return Err(AccountingError::Grid { points, most: MOST_POINTS });
        }
        Ok(())
    }

    /// Adds the points of a grid.
    pub(super) fn spend(&self, points: f64, resolution: Resolution) {
        self.spent.set(self.spent.get() + points);
        self.length.set(points * resolution.step);
    }

    /// Adds an upper value.
    pub(super) fn prove(&self, value: f64, resolution: Resolution) {
        if self.upper.get().is_none_or(|(before, _)| value < before) {
            self.upper.set(Some((value, resolution)));
        }
    }

    /// The value on the first grid that is not too large, each twice as coarse as the one before.
    pub(super) fn coarsened<T>(
        &self,
        start: Resolution,
        value: impl Fn(Resolution) -> Result<T, AccountingError>,
    ) -> Result<T, AccountingError> {
        let mut resolution = start;
        let mut found = value(resolution);
        for _ in 0..MOST_COARSER {
            if !(self.is_limited && found.as_ref().is_err_and(is_of_the_grid)) {
                break;
            }
            resolution = resolution.refined(2.0);
            found = value(resolution);
        }
        found
    }
}

#[cfg(test)]
impl Search {
    /// Maximum number of points, with those of the last grid, whose number is only estimated.
    pub(super) const MOST_SPENT: f64 = 1.3 * MOST_WORK;

    /// Points of all composed grids so far.
    pub(super) fn spent(&self) -> f64 {
        self.spent.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{Given, Training};

    fn query(error: Option<f64>) -> Query {
        let training =
            Training { noise_multiplier: 1.0, steps_per_epoch: 1, epochs: 1, sampling_rate: None };
        Query { error, ..Query::upper(training, Given::Delta(1e-5)) }
    }

    fn grid(step: f64) -> Resolution {
        Resolution { step, widest: step }
    }

    #[test]
    fn grids_are_refused_from_the_limit_on_and_coarser_ones_found() {
        let search = Search::new(&query(None));
        search.spend(0.3 * MOST_WORK, grid(1e-3));
        assert!(search.check(grid(0.5e-3)).is_ok());
        assert!(search.check(grid(0.4e-3)).is_err());
        let checked = |resolution: Resolution| search.check(resolution).map(|()| resolution.step);
        assert_eq!(search.coarsened(grid(0.4e-3), checked), Ok(0.8e-3));
        let noise = || Err::<(), _>(crate::accounting::error::argument("steps", 0.0, "positive"));
        assert!(search.coarsened(grid(1.0), |_| noise()).is_err());
        // a required error is not given up
        let exact = Search::new(&query(Some(1e-3)));
        exact.spend(0.3 * MOST_WORK, grid(1e-3));
        assert!(exact.check(grid(1e-4)).is_ok());
        exact.prove(2.0, grid(1e-3));
        assert!(exact.proven_upper().is_none());
    }

    #[test]
    fn the_smallest_upper_value_is_kept_and_the_rest_has_none() {
        let search = Search::new(&query(None));
        for value in [3.0, 2.0, 2.5] {
            search.prove(value, grid(value));
        }
        assert_eq!(search.proven_upper().map(|(value, grid)| (value, grid.step)), Some((2.0, 2.0)));
        search.spend(5.0, grid(1.0));
        let rest = search.rest_for_lower();
        assert!(rest.proven_upper().is_none() && !rest.has_numeric_error());
        assert!(rest.spent() == 5.0 && search.has_numeric_error());
    }
}
