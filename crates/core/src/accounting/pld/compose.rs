//! Composition by Fourier transforms of the exponentially tilted distribution.

use super::super::fft::{Complex, Packed, RealTransform};
use super::moments::{Aim, Moments, Target};
use super::{MOST_POINTS, PrivacyLossDistribution, Rounding, UNIT, tilt_error};
use crate::accounting::AccountingError;
use crate::accounting::Given;
use crate::accounting::error::argument;
use crate::math;

impl PrivacyLossDistribution {
    /// The distribution of the sum of independent losses of this distribution.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `compositions` | n | 1 … 10¹² |
    ///
    /// # Guarantee
    /// The n-fold distribution of a pessimistic distribution is pessimistic, that of an optimistic
    /// one optimistic: mass outside the window and the errors of the transforms are on the safe
    /// side (`unit::composition_brackets_brute_force`).
    ///
    /// # Errors
    /// [`AccountingError::Argument`]; [`AccountingError::Grid`] if the window needs too many
    /// points.
    ///
    /// # Numerics
    /// Absolute error of δ about 1e-14 n; for a δ that is not far larger, use
    /// [`Self::self_composed_near`].
    pub fn self_composed(&self, compositions: u64) -> Result<Self, AccountingError> {
        self.power(compositions, |_, _| Aim::WHOLE)
    }

    /// As [`Self::self_composed`], accurate at one δ or ε, however small δ is.
    ///
    /// m̃_k = m_k e^{θkh − K(θ)}, with K(θ) = ln Σ m_k e^{θkh} and the smallest θ that suffices
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `compositions` | n | 1 … 10¹² |
    /// | `target` | where the distribution must be accurate | δ in (0, 1), ε ≥ 0 |
    ///
    /// # Guarantee
    /// As [`Self::self_composed`], near the target
    /// (`unit::tilted_composition_is_right_in_the_far_tail`) and far from it
    /// (`unit::distributions_are_valid_far_from_their_target`).
    ///
    /// # Errors
    /// As [`Self::self_composed`].
    ///
    /// # Numerics
    /// Relative error of δ at the target about 1e-13 n; far from it the distribution is valid but
    /// not accurate.
    ///
    /// # Reference
    /// A. Koskela, J. Jälkö and A. Honkela (2020) for the transforms. The tilt puts the mass where
    /// δ is needed, so that the absolute error of a transform is a relative one of δ.
    pub fn self_composed_near(
        &self,
        compositions: u64,
        given: Given,
    ) -> Result<Self, AccountingError> {
        self.composed_to(compositions, given, 1e-9)
    }

    /// As [`Self::self_composed_near`]; windows and transforms change ε by a small part of `error`.
    pub(in crate::accounting) fn composed_to(
        &self,
        compositions: u64,
        given: Given,
        error: f64,
    ) -> Result<Self, AccountingError> {
        match given {
            Given::Delta(delta) => super::check_delta(delta)?,
            Given::Epsilon(epsilon) => super::check_epsilon(epsilon)?,
        }
        self.power(compositions, |moments, count| moments.aim(moments.target(count, given, error)))
    }

    /// As [`Self::composed_to`], with a known target.
    pub(super) fn composed_near(
        &self,
        compositions: u64,
        target: Target,
    ) -> Result<Self, AccountingError> {
        self.power(compositions, |moments, _| moments.aim(target))
    }

