//! Upper and lower values of a composed pair, refined until they are as close as required.

use super::answer::Basis;
use super::error::{argument, is_of_the_grid};
use super::pld::{LossCells, MOST_POINTS, Rounding};
use super::proven::Computed;
pub(super) use super::resolution::Resolution;
use super::search::Search;
use super::{Accounted, AccountingError, AccountingResult, Given, Kind, Method, Query};
use crate::adjacency::{Directions, Scope};
use crate::special::normal;

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

    /// The lower value, with its error.
    pub(super) fn as_lower(self) -> Computed {
        Computed { value: self.lower, numeric_error: self.gap() }
    }

    pub(super) fn tighter(self, other: Self) -> Self {
        Bracket { lower: self.lower.max(other.lower), upper: self.upper.min(other.upper) }
    }

    pub(super) fn larger(self, other: Self) -> Self {
        Bracket { lower: self.lower.max(other.lower), upper: self.upper.max(other.upper) }
    }

    /// The side of the interval that the query requests.
    pub(super) fn accounted(self, query: &Query, method: Method) -> AccountingResult {
        let value = if query.kind == Kind::Lower { self.lower } else { self.upper };
        let (scope, directions) = (Scope::Mechanism, query.directions);
        let basis = Basis { scope, directions, method, numeric_error: self.gap() };
        Accounted::new(query.kind, query.given, value, basis).checked(query)
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
    found.accounted(query, method)
}

