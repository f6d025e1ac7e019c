//! δ of many compositions from the low frequencies of the tilted distribution.
//!
//! With the n-fold tilted masses t_j of the points j of a grid, and a window of N points up to J
//! outside of which little mass is,
//!
//! δ(l_i) = e^{nK − θl_i} Σ_{j = i}^{J} t_j (e^{−θs} − e^{−(θ + 1)s}), s = (j − i)h, and what is outside.
//!
//! Let w_j = Σ_m t_{j + mN} = (1/N) Σ_k φ_k^n e^{−2πikj/N}. In the window, w is t plus mass from outside.
//! Sums of w over j are geometric series for each k. The weights rise to p = max_s e^{−θs}(1 − e^{−s})
//! and fall: their sum with factors e^{−2πikj/N} is at most p/sin(πk/N) ≤ pN/(2k).

use super::atoms::Atoms;
use super::compose::{infinite_mass_of_many, power};
use super::moments::{Moments, Target, ln_profile};
use super::staircase::Staircase;
use super::{MOST_POINTS, Rounding, UNIT, tilt_error};
use crate::accounting::Given;
use crate::accounting::fft::Complex;
use crate::accounting::spectrum::{Spectrum, power_series, real_power};
use crate::math;

/// Grid points of a spectrum for each frequency; see [`Spectrum`].
const OVERSAMPLING: f64 = 8.0;

/// About the error of the sum, in units of its largest weight, per composition.
const ERROR: f64 = 5e-13;

/// Largest index, for exact integers.
const MOST_INDEX: f64 = 1e15;

#[derive(Debug)]
pub(super) struct LowFrequencies {
    step: f64,
    /// Composed loss at index 0, and the size of its terms.
    offset: f64,
    size: f64,
    /// Tilt θ of the masses.
    tilt: f64,
    /// ln of the exponential moment of all losses, n K(θ)
    ln_moment: f64,
    /// Lowest index of the window, and the one above its highest.
    window: (i64, i64),
    /// (2/N) φ_k^n z(1 − e^{−h})/((1 − z)(1 − ze^{−h})), z = e^{−θh − 2πik/N}, from k = 1 on.
    terms: Vec<Complex>,
    /// The sums from above the window on of (2/N) φ_k^n e^{−2πikj/N}, times e^{−θs} and e^{−(θ + 1)s}.
    above_window: [f64; 2],
    /// φ_0^n/N, and a bound of its error.
    constant: (f64, f64),
    /// Bound of the error of either sum, in units of the largest weight.
    error: f64,
    /// Bound of the relative error of the tilt and its undoing.
    relative: f64,
    /// Bounds of the tilted mass on each side of the window.
    outside: (f64, f64),
    /// Chance of an infinite loss.
    infinite_mass: f64,
    rounding: Rounding,
}

impl LowFrequencies {
    /// None if a transform of all frequencies is faster, or too much mass is far away.
    pub(super) fn new(
        atoms: &Atoms,
        moments: &Moments,
        compositions: u64,
        target: Target,
    ) -> Option<Self> {
        let (count, step) = (compositions as f64, atoms.step);
        let ln_error = |tilt: f64| ln_profile(tilt) + math::ln(ERROR * count);
        let aim = moments.tilt(target, ln_error);
        let tilt = aim.tilt;
        let ln_moment = moments.ln_moment(tilt);
        if !(ln_moment.is_finite() && (tilt + 1.0) * step < 1.0) {
            return None;
        }
        let ln_outside = aim.ln_outside(Rounding::Pessimistic) - 5.0;
        let tilted = Tilted::new(atoms, tilt, ln_moment);
        let staircase = Staircase::new(&tilted.points);
        let ln_peak = ln_profile(tilt);
        if !staircase.decays_to(count, ln_outside - ln_peak) {
            return None;
        }
        let (low, high) = moments.as_losses(count).window(tilt, ln_outside);
        let offset = count * atoms.loss_at(tilted.center);
        let size = count * ((tilted.center as f64 * step).abs() + atoms.offset.abs());
        let lowest = ((low - offset) / step).floor();
        let points = ((high - low) / step).ceil() + 3.0;
        if !(lowest.abs() + points < MOST_INDEX) {
            return None;
        }
        let last = staircase.last_frequency(count, points, ln_outside - ln_peak)?;
        if OVERSAMPLING * last as f64 > points.min(MOST_POINTS as f64) {
            return None;
        }
        let (lowest_loss, highest_loss) = moments.range;
        let outside = |is_none: bool| if is_none { 0.0 } else { 1.01 * math::exp(ln_outside) };
        let largest = tilt * highest_loss.abs().max(lowest_loss.abs());
        let mut found = LowFrequencies {
            step,
            offset,
            size,
            tilt,
            ln_moment: count * ln_moment,
            window: (lowest as i64, lowest as i64 + points as i64),
            terms: Vec::new(),
            above_window: [0.0, 0.0],
            constant: (0.0, 0.0),
            error: staircase.beyond(count, points, last),
            relative: UNIT * (tilt_error(count, largest, ln_moment) + 8.0 * tilt * size + 128.0),
            outside: (
                outside(low <= count * lowest_loss),
                outside(high >= count * highest_loss - step),
            ),
            infinite_mass: infinite_mass_of_many(
                atoms.infinite_mass,
                || atoms.points.iter().map(|point| point.1).sum(),
                atoms.rounding,
                count,
            ),
            rounding: atoms.rounding,
        };
        found.sum_up(&tilted, compositions, last);
        (found.relative < 0.1).then_some(found)
    }