    /// The distribution of the sum of a loss of this distribution and an independent one of
    /// another.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `other` | the other distribution | same step and rounding |
    ///
    /// # Guarantee
    /// As [`Self::self_composed`] (`unit::two_distributions_compose_like_sums`).
    ///
    /// # Errors
    /// [`AccountingError::Argument`] for another step or rounding; [`AccountingError::Grid`].
    ///
    /// # Numerics
    /// Absolute error of δ about 1e-14.
    pub fn composed(&self, other: &Self) -> Result<Self, AccountingError> {
        if !(self.step == other.step && self.rounding == other.rounding) {
            return Err(argument(
                "step of the other distribution",
                other.step,
                "equal, with the same rounding",
            ));
        }
        let points = self.masses.len() + other.masses.len() - 1;
        if points > MOST_POINTS {
            return Err(AccountingError::Grid { points: points as f64, most: MOST_POINTS });
        }
        let length = RealTransform::length_for(points);
        let transform = RealTransform::new(length);
        let lowest_index = self.lowest_index + other.lowest_index;
        let padded = |distribution: &Self, shift: i64| {
            let mut padded = Packed::zeros(length);
            for (place, mass) in places_from(shift, length).zip(&distribution.masses) {
                padded.add(place, *mass);
            }
            padded
        };
        let theirs = transform.spectrum(padded(other, 0));
        let composed = transform
            .with_spectrum(padded(self, lowest_index), |place, own| own.times(theirs[place]));
        let total = |distribution: &Self| distribution.masses.iter().sum::<f64>();
        let untilted = Untilt {
            step: self.step,
            offset: self.offset + other.offset,
            tilt: 0.0,
            ln_moment: 0.0,
            lowest_index,
            points,
            // three transforms and a product, each value at most the product of the totals
            error: 4.0 * RealTransform::error(length) * total(self) * total(other),
            relative: 8.0 * UNIT,
            below: 0.0,
            above: 0.0,
        };
        let (own, theirs) = (self.infinite_mass, other.infinite_mass);
        let (infinite_mass, (lowest_index, masses)) = match self.rounding {
            Rounding::Pessimistic => {
                let infinite_mass = ((own + theirs - own * theirs) * (1.0 + 1e-12)).min(1.0);
                (infinite_mass, untilted.pessimistic(&composed, infinite_mass))
            }
            Rounding::Optimistic => {
                let infinite_mass = own * (total(other) + theirs) + total(self) * theirs;
                (infinite_mass * (1.0 - 1e-9), untilted.optimistic(&composed))
            }
        };
        let offset = untilted.offset;
        Ok(PrivacyLossDistribution { offset, lowest_index, masses, infinite_mass, ..*self })
    }

    fn power(
        &self,
        compositions: u64,
        aim: impl Fn(&Moments, f64) -> Aim,
    ) -> Result<Self, AccountingError> {
        if !(1..=1_000_000_000_000).contains(&compositions) {
            return Err(argument("compositions", compositions as f64, "in 1 to 10^12"));
        }
        let count = compositions as f64;
        if compositions == 1 {
            return Ok(self.clone());
        }
        if !(self.masses.iter().sum::<f64>() > 0.0) {
            let infinite_mass = self.infinite_mass_of_many(count);
            return Ok(PrivacyLossDistribution { infinite_mass, ..self.clone() });
        }
        let moments = Moments::new(self);
        let mut aim = aim(&moments, count);
        // beyond the highest loss the best tilt is unbounded
        if !moments.ln_moment(aim.tilt).is_finite() {
            aim = Aim::WHOLE;
        }
        let mut window = moments.window(count, aim.tilt, aim.ln_outside(self.rounding));
        let points = |(low, high): (f64, f64)| ((high - low) / self.step).ceil() + 3.0;
        // rare large losses make up a tilted distribution, and its window
        if !(points(window) <= MOST_POINTS as f64) {
            aim = Aim::WHOLE;
            window = moments.window(count, aim.tilt, aim.ln_outside(self.rounding));
        }
        let (tilt, ln_outside) = (aim.tilt, aim.ln_outside(self.rounding));
        let ((low, high), points) = (window, points(window));
        if !(points <= MOST_POINTS as f64) {
            return Err(AccountingError::Grid { points, most: MOST_POINTS });
        }
        let points = points as usize;
        let length = RealTransform::length_for(points);
        let ln_moment = moments.ln_moment(tilt);
        let (mut tilted, mut total) = (Packed::zeros(length), 0.0);
        let masses = self.masses.iter().enumerate().zip(places_from(self.lowest_index, length));
        for ((own, &mass), place) in masses.filter(|((_, mass), _)| **mass > 0.0) {
            let mass = mass * math::exp(tilt * self.loss_at(own) - ln_moment);
            tilted.add(place, mass);
            total += mass;
        }
        let mut power = Power::new(compositions, length, RealTransform::error(length) * total);
        let composed =
            RealTransform::new(length).with_spectrum(tilted, |place, value| power.of(place, value));
        let error = power.error();

        let offset = count * self.offset;
        let lowest_index = ((low - offset) / self.step).floor() as i64;
        let largest = tilt * self.loss_at(self.masses.len() - 1).abs().max(self.loss_at(0).abs());
        let relative = UNIT * (tilt_error(count, largest, ln_moment) + 64.0);
        let is_all_below = high >= count * self.loss_at(self.masses.len() - 1) - self.step;
        let is_all_above = low <= count * self.loss_at(0);
        let outside = |is_none: bool| if is_none { 0.0 } else { 1.01 * math::exp(ln_outside) };
        let untilted = Untilt {
            step: self.step,
            offset,
            tilt,
            ln_moment: count * ln_moment,
            lowest_index,
            points,
            error,
            relative,
            below: outside(is_all_above),
            above: outside(is_all_below),
        };
        Ok(self.with_masses_of(&untilted, &composed, count, high))
    }

