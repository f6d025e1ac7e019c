//! The root of ε, by coarse evaluations first and exact ones afterwards.

use super::{Calibrated, PrivacyTarget};
use crate::accounting::AccountingError;
use crate::accounting::error::argument;
use crate::accounting::pld::check_delta;
use crate::math;

/// ε at a value of the parameter, with an error in nats or, for `None`, the accountant's default.
pub(super) type EpsilonAt<'a> = dyn Fn(f64, Option<f64>) -> Result<f64, AccountingError> + 'a;

/// A search for the largest x whose ε, which grows with x, is at most the target.
pub(super) struct Search {
    /// Name of the parameter.
    pub(super) name: &'static str,
    pub(super) target: PrivacyTarget,
    /// How far below the target the result may be, nats.
    pub(super) error: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether x is an integer; otherwise it is 1/σ.
    pub(super) whole: bool,
}

/// A point of the search: a value of the parameter, its ln x, and ln(ε/target).
#[derive(Clone, Copy)]
struct Place {
    value: f64,
    ln_x: f64,
    is_lowest: bool,
    is_highest: bool,
    excess: f64,
    epsilon: f64,
}

/// Where the largest x lies.
enum Bracket {
    /// Between one that satisfies the target and one that does not.
    Between(Place, Place),
    /// At the end of the range: every x satisfies the target.
    AllInside(Place),
}

/// The values that a search evaluates: whole numbers, or noise multipliers with as many digits as the
/// tolerance needs. What is printed is what was evaluated.
#[derive(Clone, Copy)]
enum Lattice {
    Whole,
    Noise { digits: i32 },
}

impl Lattice {
    /// The lattice for a relative tolerance of ε.
    fn new(is_whole: bool, tolerance: f64) -> Self {
        let digits = (1.5 - math::ln(tolerance) / std::f64::consts::LN_10).ceil();
        match is_whole {
            true => Lattice::Whole,
            false => Lattice::Noise { digits: digits.clamp(4.0, 10.0) as i32 },
        }
    }

    /// The nearest value whose x is not above this one.
    fn value(self, x: f64) -> f64 {
        match self {
            Lattice::Whole => (x + 1e-9).floor(),
            Lattice::Noise { digits } => noise_above(1.0 / x, digits, 0.0),
        }
    }

    /// The nearest value strictly between two others; none if they are neighbours.
    fn between(self, x: f64, inside: f64, outside: f64) -> Option<f64> {
        let value = self.value(x);
        let (value, is_between) = match self {
            Lattice::Whole => {
                let value = value.min(outside - 1.0).max(inside + 1.0);
                (value, value < outside)
            }
            Lattice::Noise { digits } => {
                let beside =
                    |value: f64, units: f64| rounded(value, digits, |value| value.round() + units);
                let value = value.max(beside(outside, 1.0)).min(beside(inside, -1.0));
                (value, value > outside)
            }
        };
        is_between.then_some(value)
    }
}

/// The least noise multiplier of so many digits that is not below this one but for rounding errors, and
/// `more` units of its last digit.
pub(crate) fn noise_above(noise: f64, digits: i32, more: f64) -> f64 {
    rounded(noise, digits, |units| (units * (1.0 - 1e-13)).ceil() + more)
}

/// A value as a multiple of a power of ten, of so many digits.
fn rounded(value: f64, digits: i32, round: impl Fn(f64) -> f64) -> f64 {
    let leading = (math::ln(value) / std::f64::consts::LN_10).floor() as i32;
    let places = digits - 1 - leading;
    let power = math::powi(10.0, places.abs());
    // divisions and products by exact powers yield the nearest float of the decimal number
    if places >= 0 { round(value * power) / power } else { round(value / power) * power }
}

impl Search {
    /// Searches coarsely first, then with the error of the target or, if it has none, the accountant's
    /// default.
    pub(super) fn largest(
        &self,
        start: f64,
        epsilon_at: &EpsilonAt<'_>,
    ) -> Result<Calibrated, AccountingError> {
        let PrivacyTarget { epsilon, delta, .. } = self.target;
        let error = self.error;
        if !(1e-6..=1e4).contains(&epsilon) {
            return Err(argument("epsilon", epsilon, "in [1e-6, 10000]"));
        }
        check_delta(delta)?;
        if !(1e-9..=1.0).contains(&error) {
            return Err(argument("error", error, "in [1e-9, 1]"));
        }
        let coarse = math::clamp(2e-3 * epsilon, error, 1.0);
        let near = self.root(start, 0.5, coarse, &|value| epsilon_at(value, Some(0.5 * coarse)))?;
        let is_asked = self.target.error.is_some();
        if is_asked && coarse == error {
            return Ok(near);
        }
        let start = if self.whole { near.value } else { 1.0 / near.value };
        let asked = is_asked.then_some(0.5 * error);
        self.root(start, 2e-3, error, &|value| epsilon_at(value, asked))
    }

