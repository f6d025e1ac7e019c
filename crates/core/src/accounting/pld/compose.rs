//! Composition by Fourier transforms of the exponentially tilted distribution.

use super::super::fft::{Complex, Packed, RealTransform};
use super::moments::{Aim, Losses, Moments, Target};
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
        Self::sum(&[(self, compositions)], |_| Aim::WHOLE)
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
        Self::sum_of(&[(self, compositions)], given, error)
    }

    /// The distribution of the sum of independent losses, n of each part, as
    /// [`Self::composed_to`].
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `parts` | distributions, with n of each | same step and rounding |
    ///
    /// # Guarantee
    /// As [`Self::self_composed_near`]
    /// (`unit::tilted_composition_of_parts_is_right_in_the_far_tail`).
    pub(in crate::accounting) fn sum_of(
        parts: &[(&Self, u64)],
        given: Given,
        error: f64,
    ) -> Result<Self, AccountingError> {
        match given {
            Given::Delta(delta) => super::check_delta(delta)?,
            Given::Epsilon(epsilon) => super::check_epsilon(epsilon)?,
        }
        Self::sum(parts, |losses| losses.aim(losses.target(given, error)))
    }

    /// As [`Self::composed_to`], with a known target.
    pub(super) fn composed_near(
        &self,
        compositions: u64,
        target: Target,
    ) -> Result<Self, AccountingError> {
        Self::sum(&[(self, compositions)], |losses| losses.aim(target))
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
        self.check_like(other)?;
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
        let untilted = Untilt {
            step: self.step,
            offset: self.offset + other.offset,
            tilt: 0.0,
            ln_moment: 0.0,
            lowest_index,
            points,
            // three transforms and a product, each value at most the product of the totals
            error: 4.0 * RealTransform::error(length) * self.total() * other.total(),
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
                let infinite_mass = own * (other.total() + theirs) + self.total() * theirs;
                (infinite_mass * (1.0 - 1e-9), untilted.optimistic(&composed))
            }
        };
        let offset = untilted.offset;
        Ok(PrivacyLossDistribution { offset, lowest_index, masses, infinite_mass, ..*self })
    }

    fn sum(parts: &[(&Self, u64)], aim: impl Fn(&Losses) -> Aim) -> Result<Self, AccountingError> {
        let Some((first, _)) = parts.first() else {
            return Err(argument("number of distributions", 0.0, "at least 1"));
        };
        for (part, compositions) in parts {
            first.check_like(part)?;
            if !(1..=1_000_000_000_000).contains(compositions) {
                return Err(argument("compositions", *compositions as f64, "in 1 to 10^12"));
            }
        }
        if let [(one, 1)] = parts {
            return Ok((*one).clone());
        }
        let is_infinite = |(part, _): &&(&Self, u64)| !(part.total() > 0.0);
        if let Some((part, _)) = parts.iter().find(is_infinite) {
            let infinite_mass = infinite_mass_of_all(parts);
            return Ok(PrivacyLossDistribution { infinite_mass, ..(*part).clone() });
        }
        let moments: Vec<Moments> = parts.iter().map(|(part, _)| Moments::new(part)).collect();
        let counts = parts.iter().map(|(_, compositions)| *compositions as f64);
        let losses = Losses(moments.iter().zip(counts).collect());
        let mut aim = aim(&losses);
        // beyond the highest loss the best tilt is unbounded
        if !losses.ln_moment(aim.tilt).is_finite() {
            aim = Aim::WHOLE;
        }
        let rounding = first.rounding;
        let mut window = losses.window(aim.tilt, aim.ln_outside(rounding));
        let points = |(low, high): (f64, f64)| ((high - low) / first.step).ceil() + 3.0;
        // rare large losses make up a tilted distribution, and its window
        if !(points(window) <= MOST_POINTS as f64) {
            aim = Aim::WHOLE;
            window = losses.window(aim.tilt, aim.ln_outside(rounding));
        }
        let ((low, high), points) = (window, points(window));
        if !(points <= MOST_POINTS as f64) {
            return Err(AccountingError::Grid { points, most: MOST_POINTS });
        }
        let points = points as usize;
        let tilted: Vec<TiltedPart> = (parts.iter().zip(&moments))
            .map(|((part, compositions), moments)| TiltedPart {
                part,
                compositions: *compositions,
                tilt: aim.tilt,
                ln_moment: moments.ln_moment(aim.tilt),
            })
            .collect();
        let (composed, error) = transformed(&tilted, RealTransform::length_for(points));

        let sum = |of: &dyn Fn(&TiltedPart) -> f64| tilted.iter().map(of).sum::<f64>();
        let offset = sum(&|tilted| tilted.compositions as f64 * tilted.part.offset);
        let lowest_index = ((low - offset) / first.step).floor() as i64;
        let relative = UNIT * (sum(&|tilted| tilted.error()) + 64.0);
        let (lowest, highest) = losses.range();
        let is_all_below = high >= highest - first.step;
        let is_all_above = low <= lowest;
        let outside = |is_none: bool| {
            if is_none { 0.0 } else { 1.01 * math::exp(aim.ln_outside(rounding)) }
        };
        let untilted = Untilt {
            step: first.step,
            offset,
            tilt: aim.tilt,
            ln_moment: losses.ln_moment(aim.tilt),
            lowest_index,
            points,
            error,
            relative,
            below: outside(is_all_above),
            above: outside(is_all_below),
        };
        Ok(first.with_masses_of(&untilted, &composed, infinite_mass_of_all(parts), high))
    }

    fn total(&self) -> f64 {
        self.masses.iter().sum()
    }

    /// Rejects another step or rounding.
    fn check_like(&self, other: &Self) -> Result<(), AccountingError> {
        if self.step == other.step && self.rounding == other.rounding {
            return Ok(());
        }
        Err(argument("step of the other distribution", other.step, "equal, with the same rounding"))
    }

    fn with_masses_of(
        &self,
        distribution: &Untilt,
        composed: &Packed,
        infinite_mass: f64,
        high: f64,
    ) -> Self {
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
}

