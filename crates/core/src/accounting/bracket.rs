//! Upper and lower values of a composed pair, refined until they are as close as required.

use super::answer::Basis;
use super::error::argument;
use super::pld::{LossCells, MOST_POINTS, Rounding};
use super::{Accounted, AccountingError, AccountingResult, Given, Kind, Method, Query};
use crate::adjacency::{Directions, Scope};

/// Resolution of a grid.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolution {
    /// Step of the grid, nats.
    pub(super) step: f64,
    /// Widest cell, nats.
    pub(super) widest: f64,
}

impl Resolution {
    pub(super) fn refined(self, factor: f64) -> Self {
        Resolution { step: self.step * factor, widest: self.widest * factor }
    }
}

/// An interval that contains the exact value: ε at a δ, or δ at an ε.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bracket {
    pub(super) lower: f64,
    pub(super) upper: f64,
}

impl Bracket {
    pub(super) fn gap(&self) -> f64 {
        self.upper - self.lower
    }

    /// Whether the gap is at most the required one, which is relative for δ.
    pub(super) fn is_near(&self, given: Given, error: f64) -> bool {
        self.excess(given, error) <= 1.0
    }

    /// The gap in units of the required one; a δ below 1e-200 counts as 0.
    pub(super) fn excess(&self, given: Given, error: f64) -> f64 {
        let required = match given {
            Given::Delta(_) => error,
            Given::Epsilon(_) => (error * self.upper).max(1e-200),
        };
        let excess = self.gap() / required;
        if excess.is_nan() { f64::INFINITY } else { excess }
    }

    pub(super) fn tighter(self, other: Self) -> Self {
        Bracket { lower: self.lower.max(other.lower), upper: self.upper.min(other.upper) }
    }

    pub(super) fn larger(self, other: Self) -> Self {
        Bracket { lower: self.lower.max(other.lower), upper: self.upper.max(other.upper) }
    }
}

/// The side of the interval that the query requests, at its error, or else at the first of `errors`
/// whose grid is not too large.
pub(super) fn answer(
    query: &Query,
    errors: &[f64],
    method: Method,
    bracket: &dyn Fn(f64) -> Result<Bracket, AccountingError>,
) -> AccountingResult {
    if query.kind == Kind::Estimate {
        return Err(query.refused());
    }
    let found = match query.error {
        Some(error) => bracket(error)?,
        None => finest(errors, bracket)?,
    };
    let value = if query.kind == Kind::Lower { found.lower } else { found.upper };
    let (scope, directions) = (Scope::Mechanism, query.directions);
    let basis = Basis { scope, directions, method, numeric_error: found.gap() };
    Accounted::new(query.kind, query.given, value, basis).checked(query)
}

/// The interval at the first error whose grid is not too large.
pub(super) fn finest(
    errors: &[f64],
    bracket: &dyn Fn(f64) -> Result<Bracket, AccountingError>,
) -> Result<Bracket, AccountingError> {
    let is_too_fine = |found: &Result<Bracket, AccountingError>| {
        matches!(
            found,
            Err(AccountingError::Grid { .. } | AccountingError::Argument { name: "error", .. })
        )
    };
    let mut found = bracket(errors.first().copied().unwrap_or(1.0));
    for &error in errors.iter().skip(1) {
        if !is_too_fine(&found) {
            break;
        }
        found = bracket(error);
    }
    found
}

/// A pair of distributions, one composition of it.
pub(super) trait Pair {
    /// The loss ln dP/dQ in cells, P the world with the target.
    fn cells(&self, resolution: Resolution) -> Result<LossCells, AccountingError>;
}

/// A query about the n-fold composition of a pair.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    pub(super) compositions: u64,
    pub(super) given: Given,
    pub(super) directions: Directions,
    /// Required distance between the two values; relative for δ.
    pub(super) error: f64,
}

const MOST_ROUNDS: usize = 12;

/// Maximum number of points of all composed grids; about 3 s.
const MOST_WORK: f64 = 2e7;

/// The cost of a cell, in points.
const CELL: f64 = 4.0;