    fn with_masses_of(
        &self,
        distribution: &Untilt,
        composed: &Packed,
        count: f64,
        high: f64,
    ) -> Self {
        let infinite_mass = self.infinite_mass_of_many(count);
        let (lowest_index, masses, infinite_mass) = match self.rounding {
            Rounding::Pessimistic => {
                let beyond = distribution.above
                    * math::exp(distribution.ln_moment - distribution.tilt * high);
                let infinite_mass =
                    (infinite_mass + beyond * (1.0 + distribution.relative)).min(1.0);
                let (lowest_index, masses) = distribution.pessimistic(composed, infinite_mass);
                (lowest_index, masses, infinite_mass)
            }
            Rounding::Optimistic => {
                let (lowest_index, masses) = distribution.optimistic(composed);
                (lowest_index, masses, infinite_mass)
            }
        };
        PrivacyLossDistribution {
            offset: distribution.offset,
            lowest_index,
            masses,
            infinite_mass,
            ..*self
        }
    }

    /// Chance that one of n losses is infinite.
    fn infinite_mass_of_many(&self, count: f64) -> f64 {
        let total = || self.masses.iter().sum::<f64>();
        infinite_mass_of_many(self.infinite_mass, total, self.rounding, count)
    }
}

/// Chance that one of n losses is infinite, with the `total` of finite ones.
pub(super) fn infinite_mass_of_many(
    infinite_mass: f64,
    total: impl Fn() -> f64,
    rounding: Rounding,
    count: f64,
) -> f64 {
    if infinite_mass == 0.0 {
        return 0.0;
    }
    let some = -math::exp_m1(count * math::ln_1p(-infinite_mass));
    match rounding {
        Rounding::Pessimistic => (some * (1.0 + 1e-12)).min(1.0),
        Rounding::Optimistic => {
            let total = total() + infinite_mass;
            some * math::exp(count * math::ln(total.min(1.0))) * (1.0 - 1e-9)
        }
    }
}

/// The inverse of the tilt.
struct Untilt {
    step: f64,
    offset: f64,
    tilt: f64,
    /// n K(θ)
    ln_moment: f64,
    lowest_index: i64,
    /// Number of points of the window.
    points: usize,
    /// Bound of the error of each tilted mass.
    error: f64,
    /// Bound of the relative error of the tilt and its undoing.
    relative: f64,
    /// Bounds of the tilted mass on each side of the window, which the transform has wrapped into
    /// it.
    below: f64,
    above: f64,
}

impl Untilt {
    /// The index of each point of the window, its tilted mass and e^{nK − θl}, from the top down.
    fn descending(&self, composed: &Packed) -> impl Iterator<Item = (i64, f64, f64)> {
        const BLOCK: usize = 16;
        let ratio = math::exp(self.tilt * self.step);
        let mut factor = 0.0;
        let mut place = wrapped(self.lowest_index + self.points as i64, composed.len());
        (0..self.points).rev().enumerate().map(move |(count, point)| {
            let index = self.lowest_index + point as i64;
            if count % BLOCK == 0 {
                let loss = index as f64 * self.step + self.offset;
                factor = math::exp(self.ln_moment - self.tilt * loss);
            } else {
                factor *= ratio;
            }
            place = place.checked_sub(1).unwrap_or(composed.len() - 1);
            (index, composed.get(place), factor)
        })
    }

