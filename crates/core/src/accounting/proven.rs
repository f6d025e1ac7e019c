//! What is proven below and above, where the exact value is not known.

use super::answer::Basis;
use super::{Accounted, AccountingError, AccountingResult, Given, Kind, Method, Query};
use crate::adjacency::Scope;

/// The tightest of several proven values: the smallest upper or the largest lower one. If all are errors,
/// the first error.
pub(super) fn tightest(
    query: &Query,
    candidates: impl IntoIterator<Item = AccountingResult>,
) -> AccountingResult {
    let is_tighter = |other: &Accounted, best: &Accounted| {
        let [other, best] = [other, best].map(|row| row.value(query.given));
        if query.kind == Kind::Lower { other > best } else { other < best }
    };
    let tighter = |best: AccountingResult, other: AccountingResult| match (best, other) {
        (Ok(best), Ok(other)) => Ok(if is_tighter(&other, &best) { other } else { best }),
        (Ok(found), Err(_)) | (Err(_), Ok(found)) => Ok(found),
        (Err(first), Err(_)) => Err(first),
    };
    candidates.into_iter().reduce(tighter).unwrap_or_else(|| Err(query.refused()))
}

/// A value on the safe side of the exact one of a pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct Computed {
    pub(super) value: f64,
    /// Largest distance from the exact value; infinite if it was not computed.
    pub(super) numeric_error: f64,
}

impl Computed {
    pub(super) const ZERO: Computed = Computed { value: 0.0, numeric_error: 0.0 };

    pub(super) fn of(row: &Accounted, given: Given) -> Self {
        Computed { value: row.value(given), numeric_error: row.numeric_error }
    }

    pub(super) fn without_error(value: f64) -> Self {
        Computed { value, numeric_error: f64::INFINITY }
    }

    /// The larger of two lower values of a pair; `other` has a known error.
    pub(super) fn or_nearer(self, other: Self) -> Self {
        let nearer = (self.value - other.value).max(0.0);
        Computed {
            value: self.value.max(other.value),
            numeric_error: (other.numeric_error - nearer).max(0.0),
        }
    }

    pub(super) fn or_larger(self, other: Self) -> Self {
        if other.value > self.value { other } else { self }
    }

    pub(super) fn or_smaller(self, other: Self) -> Self {
        if other.value < self.value { other } else { self }
    }
}

/// What is proven of all data sets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Proven {
    /// Value of the worst known data set.
    pub(super) lower: Computed,
    /// Value of a pair that dominates every data set.
    pub(super) upper: Computed,
}

impl Proven {
    /// The lower and the upper value.
    pub(super) fn both(
        self,
        query: &Query,
        method: Method,
    ) -> Result<[Accounted; 2], AccountingError> {
        let side = |kind| self.accounted(&Query { kind, ..*query }, method);
        Ok([side(Kind::Lower)?, side(Kind::Upper)?])
    }

    /// The side that the query requests.
    pub(super) fn accounted(self, query: &Query, method: Method) -> AccountingResult {
        let lower = self.lower.value.min(self.upper.value);
        let gap = self.upper.value - lower;
        let (value, numeric_error) = match query.kind {
            Kind::Lower => (lower, self.lower.numeric_error),
            _ => (self.upper.value, self.upper.numeric_error),
        };
        let numeric_error = numeric_error.min(gap);
        let theory_gap = (gap > numeric_error).then_some(gap);
        let (scope, directions) = (Scope::Mechanism, query.directions);
        let basis = Basis { scope, directions, method, numeric_error };
        let row = Accounted::new(query.kind, query.given, value, basis).checked(query)?;
        Ok(Accounted { theory_gap, ..row })
    }
}