/// Chance that one of all losses is infinite.
fn infinite_mass_of_all(parts: &[(&PrivacyLossDistribution, u64)]) -> f64 {
    // that one is, and that none is
    let mut all: Option<(f64, f64)> = None;
    for (part, compositions) in parts {
        let count = *compositions as f64;
        let total = || part.total();
        let own = infinite_mass_of_many(part.infinite_mass, total, part.rounding, count);
        let finite = || math::exp(count * math::ln(part.total().min(1.0)));
        all = Some(match (all, part.rounding) {
            (None, Rounding::Pessimistic) => (own, 0.0),
            (None, Rounding::Optimistic) => (own, if parts.len() > 1 { finite() } else { 0.0 }),
            (Some((one, _)), Rounding::Pessimistic) => {
                (((one + own - one * own) * (1.0 + 1e-12)).min(1.0), 0.0)
            }
            (Some((one, none)), Rounding::Optimistic) => {
                let finite = finite();
                ((one * (finite + own) + none * own) * (1.0 - 1e-9), none * finite)
            }
        });
    }
    all.map_or(0.0, |(one, _)| one)
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

/// A distribution tilted by θ, of which n losses are added: m̃_k = m_k e^{θl − K(θ)}.
struct TiltedPart<'a> {
    part: &'a PrivacyLossDistribution,
    compositions: u64,
    tilt: f64,
    /// ln of the exponential moment of one loss, K(θ)
    ln_moment: f64,
}

impl TiltedPart<'_> {
    /// The tilted masses, and their sum.
    fn masses(&self, length: usize) -> (Packed, f64) {
        let TiltedPart { part, tilt, ln_moment, .. } = *self;
        let (mut tilted, mut total) = (Packed::zeros(length), 0.0);
        let masses = part.masses.iter().enumerate().zip(places_from(part.lowest_index, length));
        for ((own, &mass), place) in masses.filter(|((_, mass), _)| **mass > 0.0) {
            let mass = mass * math::exp(tilt * part.loss_at(own) - ln_moment);
            tilted.add(place, mass);
            total += mass;
        }
        (tilted, total)
    }

    /// Relative error of the tilt of all its losses, in units of [`UNIT`].
    fn error(&self) -> f64 {
        let TiltedPart { part, tilt, ln_moment, .. } = *self;
        let largest = tilt * part.loss_at(part.masses.len() - 1).abs().max(part.loss_at(0).abs());
        tilt_error(self.compositions as f64, largest, ln_moment)
    }
}

