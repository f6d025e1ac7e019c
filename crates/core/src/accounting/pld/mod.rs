//! Privacy loss distributions on a grid.

mod atoms;
mod below;
mod cells;
mod compose;
mod inversion;
mod moments;
mod staircase;
mod values;

pub(super) use cells::{LossCell, LossCells, Masses};
pub(super) use compose::power;
pub(super) use moments::{chernoff, ln_profile};

use super::AccountingError;
use super::error::argument;
use crate::math;

/// The direction of rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Rounding {
    /// δ and ε never below the exact values: truncated mass has infinite loss.
    Pessimistic,
    /// δ and ε never above the exact values: truncated mass is dropped.
    Optimistic,
}

/// A point of a trade-off curve.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TradeOffPoint {
    /// Probability that the test decides P under Q.
    pub fpr: f64,
    /// Probability that the test decides Q under P.
    pub fnr: f64,
}

/// Maximum number of points of a grid.
pub(super) const MOST_POINTS: usize = 1 << 23;

/// Unit roundoff u of f64.
const UNIT: f64 = 0.5 * f64::EPSILON;

/// Covers the rounding of masses: relative, of each sum from one end.
const RELATIVE: f64 = 64.0 * f64::EPSILON;

/// The distribution of the privacy loss L = ln dP/dQ under P, on multiples of a step.
///
/// δ(ε) = m_∞ + Σ_k m_k (1 − e^{ε − kh})₊
///
/// Masses may sum to less than 1: the missing mass has loss −∞.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivacyLossDistribution {
    step: f64,
    /// Loss at index 0.
    offset: f64,
    lowest_index: i64,
    masses: Vec<f64>,
    infinite_mass: f64,
    rounding: Rounding,
}

impl PrivacyLossDistribution {
    /// A distribution from its masses, with pessimistic rounding.
    ///
    /// | argument | meaning | shape | domain |
    /// |---|---|---|---|
    /// | `step` | h, nats | – | (0, 1e3] |
    /// | `lowest_index` | index of the first mass, whose loss is h·index | – | ±2⁵⁰ |
    /// | `masses` | m | 1 to 2²³ | ≥ 0, sum at most 1 + 1e-6 with the next |
    /// | `infinite_mass` | m_∞ | – | [0, 1] |
    ///
    /// # Errors
    /// [`AccountingError::Argument`] or [`AccountingError::Grid`] outside the domain.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::accounting::PrivacyLossDistribution;
    /// // randomised response that answers truthfully with probability e/(1 + e)
    /// let truth = 1.0 / (1.0 + (-1.0_f64).exp());
    /// let distribution =
    ///     PrivacyLossDistribution::from_masses(1.0, -1, vec![1.0 - truth, 0.0, truth], 0.0)?;
    /// assert_eq!(format!("{:.12}", distribution.delta_at(0.0)?), "0.462117157260");
    /// # Ok::<(), dpscope_core::accounting::AccountingError>(())
    /// ```
    pub fn from_masses(
        step: f64,
        lowest_index: i64,
        masses: Vec<f64>,
        infinite_mass: f64,
    ) -> Result<Self, AccountingError> {
        if !(step > 0.0 && step <= 1e3) {
            return Err(argument("step", step, "in (0, 1000]"));
        }
        if lowest_index.unsigned_abs() > 1 << 50 {
            return Err(argument("lowest_index", lowest_index as f64, "within 2^50 of 0"));
        }
        if masses.is_empty() || masses.len() > MOST_POINTS {
            return Err(AccountingError::Grid { points: masses.len() as f64, most: MOST_POINTS });
        }
        if !(0.0..=1.0).contains(&infinite_mass) {
            return Err(argument("infinite_mass", infinite_mass, "in [0, 1]"));
        }
        if let Some(&bad) = masses.iter().find(|mass| !(**mass >= 0.0)) {
            return Err(argument("masses", bad, "0 or more"));
        }
        let total = masses.iter().sum::<f64>() + infinite_mass;
        if !(total <= 1.0 + 1e-6) {
            return Err(argument("sum of masses", total, "at most 1"));
        }
        Ok(PrivacyLossDistribution {
            step,
            offset: 0.0,
            lowest_index,
            masses,
            infinite_mass,
            rounding: Rounding::Pessimistic,
        })
    }

    /// This distribution with another rounding.
    #[must_use]
    pub fn with_rounding(self, rounding: Rounding) -> Self {
        PrivacyLossDistribution { rounding, ..self }
    }

    /// This distribution with losses moved by a constant, nats.
    pub(in crate::accounting) fn with_offset(self, offset: f64) -> Self {
        PrivacyLossDistribution { offset, ..self }
    }

    /// The step h of the grid, nats.
    #[must_use]
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Loss of the first mass, nats.
    #[must_use]
    pub fn lowest_loss(&self) -> f64 {
        self.loss_at(0)
    }

    /// Masses under P, from the lowest loss up.
    #[must_use]
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// Mass under P of an infinite loss.
    #[must_use]
    pub fn infinite_mass(&self) -> f64 {
        self.infinite_mass
    }

    /// The loss at a place in the masses.
    fn loss_at(&self, place: usize) -> f64 {
        (self.lowest_index + place as i64) as f64 * self.step + self.offset
    }

    /// The privacy profile δ(ε).
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `epsilon` | ε, nats | any number, negative too |
    ///
    /// # Guarantee
    /// Not below δ of this distribution if the rounding is pessimistic, not above if it is
    /// optimistic (`unit::queries_agree_with_the_definition`).
    ///
    /// # Errors
    /// [`AccountingError::Argument`] for a value that is not finite.
    ///
    /// # Numerics
    /// Relative error below 1e-15 times the number of masses, outward; no cancellation.
    pub fn delta_at(&self, epsilon: f64) -> Result<f64, AccountingError> {
        if !epsilon.is_finite() {
            return Err(argument("epsilon", epsilon, "finite"));
        }
        Ok(Walk::from_the_top(self).delta_at(self.outward_from(epsilon)))
    }

