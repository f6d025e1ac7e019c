//! The root of ε, by coarse evaluations first and exact ones afterwards.

use super::{Calibrated, PrivacyTarget};
use crate::accounting::AccountingError;
use crate::accounting::error::argument;
use crate::accounting::pld::check_delta;
use crate::math;

/// ε at a value, with an error in nats.
pub(super) type EpsilonAt<'a> = dyn Fn(f64, f64) -> Result<f64, AccountingError> + 'a;

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

/// A point of the search: ln x, and ln(ε/target).
#[derive(Clone, Copy)]
struct Place {
    x: f64,
    ln_x: f64,
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

impl Search {
    /// Searches coarsely first, then with the required error.
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
        let near = self.root(start, 0.5, coarse, epsilon_at)?;
        if coarse == error {
            return Ok(near);
        }
        self.root(near.value, 2e-3, error, epsilon_at)
    }

    fn root(
        &self,
        start: f64,
        first_change: f64,
        error: f64,
        epsilon_at: &EpsilonAt<'_>,
    ) -> Result<Calibrated, AccountingError> {
        // half of the error for the grid, half for the search
        let tolerance = 0.5 * error / self.target.epsilon;
        let probe = |ln_x: f64| -> Result<Place, AccountingError> {
            let x = math::clamp(math::exp(ln_x), self.low, self.high);
            let x = if self.whole { (x + 1e-9).floor() } else { x };
            let epsilon = epsilon_at(x, 0.5 * error)?;
            let excess = math::ln(epsilon.max(1e-12) / self.target.epsilon);
            // even a rounding error beyond the target is beyond
            let excess =
                if epsilon <= self.target.epsilon { excess.min(0.0) } else { excess.max(1e-300) };
            Ok(Place { x, ln_x: math::ln(x), excess, epsilon })
        };
        let (mut inside, mut outside) = match self.bracket(start, first_change, &probe)? {
            Bracket::Between(inside, outside) => (inside, outside),
            Bracket::AllInside(last) => {
                return Ok(Calibrated {
                    value: last.x,
                    epsilon: last.epsilon,
                    is_end_of_range: true,
                });
            }
        };
        // Illinois: a side that is retained twice counts half
        let (mut weight_inside, mut weight_outside) = (1.0, 1.0);
        for _ in 0..200 {
            let is_done = if self.whole {
                outside.x - inside.x <= 1.0
            } else {
                inside.excess >= -tolerance || outside.ln_x - inside.ln_x < 1e-13
            };
            if is_done {
                break;
            }
            let (below, above) = (weight_inside * inside.excess, weight_outside * outside.excess);
            // aim below the target by a part of the tolerance
            let share = ((-0.3 * tolerance - below) / (above - below)).clamp(1e-3, 1.0 - 1e-3);
            let mut ln_x = inside.ln_x + share * (outside.ln_x - inside.ln_x);
            if self.whole {
                ln_x =
                    math::ln(math::clamp(math::exp(ln_x).floor(), inside.x + 1.0, outside.x - 1.0));
            }
            let place = probe(ln_x)?;
            if place.excess <= 0.0 {
                (inside, weight_inside) = (place, 1.0);
                weight_outside *= 0.5;
            } else {
                (outside, weight_outside) = (place, 1.0);
                weight_inside *= 0.5;
            }
        }
        Ok(Calibrated { value: inside.x, epsilon: inside.epsilon, is_end_of_range: false })
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
            let end = if is_inside { self.high } else { self.low };
            if place.x == end {
                return if is_inside {
                    Ok(Bracket::AllInside(place))
                } else {
                    Err(self.unreachable())
                };
            }
            let mut ln_x = place.ln_x + if is_inside { change } else { -change };
            if self.whole {
                let whole = if is_inside { place.x + 1.0 } else { place.x - 1.0 };
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