/// What is found at the first error whose grid is not too large.
pub(super) fn finest<T>(
    errors: &[f64],
    bracket: &dyn Fn(f64) -> Result<T, AccountingError>,
) -> Result<T, AccountingError> {
    let is_too_fine = |found: &Result<T, AccountingError>| {
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

    /// Whether the reverse is the same pair.
    fn is_symmetric(&self) -> bool {
        false
    }
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

    /// For steps with subsets of the records: the number of σ from the means beyond which outputs
    /// are negligible, and a grid for an error of some times that of the question.
    pub(super) fn start(&self, noise_multiplier: f64, sampling_rate: f64) -> (f64, Resolution) {
        let delta = match self.given {
            Given::Delta(delta) => delta.max(1e-200),
            Given::Epsilon(_) => 1e-24,
        };
        let steps = self.compositions as f64;
        let cut = -normal::quantile(1e-7 * delta / steps);
        let width = sampling_rate / noise_multiplier;
        let slope = -normal::quantile(delta.min(0.3)) / (width * steps.sqrt()) + 0.5;
        let step = (500.0 * self.error / (steps * slope)).sqrt().min(2.0 * width);
        let widest = (2.0 * self.error.sqrt()).max(step);
        (cut, Resolution { step, widest })
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
        let is_nearly = |found: &Bracket| found.excess(self.given, self.error) < 100.0;
        for _ in 0..MOST_ROUNDS {
            let before = spent;
            let bracket = match self.round(pair, resolution, &mut other_upper, &mut spent) {
                Ok(bracket) => bracket,
                Err(reason) => return best.filter(is_nearly).ok_or(reason),
            };
            let excess = bracket.excess(self.given, self.error);
            let is_last = best.is_some_and(|best| bracket.gap() >= 0.9 * best.gap());
            let tightest = best.map_or(bracket, |best| bracket.tighter(best));
            if excess <= 1.0 || (is_last && is_nearly(&tightest)) {
                return Ok(tightest);
            }
            best = Some(tightest);
            let factor = factor(excess);
            let points = spent + (spent - before) / factor;
            if points > MOST_WORK {
                let reason = AccountingError::Grid { points, most: MOST_POINTS };
                return best.filter(is_nearly).ok_or(reason);
            }
            resolution = resolution.refined(factor);
        }
        best.ok_or(argument("error", self.error, "reachable"))
    }

    /// An upper value that is above the exact one by about a quarter of the error, which is
    /// relative for ε above 1, and the resolution of its grid.
    ///
    /// The difference of the values on two grids estimates how far above they are, as that falls
    /// with the square of the step.
    ///
    /// Where the search ends before, the smallest upper value so far.
    pub(super) fn upper(
        &self,
        pair: &impl Pair,
        start: Resolution,
        search: &Search,
    ) -> Result<(Computed, Resolution), AccountingError> {
        let mut other_upper = f64::INFINITY;
        let (value, resolution) = match self.upper_value(pair, start, &mut other_upper, search) {
            Err(reason) if is_of_the_grid(&reason) => {
                let (value, resolution) = search.proven_upper().ok_or(reason)?;
                return Ok((Computed::without_error(value), resolution));
            }
            found => found?,
        };
        if !search.has_numeric_error() {
            return Ok((Computed::without_error(value), resolution));
        }
        let mut finer = resolution;
        let mut lower = match self.lower_at(pair, resolution, other_upper, search) {
            Err(reason) if is_of_the_grid(&reason) && search.proven_upper().is_some() => {
                return Ok((Computed::without_error(value), resolution));
            }
            found => found?,
        };
        for _ in 0..MOST_ROUNDS {
            let excess = (value - lower) / self.required(value);
            if !(excess > 1.0) {
                break;
            }
            // a quarter is left to the upper value; the rest falls with the square of the step
            finer = finer.refined((0.6 / (excess - 0.25)).sqrt().clamp(0.2, 0.9));
            let Ok(found) = self.lower_at(pair, finer, other_upper, search) else { break };
            // large losses are merged whatever the grid is
            let is_stuck = value - found > 0.9 * (value - lower);
            lower = lower.max(found);
            if is_stuck {
                break;
            }
        }
        Ok((Computed { value, numeric_error: value - lower.min(value) }, resolution))
    }

    /// The required distance from a value; relative for δ, and for ε above 1.
    pub(super) fn required(&self, value: f64) -> f64 {
        match self.given {
            Given::Delta(_) => self.error * value.max(1.0),
            Given::Epsilon(_) => (self.error * value).max(1e-200),
        }
    }

    fn upper_value(
        &self,
        pair: &impl Pair,
        start: Resolution,
        other_upper: &mut f64,
        search: &Search,
    ) -> Result<(f64, Resolution), AccountingError> {
        let mut resolution = start;
        // the value on the last grid, and its distance in units of the required one
        let mut best: Option<(f64, Resolution)> = None;
        let mut excess = f64::INFINITY;
        let mut spent = 0.0;
        for _ in 0..MOST_ROUNDS {
            let before = spent;
            let found = search
                .check(resolution)
                .and_then(|()| self.upper_at(pair, resolution, other_upper, &mut spent));
            let value = match found {
                Ok(value) => value,
                Err(reason) => return best.filter(|_| excess < 100.0).ok_or(reason),
            };
            search.spend(spent - before, resolution);
            search.prove(value, resolution);
            let mut factor = 0.5;
            if let Some((coarse, Resolution { step, .. })) = best {
                let ratio = step / resolution.step;
                let above = (coarse - value).max(0.0) / (ratio * ratio - 1.0);
                excess = above / (0.25 * self.required(value));
                if excess <= 1.0 {
                    return Ok((value.min(coarse), resolution));
                }
                factor = (0.85 / excess).sqrt().clamp(0.1, 0.8);
            }
            best = Some((value, resolution));
            let points = spent + (spent - before) / factor;
            if points > MOST_WORK {
                let reason = AccountingError::Grid { points, most: MOST_POINTS };
                return best.filter(|_| excess < 100.0).ok_or(reason);
            }
            resolution = resolution.refined(factor);
        }
        best.ok_or(argument("error", self.error, "reachable"))
    }

    /// An upper value on one grid.
    fn upper_at(
        &self,
        pair: &impl Pair,
        resolution: Resolution,
        other_upper: &mut f64,
        spent: &mut f64,
    ) -> Result<f64, AccountingError> {
        let cells = pair.cells(resolution)?;
        *spent += CELL * cells.cells.len() as f64;
        if self.directions == Directions::Add {
            return self.value(&cells.reversed(), Rounding::Pessimistic, spent);
        }
        let upper = self.value(&cells, Rounding::Pessimistic, spent)?;
        if self.directions == Directions::Remove || pair.is_symmetric() || *other_upper <= upper {
            return Ok(upper);
        }
        self.lower_other_upper(&cells.reversed(), upper, other_upper, spent)?;
        Ok(upper.max(*other_upper))
    }

    /// Lowers the upper value of the other direction while it is above a value: by a bound first, and
    /// by its grid.
    fn lower_other_upper(
        &self,
        turned: &LossCells,
        value: f64,
        other_upper: &mut f64,
        spent: &mut f64,
    ) -> Result<(), AccountingError> {
        let coarse = turned.atoms(Rounding::Pessimistic);
        *other_upper = other_upper.min(coarse.upper_of_many(self.compositions, self.given));
        if *other_upper > value {
            *other_upper = other_upper.min(self.value(turned, Rounding::Pessimistic, spent)?);
        }
        Ok(())
    }

    /// The values on one grid.
    pub(super) fn bracket_at(
        &self,
        pair: &impl Pair,
        resolution: Resolution,
        search: &Search,
    ) -> Result<Bracket, AccountingError> {
        search.check(resolution)?;
        let (mut other_upper, mut spent) = (f64::INFINITY, 0.0);
        let found = self.round(pair, resolution, &mut other_upper, &mut spent);
        search.spend(spent, resolution);
        found
    }

    /// The lower value on one grid, in less time than both; `other_upper` is an upper value of the
    /// other direction.
    pub(super) fn lower_at(
        &self,
        pair: &impl Pair,
        resolution: Resolution,
        other_upper: f64,
        search: &Search,
    ) -> Result<f64, AccountingError> {
        search.check(resolution)?;
        let mut spent = 0.0;
        let found = self.lower_on_grid(pair, resolution, other_upper, &mut spent);
        search.spend(spent, resolution);
        found
    }

    fn lower_on_grid(
        &self,
        pair: &impl Pair,
        resolution: Resolution,
        other_upper: f64,
        spent: &mut f64,
    ) -> Result<f64, AccountingError> {
        let cells = pair.cells(resolution)?;
        *spent += CELL * cells.cells.len() as f64;
        let of =
            |cells: &LossCells, spent: &mut f64| self.value(cells, Rounding::Optimistic, spent);
        if self.directions == Directions::Add {
            return of(&cells.reversed(), spent);
        }
        let lower = of(&cells, spent)?;
        let is_one_way = self.directions == Directions::Remove || pair.is_symmetric();
        if is_one_way || other_upper <= lower {
            return Ok(lower);
        }
        let turned = cells.reversed();
        let upper = turned.atoms(Rounding::Pessimistic);
        if upper.upper_of_many(self.compositions, self.given) <= lower {
            return Ok(lower);
        }
        Ok(lower.max(of(&turned, spent)?))
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
        let is_one_way = self.directions != Directions::Both || pair.is_symmetric();
        if !is_one_way && *other_upper > bracket.lower {
            let turned = cells.reversed();
            self.lower_other_upper(&turned, bracket.lower, other_upper, spent)?;
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
        let (value, work) =
            cells.atoms(rounding).value_of_many(self.compositions, self.given, error)?;
        *spent += work;
        Ok(value)
    }
}

/// The refinement of the step for a gap that exceeds the required one by this factor.
fn factor(excess: f64) -> f64 {
    (0.85 / excess).sqrt().clamp(0.2, 0.9)
}