    /// δ at several finite ε in descending order.
    pub(crate) fn deltas_at(&self, falling: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut walk = Walk::from_the_top(self);
        falling.map(|epsilon| walk.delta_at(self.outward_from(epsilon))).collect()
    }

    /// The least ε ≥ 0 with δ(ε) ≤ δ; infinite if the infinite loss has more mass than δ.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `delta` | δ | (0, 1) |
    ///
    /// # Guarantee
    /// Not below the root for this distribution if the rounding is pessimistic, not above if it is
    /// optimistic (`unit::queries_agree_with_the_definition`).
    ///
    /// # Errors
    /// [`AccountingError::Argument`] outside the domain.
    ///
    /// # Numerics
    /// δ is linear in e^ε between grid points: the root has a closed form.
    pub fn epsilon_at(&self, delta: f64) -> Result<f64, AccountingError> {
        check_delta(delta)?;
        let required = delta / self.outward();
        if self.infinite_mass > required {
            return Ok(f64::INFINITY);
        }
        let mut walk = Walk::from_the_top(self);
        for place in (0..self.masses.len()).rev() {
            if walk.delta_one_step_below() > required {
                break;
            }
            walk.descend_to(place);
        }
        let root = walk.epsilon_below(required);
        let margin = 8.0 * f64::EPSILON * (root.abs() + self.step) + self.loss_error();
        let outward = if self.rounding == Rounding::Pessimistic { margin } else { -margin };
        Ok((root + outward).max(0.0))
    }

    /// Error of a loss that is an offset and a number of steps near its negative.
    fn loss_error(&self) -> f64 {
        16.0 * f64::EPSILON * self.offset.abs()
    }

    /// An ε whose δ is on the safe side of that of `epsilon`.
    fn outward_from(&self, epsilon: f64) -> f64 {
        match self.rounding {
            Rounding::Pessimistic => epsilon - self.loss_error(),
            Rounding::Optimistic => epsilon + self.loss_error(),
        }
    }

    /// Factor on sums over all masses, which rounds them to the safe side.
    fn outward(&self) -> f64 {
        let error = 4.0 * f64::EPSILON * (self.masses.len() + 8) as f64;
        match self.rounding {
            Rounding::Pessimistic => 1.0 + error,
            Rounding::Optimistic => 1.0 - error,
        }
    }
}

/// Error of e^{θ·loss − K} for n losses, relative and in units of [`UNIT`]: up to 5 roundings of each
/// product and sum, of at most `largest` and |K|.
fn tilt_error(count: f64, largest: f64, ln_moment: f64) -> f64 {
    8.0 * count * (largest + ln_moment.abs() + 4.0)
}

/// δ and the mass under Q, from the highest loss down: sums of positive terms alone.
///
/// With D = δ(l) and R = Σ_{l_j ≥ l} m_j e^{l − l_j}: δ(l − t) = D + (1 − e^{−t})R.
struct Walk<'a> {
    distribution: &'a PrivacyLossDistribution,
    /// 1 − e^{−h}
    one_step: f64,
    /// The lowest visited place, and its loss.
    place: usize,
    loss: f64,
    delta: f64,
    other: f64,
}

impl<'a> Walk<'a> {
    fn from_the_top(distribution: &'a PrivacyLossDistribution) -> Self {
        let one_step = -math::exp_m1(-distribution.step);
        let loss = distribution.loss_at(distribution.masses.len());
        let place = distribution.masses.len();
        Walk { distribution, one_step, place, loss, delta: distribution.infinite_mass, other: 0.0 }
    }

    /// δ(ε), outward, for an ε that is not above the last one.
    fn delta_at(&mut self, epsilon: f64) -> f64 {
        while self.place > 0 && self.distribution.loss_at(self.place - 1) > epsilon {
            self.descend_to(self.place - 1);
        }
        (self.delta_below(epsilon) * self.distribution.outward()).min(1.0)
    }

    /// To the next place below.
    fn descend_to(&mut self, place: usize) {
        self.delta += self.one_step * self.other;
        self.other = (1.0 - self.one_step) * self.other + self.distribution.masses[place];
        self.place = place;
        self.loss = self.distribution.loss_at(place);
    }

    /// δ at a loss one step below.
    fn delta_one_step_below(&self) -> f64 {
        self.delta + self.one_step * self.other
    }

    fn delta_below(&self, epsilon: f64) -> f64 {
        self.delta - math::exp_m1((epsilon - self.loss).min(0.0)) * self.other
    }

    fn epsilon_below(&self, delta: f64) -> f64 {
        if self.other == 0.0 {
            return if delta >= self.delta { f64::NEG_INFINITY } else { self.loss };
        }
        let share = ((delta - self.delta) / self.other).clamp(0.0, 1.0);
        self.loss + math::ln_1p(-share)
    }
}

pub(super) fn check_delta(delta: f64) -> Result<(), AccountingError> {
    if delta == 0.0 {
        return Err(AccountingError::Infinite { delta });
    }
    if delta > 0.0 && delta < 1.0 {
        Ok(())
    } else {
        Err(argument("delta", delta, "strictly between 0 and 1"))
    }
}

pub(super) fn check_epsilon(epsilon: f64) -> Result<(), AccountingError> {
    if (0.0..f64::INFINITY).contains(&epsilon) {
        Ok(())
    } else {
        Err(argument("epsilon", epsilon, "0 or more, and finite"))
    }
}

#[cfg(test)]
mod tests;