    /// The work, in points of a transform.
    pub(super) fn work(&self) -> f64 {
        OVERSAMPLING * self.terms.len() as f64
    }

    fn points(&self) -> f64 {
        (self.window.1 - self.window.0) as f64
    }

    /// Terms up to the last, and their errors.
    ///
    /// |y^n − x^n| ≤ n|y − x|(|x| + |y − x|)^{n − 1}; a power has the relative error 5 n u.
    fn sum_up(&mut self, tilted: &Tilted, compositions: u64, last: usize) {
        let (count, points) = (compositions as f64, self.points());
        let turn = 2.0 * std::f64::consts::PI / points;
        let spectrum = Spectrum::new(&tilted.points, turn, last);
        let [fall, other_fall] = [self.tilt, self.tilt + 1.0].map(|rate| -rate * self.step);
        let narrow = -math::exp_m1(-self.step);
        let mut above_window = [Vec::with_capacity(last), Vec::with_capacity(last)];
        for (place, value) in spectrum.values.into_iter().enumerate() {
            let frequency = turn * place as f64;
            let error = 1.001 * spectrum.error + 4.0 * UNIT * frequency * tilted.spread;
            let near = real_power(value.squared_length().sqrt() + error, compositions - 1);
            let raised = power(value, compositions);
            let lost = near * (count * (error + 5.0 * UNIT) + UNIT * (32.0 * place as f64 + 64.0));
            if place == 0 {
                self.constant = (raised.re / points, lost / points);
                continue;
            }
            let scaled = Complex { re: 2.0 / points * raised.re, im: 2.0 / points * raised.im };
            let (sine, cosine) = math::sin_cos(0.5 * frequency);
            let series = |fall: f64| {
                // 1 − e^{fall − iψ}, from sines of half the angle
                let (ratio, lost) = (math::exp(fall), -math::exp_m1(fall));
                let re = lost + 2.0 * ratio * sine * sine;
                let im = 2.0 * ratio * sine * cosine;
                let square = re * re + im * im;
                Complex { re: re / square, im: -im / square }
            };
            let (slow, fast) = (series(fall), series(other_fall));
            above_window[0].push(scaled.times(slow));
            above_window[1].push(scaled.times(fast));
            let ratio = narrow * math::exp(fall);
            let (cosine, sine) = (1.0 - 2.0 * sine * sine, 2.0 * sine * cosine);
            let shifted = Complex { re: ratio * cosine, im: -ratio * sine };
            self.terms.push(scaled.times(slow).times(fast).times(shifted));
            self.error += lost / place as f64;
        }
        let place = self.window.1;
        self.above_window = above_window.map(|terms| self.sum(&terms, place));
    }