    /// Masses from the top down, until they sum to the maximum total.
    fn pessimistic(&self, composed: &Packed, infinite_mass: f64) -> (i64, Vec<f64>) {
        let mut masses = Vec::with_capacity(self.points);
        let (mut left, mut lowest_index) = (1.0 - infinite_mass, self.lowest_index);
        for (index, tilted, factor) in self.descending(composed) {
            lowest_index = index;
            let mass = (tilted.max(0.0) + self.error) * factor * (1.0 + self.relative);
            // NaN is impossible, an overflow is not
            masses.push(mass.min(left));
            left -= mass;
            if !(left > 0.0) {
                break;
            }
        }
        if let Some(lowest) = masses.last_mut().filter(|_| self.below > 0.0) {
            // the mass below the window, moved up to its end
            *lowest += left.max(0.0);
        }
        masses.reverse();
        (lowest_index, masses)
    }

    fn optimistic(&self, composed: &Packed) -> (i64, Vec<f64>) {
        let lost = self.error + self.below + self.above;
        let mut masses = Vec::with_capacity(self.points);
        let mut lowest_index = self.lowest_index + self.points as i64;
        for (index, tilted, factor) in self.descending(composed) {
            if !(factor < 1e300) {
                break;
            }
            lowest_index = index;
            masses.push((tilted - lost).max(0.0) * factor * (1.0 - self.relative).max(0.0));
        }
        masses.reverse();
        if masses.is_empty() {
            masses.push(0.0);
        }
        (lowest_index, masses)
    }
}

fn wrapped(index: i64, length: usize) -> usize {
    index.rem_euclid(length as i64) as usize
}

/// The places of consecutive indices, from the first one.
fn places_from(index: i64, length: usize) -> impl Iterator<Item = usize> {
    (wrapped(index, length)..length).chain((0..length).cycle())
}

/// The values of a spectrum to the n-th power, with a bound of the error of the sequence.
///
/// |y − x^n| ≤ n(e + √5 u|x|)(|x| + e)^{n − 1}; values below e^{−90/n} become 0.
struct Power {
    compositions: u64,
    length: usize,
    /// e: bound of the error of each value.
    error: f64,
    least: f64,
    /// Σ (e + 5u|x|)|x|^{n − 1}
    sum: f64,
    /// Σ |x|^n
    lengths: f64,
}

impl Power {
    fn new(compositions: u64, length: usize, error: f64) -> Self {
        let least = math::exp(-180.0 / compositions as f64);
        Power { compositions, length, error, least, sum: 0.0, lengths: 0.0 }
    }

    fn of(&mut self, place: usize, value: Complex) -> Complex {
        let square = value.squared_length();
        if square < self.least {
            return Complex { re: 0.0, im: 0.0 };
        }
        let raised = power(value, self.compositions);
        let (before, after) = (square.sqrt(), raised.squared_length().sqrt());
        // all but the first and the last value occur twice, as conjugates
        let count = if place == 0 || place == self.length / 2 { 1.0 } else { 2.0 };
        self.sum += count * (self.error + 5.0 * UNIT * before) * (after / before);
        self.lengths += count * after;
        raised
    }

    /// A bound of the error of each value of the sequence.
    fn error(&self) -> f64 {
        let (count, length) = (self.compositions as f64, self.length as f64);
        let growth = math::exp(2.0 * count * self.error);
        let of_powers = 1.1 * growth * count * self.sum / length + 1e-38;
        of_powers + RealTransform::error(self.length) * self.lengths / length
    }
}

pub(in crate::accounting) fn power(value: Complex, compositions: u64) -> Complex {
    let (mut base, mut left) = (value, compositions);
    let mut product = Complex { re: 1.0, im: 0.0 };
    while left > 1 {
        if left & 1 == 1 {
            product = product.times(base);
        }
        base = base.times(base);
        left >>= 1;
    }
    product.times(base)
}