/// The tilted distribution of all losses, wrapped, and a bound of the error of each mass.
fn transformed(parts: &[TiltedPart], length: usize) -> (Packed, f64) {
    let Some((last, others)) = parts.split_last() else { return (Packed::zeros(length), 0.0) };
    let transform = RealTransform::new(length);
    let mut product = Product::default();
    for part in others {
        let (tilted, total) = part.masses(length);
        let power = Power::new(part.compositions, RealTransform::error(length) * total);
        product.multiply(&transform.spectrum(tilted), &power);
    }
    let (tilted, total) = last.masses(length);
    let power = Power::new(last.compositions, RealTransform::error(length) * total);
    let (mut own, mut of_others, mut lengths) = (0.0, 0.0, 0.0);
    let composed = transform.with_spectrum(tilted, |place, value| {
        let raised = power.of(value);
        // all but the first and the last value occur twice, as conjugates
        let count = if place == 0 || place == length / 2 { 1.0 } else { 2.0 };
        let Some((others, error)) = product.at(place) else {
            own += count * raised.error;
            lengths += count * raised.length;
            return raised.value;
        };
        let after = others.squared_length().sqrt();
        own += count * (raised.error + 5.0 * UNIT * raised.length) * after;
        of_others += count * error * (raised.length + power.bound(raised.error));
        lengths += count * raised.length * after;
        raised.value.times(others)
    });
    let error = power.bound(own) / length as f64 + parts.len() as f64 * 1e-38;
    let of_others = of_others / length as f64;
    (composed, error + of_others + RealTransform::error(length) * lengths / length as f64)
}

/// The inverse of the tilt.
struct Untilt {
    step: f64,
    offset: f64,
    tilt: f64,
    /// ln of the exponential moment of all losses, n K(θ)
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

/// The n-th powers of the values of a spectrum, with bounds of their errors.
///
/// |y − x^n| ≤ n(e + √5 u|x|)(|x| + e)^{n − 1}; values below e^{−90/n} become 0.
struct Power {
    compositions: u64,
    /// e: bound of the error of each value.
    error: f64,
    least: f64,
}

/// A value to the n-th power.
struct Raised {
    value: Complex,
    /// Absolute value of the power, |x|^n
    length: f64,
    /// (e + 5u|x|)|x|^{n − 1}
    error: f64,
}

impl Power {
    fn new(compositions: u64, error: f64) -> Self {
        Power { compositions, error, least: math::exp(-180.0 / compositions as f64) }
    }

    fn of(&self, value: Complex) -> Raised {
        let square = value.squared_length();
        if square < self.least {
            return Raised { value: Complex { re: 0.0, im: 0.0 }, length: 0.0, error: 0.0 };
        }
        let raised = power(value, self.compositions);
        let (before, after) = (square.sqrt(), raised.squared_length().sqrt());
        let error = (self.error + 5.0 * UNIT * before) * (after / before);
        Raised { value: raised, length: after, error }
    }

    /// A bound of the errors of powers, from (e + 5u|x|)|x|^{n − 1} of each.
    fn bound(&self, errors: f64) -> f64 {
        let count = self.compositions as f64;
        1.1 * math::exp(2.0 * count * self.error) * count * errors
    }
}

/// Products of powers of spectra, with bounds of their errors; empty before the first.
#[derive(Default)]
struct Product {
    values: Vec<Complex>,
    errors: Vec<f64>,
}

impl Product {
    /// |x y − X Y| ≤ |x| e′ + e (|y| + e′), e and e′ the errors of x and y
    fn multiply(&mut self, spectrum: &[Complex], power: &Power) {
        if self.values.is_empty() {
            self.values = vec![Complex { re: 1.0, im: 0.0 }; spectrum.len()];
            self.errors = vec![0.0; spectrum.len()];
        }
        for ((value, error), factor) in self.values.iter_mut().zip(&mut self.errors).zip(spectrum) {
            let raised = power.of(*factor);
            let own = power.bound(raised.error + 5.0 * UNIT * raised.length);
            *error = value.squared_length().sqrt() * own + *error * (raised.length + own);
            *value = value.times(raised.value);
        }
    }

    fn at(&self, place: usize) -> Option<(Complex, f64)> {
        Some((*self.values.get(place)?, *self.errors.get(place)?))
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