    /// Re Σ a_k e^{−2πikj/N} from k = 1 on.
    fn sum(&self, terms: &[Complex], index: i64) -> f64 {
        let count = self.window.1 - self.window.0;
        let around = index.rem_euclid(count);
        let around = if 2 * around > count { around - count } else { around };
        let angle = 2.0 * std::f64::consts::PI * (around as f64 / count as f64);
        let (sine, cosine) = math::sin_cos(angle);
        let turn = Complex { re: cosine, im: -sine };
        turn.times(power_series(terms, turn)).re
    }

    fn loss_at(&self, index: i64) -> f64 {
        index as f64 * self.step + self.offset
    }

    /// δ at a point, on the side of the rounding, and the part of it that is an error.
    fn delta_at(&self, index: i64) -> (f64, f64) {
        let is_upper = self.rounding == Rounding::Pessimistic;
        // masses below the window are unknown
        let index = if is_upper { index } else { index.max(self.window.0) };
        let above = if is_upper {
            let highest = self.ln_moment - self.tilt * self.loss_at(self.window.1 - 2);
            self.outside.1 * math::exp(highest) * (1.0 + self.relative)
        } else {
            0.0
        };
        let beyond = self.infinite_mass + above;
        let left = (self.window.1 - index) as f64;
        if left <= 0.0 {
            return (beyond, 0.0);
        }
        let peak = math::exp(ln_profile(self.tilt));
        let [slow, fast] = [self.tilt, self.tilt + 1.0].map(|rate| rate * self.step);
        let (slow_series, fast_series) = (series(slow, left), series(fast, left));
        let constant = slow_series - fast_series;
        let (fallen, farther) = (math::exp(-slow * left), math::exp(-self.step * left));
        let [first, second] = self.above_window;
        let sum = self.constant.0 * constant + self.sum(&self.terms, index)
            - fallen * (first - farther * second);
        let error = self.error * (peak + 2.0 * fallen)
            + self.constant.1 * constant
            + 16.0 * UNIT * self.constant.0 * slow_series;
        let factor = math::exp(self.ln_moment - self.tilt * self.loss_at(index));
        let delta = if is_upper {
            (sum + error).max(0.0) * factor * (1.0 + 1.1 * self.relative)
        } else {
            let wrapped = peak * (self.outside.0 + self.outside.1);
            (sum - error - wrapped).max(0.0) * factor * (1.0 - 1.1 * self.relative)
        };
        (delta + beyond, error * factor)
    }

    /// ε or δ, on the side of the rounding.
    pub(super) fn value(&self, given: Given, target: Target) -> Option<f64> {
        match given {
            Given::Delta(delta) => self.epsilon_at(delta, target),
            Given::Epsilon(epsilon) => self.delta_between(epsilon, target),
        }
    }

    /// Rounding errors of losses, towards the safe side.
    fn margin(&self, loss: f64) -> f64 {
        let places = self.window.0.abs().max(self.window.1.abs()) as f64;
        let size = self.size + loss.abs() + self.step * (places + 1.0);
        let margin = 8.0 * f64::EPSILON * size;
        if self.rounding == Rounding::Pessimistic { margin } else { -margin }
    }

    /// Whether errors are a small part of δ, near which ln δ has this slope.
    fn is_exact(&self, (delta, error): (f64, f64), target: Target) -> bool {
        error <= 10.0 * target.negligible * delta
    }

    /// δ between two points: linear in e^ε.
    fn delta_between(&self, epsilon: f64, target: Target) -> Option<f64> {
        let epsilon = epsilon - self.margin(epsilon);
        let index = ((epsilon - self.offset) / self.step).floor();
        if !(index.abs() < MOST_INDEX) {
            return None;
        }
        let index = index as i64;
        let (low, high) = (self.delta_at(index), self.delta_at(index + 1));
        if !self.is_exact(low, target) {
            return None;
        }
        let share = math::exp_m1(epsilon - self.loss_at(index)) / math::exp_m1(self.step);
        let delta = low.0 + (high.0 - low.0) * math::clamp(share, 0.0, 1.0);
        Some(delta.clamp(0.0, 1.0))
    }