impl Question {
    pub(super) fn check(&self) -> Result<(), AccountingError> {
        match self.given {
            Given::Delta(delta) => super::pld::check_delta(delta)?,
            Given::Epsilon(epsilon) => super::pld::check_epsilon(epsilon)?,
        }
        if !(1..=1_000_000_000).contains(&self.compositions) {
            return Err(argument("steps", self.compositions as f64, "in 1 to 10^9"));
        }
        if !(1e-9..=1.0).contains(&self.error) {
            return Err(argument("error", self.error, "in [1e-9, 1]"));
        }
        Ok(())
    }

    /// Brackets the value on increasingly fine grids; the error falls with the square of the step.
    ///
    /// A grid that is too large ends the search, with the best bracket so far if it is nearly as
    /// exact.
    pub(super) fn answer(
        &self,
        pair: &impl Pair,
        start: Resolution,
    ) -> Result<Bracket, AccountingError> {
        let mut resolution = start;
        let mut best: Option<Bracket> = None;
        // a coarse upper value of the other direction usually suffices
        let mut other_upper = f64::INFINITY;
        let mut spent = 0.0;
        for _ in 0..MOST_ROUNDS {
            let before = spent;
            let bracket = match self.round(pair, resolution, &mut other_upper, &mut spent) {
                Ok(bracket) => bracket,
                Err(reason) => return best.filter(|best| self.is_nearly(best)).ok_or(reason),
            };
            let excess = bracket.excess(self.given, self.error);
            let is_last = best.is_some_and(|best| bracket.gap() >= 0.9 * best.gap());
            let tightest = match best {
                Some(best) => bracket.tighter(best),
                None => bracket,
            };
            if excess <= 1.0 || (is_last && self.is_nearly(&tightest)) {
                return Ok(tightest);
            }
            best = Some(tightest);
            let factor = factor(excess);
            let points = spent + (spent - before) / factor;
            if points > MOST_WORK {
                let reason = AccountingError::Grid { points, most: MOST_POINTS };
                return best.filter(|best| self.is_nearly(best)).ok_or(reason);
            }
            resolution = resolution.refined(factor);
        }
        best.ok_or(argument("error", self.error, "reachable"))
    }

    fn is_nearly(&self, bracket: &Bracket) -> bool {
        bracket.excess(self.given, self.error) < 100.0
    }

    fn round(
        &self,
        pair: &impl Pair,
        resolution: Resolution,
        other_upper: &mut f64,
        spent: &mut f64,
    ) -> Result<Bracket, AccountingError> {
        let cells = pair.cells(resolution)?;
        *spent += CELL * cells.cells.len() as f64;
        if self.directions == Directions::Add {
            return self.bracket(&cells.reversed(), spent);
        }
        let mut bracket = self.bracket(&cells, spent)?;
        if self.directions == Directions::Both && *other_upper > bracket.lower {
            let turned = cells.reversed();
            *other_upper = other_upper.min(self.value(&turned, Rounding::Pessimistic, spent)?);
            if *other_upper > bracket.upper {
                bracket = bracket.larger(self.bracket(&turned, spent)?);
            }
        }
        Ok(bracket)
    }

    fn bracket(&self, cells: &LossCells, spent: &mut f64) -> Result<Bracket, AccountingError> {
        Ok(Bracket {
            lower: self.value(cells, Rounding::Optimistic, spent)?,
            upper: self.value(cells, Rounding::Pessimistic, spent)?,
        })
    }

    fn value(
        &self,
        cells: &LossCells,
        rounding: Rounding,
        spent: &mut f64,
    ) -> Result<f64, AccountingError> {
        // the error of δ is relative: e of ln δ
        let error = match self.given {
            Given::Delta(_) => self.error,
            Given::Epsilon(_) => 0.1 * self.error,
        };
        let distribution =
            cells.distribution(rounding)?.composed_to(self.compositions, self.given, error)?;
        *spent += distribution.masses().len() as f64;
        match self.given {
            Given::Delta(delta) => distribution.epsilon_at(delta),
            Given::Epsilon(epsilon) => distribution.delta_at(epsilon),
        }
    }
}

/// The refinement of the step for a gap that exceeds the required one by this factor.
fn factor(excess: f64) -> f64 {
    (0.85 / excess).sqrt().clamp(0.2, 0.9)
}