    fn root(
        &self,
        start: f64,
        first_change: f64,
        error: f64,
        epsilon_at: &dyn Fn(f64) -> Result<f64, AccountingError>,
    ) -> Result<Calibrated, AccountingError> {
        // half of the error for the grid, half for the search
        let tolerance = 0.5 * error / self.target.epsilon;
        let lattice = Lattice::new(self.whole, tolerance);
        let at = |value: f64| -> Result<Place, AccountingError> {
            let epsilon = epsilon_at(value)?;
            let excess = math::ln(epsilon.max(1e-12) / self.target.epsilon);
            // even a rounding error beyond the target is beyond
            let excess =
                if epsilon <= self.target.epsilon { excess.min(0.0) } else { excess.max(1e-300) };
            let ln_x = if self.whole { math::ln(value) } else { -math::ln(value) };
            Ok(Place { value, ln_x, is_lowest: false, is_highest: false, excess, epsilon })
        };
        let probe = |ln_x: f64| {
            let x = math::clamp(math::exp(ln_x), self.low, self.high);
            let place = at(lattice.value(x))?;
            Ok(Place { is_lowest: x == self.low, is_highest: x == self.high, ..place })
        };
        let found = |place: Place, is_end_of_range| Calibrated {
            value: place.value,
            epsilon: place.epsilon,
            is_end_of_range,
        };
        let (mut inside, mut outside) = match self.bracket(start, first_change, &probe)? {
            Bracket::Between(inside, outside) => (inside, outside),
            Bracket::AllInside(last) => return Ok(found(last, true)),
        };
        // Illinois: a side that is retained twice counts half
        let (mut weight_inside, mut weight_outside) = (1.0, 1.0);
        for _ in 0..200 {
            if !self.whole && inside.excess >= -tolerance {
                break;
            }
            let (below, above) = (weight_inside * inside.excess, weight_outside * outside.excess);
            // aim below the target by a part of the tolerance
            let share = ((-0.3 * tolerance - below) / (above - below)).clamp(1e-3, 1.0 - 1e-3);
            let ln_x = inside.ln_x + share * (outside.ln_x - inside.ln_x);
            let Some(value) = lattice.between(math::exp(ln_x), inside.value, outside.value) else {
                break;
            };
            let place = at(value)?;
            if place.excess <= 0.0 {
                (inside, weight_inside) = (place, 1.0);
                weight_outside *= 0.5;
            } else {
                (outside, weight_outside) = (place, 1.0);
                weight_inside *= 0.5;
            }
        }
        Ok(found(inside, false))
    }

    fn bracket(
        &self,
        start: f64,
        first_change: f64,
        probe: &dyn Fn(f64) -> Result<Place, AccountingError>,
    ) -> Result<Bracket, AccountingError> {
        let mut place = probe(math::ln(math::clamp(start, self.low, self.high)))?;
        let is_inside = place.excess <= 0.0;
        let mut change = first_change;
        loop {
            if (is_inside && place.is_highest) || (!is_inside && place.is_lowest) {
                return if is_inside {
                    Ok(Bracket::AllInside(place))
                } else {
                    Err(self.unreachable())
                };
            }
            let mut ln_x = place.ln_x + if is_inside { change } else { -change };
            if self.whole {
                let whole = if is_inside { place.value + 1.0 } else { place.value - 1.0 };
                let moved = math::exp(ln_x).floor();
                ln_x = math::ln(if is_inside { moved.max(whole) } else { moved.min(whole) });
            }
            let next = probe(ln_x)?;
            if (next.excess <= 0.0) != is_inside {
                let (inside, outside) = if is_inside { (place, next) } else { (next, place) };
                return Ok(Bracket::Between(inside, outside));
            }
            place = next;
            change *= 2.0;
        }
    }

    pub(super) fn unreachable(&self) -> AccountingError {
        let (mut low, mut high) = (self.low, self.high);
        if !self.whole {
            (low, high) = (1.0 / high, 1.0 / low);
        }
        AccountingError::Unreachable {
            name: self.name,
            low,
            high,
            epsilon: self.target.epsilon,
            delta: self.target.delta,
        }
    }
}