    /// Where δ is between the values of two points, by safeguarded secants of ln δ.
    fn epsilon_at(&self, delta: f64, target: Target) -> Option<f64> {
        let index_of = |loss: f64| ((loss - self.offset) / self.step).floor();
        let zero = index_of(0.0);
        let (near, mut slope) =
            (index_of(target.epsilon - 1.0 / target.steepest), -target.steepest * self.step);
        if !(zero.abs() < MOST_INDEX && near.abs() < MOST_INDEX) {
            return None;
        }
        let excess = |value: f64| math::ln(value.max(f64::MIN_POSITIVE) / delta);
        let (mut low, mut high) = (zero as i64, self.window.1.max(zero as i64 + 1));
        let (mut at_low, mut at_high) = (self.delta_at(low), self.delta_at(high));
        if at_low.0 <= delta {
            return self.is_exact((delta, at_low.1), target).then_some(0.0);
        }
        if at_high.0 > delta {
            return (self.infinite_mass > delta).then_some(f64::INFINITY);
        }
        let mut next = near as i64;
        let mut last: Option<(i64, f64)> = None;
        for _ in 0..100 {
            if high - low <= 1 {
                break;
            }
            let index = next.clamp(low + 1, high - 1);
            let found = self.delta_at(index);
            let here = excess(found.0);
            if found.0 > delta {
                (low, at_low) = (index, found);
            } else {
                (high, at_high) = (index, found);
            }
            let rise = last.map(|(place, before)| (here - before) / (index - place) as f64);
            slope = rise.filter(|rise| *rise < 0.0).unwrap_or(slope);
            last = Some((index, here));
            let step = (-here / slope).floor();
            let is_inside = |step: f64| {
                let next = index as f64 + step;
                next >= low as f64 && next <= high as f64
            };
            next = if is_inside(step) { index + step as i64 } else { low + (high - low) / 2 };
        }
        if high - low > 1 || !self.is_exact(at_low, target) {
            return None;
        }
        let share = math::clamp((at_low.0 - delta) / (at_low.0 - at_high.0), 0.0, 1.0);
        let epsilon = self.loss_at(low) + math::ln_1p(share * math::exp_m1(self.step));
        Some((epsilon + self.margin(epsilon)).max(0.0))
    }
}

/// Σ e^{−rate·j}, j < `count`.
fn series(rate: f64, count: f64) -> f64 {
    if rate * count < 1e-15 { count } else { math::exp_m1(-rate * count) / math::exp_m1(-rate) }
}

/// The tilted distribution of one step.
struct Tilted {
    /// Index at which positions begin.
    center: i64,
    /// Position and mass.
    points: Vec<(f64, f64)>,
    /// Mean distance from the center.
    spread: f64,
}

impl Tilted {
    fn new(atoms: &Atoms, tilt: f64, ln_moment: f64) -> Self {
        let points = atoms.points.iter().filter(|(_, mass)| *mass > 0.0);
        let tilted = points.map(|(index, mass)| {
            (*index, mass * math::exp(tilt * atoms.loss_at(*index) - ln_moment))
        });
        let tilted: Vec<(i64, f64)> = tilted.collect();
        let mean: f64 = tilted.iter().map(|(index, mass)| *index as f64 * mass).sum();
        let center = mean.round() as i64;
        let points: Vec<(f64, f64)> =
            tilted.iter().map(|(index, mass)| ((index - center) as f64, *mass)).collect();
        let spread = points.iter().map(|(place, mass)| place.abs() * mass).sum();
        Tilted { center, points, spread }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{brute_force, delta_of};
    use super::*;

    const STEP: f64 = 1.0 / 128.0;
    const COUNT: u64 = 300;
    const INFINITE: f64 = 1e-15;
    const GIVEN: [f64; 4] = [0.1, 0.4, 0.8, 1.1];

    /// Losses near 0, and a rare large one.
    fn atoms(rounding: Rounding) -> Atoms {
        let near = [0.05, 0.2, 0.299, 0.25, 0.12, 0.05, 0.03].into_iter().enumerate();
        let near = near.map(|(index, mass)| (index as i64, mass));
        let points = near.chain([(8, 0.0), (40, 1e-3)]).collect();
        Atoms { step: STEP, offset: -3.0 * STEP, points, infinite_mass: INFINITE, rounding }
    }

    fn exact() -> impl Fn(f64) -> f64 {
        let (_, masses) =
            brute_force(&atoms(Rounding::Pessimistic).distribution().unwrap(), COUNT as usize);
        move |epsilon| {
            let infinite = -math::exp_m1(COUNT as f64 * math::ln_1p(-INFINITE));
            delta_of(STEP, -3 * COUNT as i64, &masses, infinite, epsilon)
        }
    }

    fn inverted(rounding: Rounding, given: Given, error: f64) -> (LowFrequencies, Target) {
        let atoms = atoms(rounding);
        let moments = Moments::of(&atoms);
        let target = moments.target(COUNT as f64, given, error);
        (LowFrequencies::new(&atoms, &moments, COUNT, target).unwrap(), target)
    }

    fn delta(rounding: Rounding, epsilon: f64, error: f64) -> f64 {
        let (found, target) = inverted(rounding, Given::Epsilon(epsilon), error);
        found.value(Given::Epsilon(epsilon), target).unwrap()
    }

    #[test]
    fn values_bracket_plain_sums() {
        let exact = exact();
        for epsilon in GIVEN {
            let value = exact(epsilon);
            for error in [1e-2, 1e-4] {
                let low = delta(Rounding::Optimistic, epsilon, error);
                let high = delta(Rounding::Pessimistic, epsilon, error);
                // either one in place of the other is on the wrong side
                assert!(low < value && value < high, "{epsilon}: {low:e} {value:e} {high:e}");
                assert!(high - low < 0.1 * error * value, "{epsilon}: {low:e} {high:e}");
                let given = Given::Delta(value);
                let of = |rounding| {
                    let (found, target) = inverted(rounding, given, error);
                    found.value(given, target).unwrap()
                };
                let (low, high) = (of(Rounding::Optimistic), of(Rounding::Pessimistic));
                assert!(low < epsilon && epsilon < high, "{epsilon}: {low} {high}");
                assert!(high - low < 0.1 * error, "{epsilon}: {low} {high}");
            }
        }
    }

    /// With all mass in the window, w is t, and more than t where some is not.
    #[test]
    fn mass_outside_the_window_is_taken_off() {
        let exact = exact();
        for epsilon in GIVEN {
            let (mut found, target) = inverted(Rounding::Optimistic, Given::Epsilon(epsilon), 1e-2);
            let count = found.window.1 - found.window.0;
            // mass at the top, where weights are small, moves to the bottom of the window
            let value = found.delta_at(found.window.0 + count / 2).0;
            found.outside = (0.0, 0.0);
            assert!(found.delta_at(found.window.0 + count / 2).0 > value);
            let above = found.value(Given::Epsilon(epsilon), target).unwrap();
            assert!(above < exact(epsilon) * (1.0 + 1e-4), "{epsilon}: {above:e}");
        }
    }

    #[test]
    fn fewer_frequencies_and_other_powers_are_detected() {
        let exact = exact();
        for epsilon in GIVEN {
            for rounding in [Rounding::Pessimistic, Rounding::Optimistic] {
                let given = Given::Epsilon(epsilon);
                let is_wrong = |change: &dyn Fn(&mut LowFrequencies)| {
                    let (mut found, target) = inverted(rounding, given, 1e-4);
                    change(&mut found);
                    let seen = found.value(given, target).unwrap_or(0.0);
                    (seen / exact(epsilon) - 1.0).abs() > 1e-4
                };
                assert!(!is_wrong(&|_| ()));
                assert!(is_wrong(&|found| found.terms.truncate(found.terms.len() / 4)));
                assert!(is_wrong(&|found| found.constant.0 *= 1.01));
                assert!(is_wrong(&|found| found.ln_moment += 1e-3));
            }
        }
    }

    /// Frequencies that do not decay are left to other transforms.
    #[test]
    fn every_second_point_is_refused() {
        let mut apart = atoms(Rounding::Pessimistic);
        apart.points.iter_mut().for_each(|point| point.0 *= 2);
        let moments = Moments::of(&apart);
        let target = moments.target(COUNT as f64, Given::Epsilon(1.0), 1e-4);
        assert!(LowFrequencies::new(&apart, &moments, COUNT, target).is_none());
        let (value, _) = apart.value_of_many(COUNT, Given::Epsilon(1.0), 1e-4).unwrap();
        assert!(value > 0.0 && value < 1.0);
    }
}
