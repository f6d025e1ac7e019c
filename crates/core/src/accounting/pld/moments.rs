//! Exponential moments of a distribution, and Chernoff bounds.

use super::{PrivacyLossDistribution, Rounding};
use crate::accounting::Given;
use crate::math;

const BLOCK: usize = 16;

/// How a composed distribution is computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    /// θ
    pub(super) tilt: f64,
    /// ln of the tilted mass that may be outside the window, per side.
    pub(super) ln_outside: f64,
}

impl Aim {
    /// For no particular δ.
    pub(super) const WHOLE: Self = Aim { tilt: 0.0, ln_outside: -36.0 };
}

/// The finite part of a distribution, for its moments.
#[derive(Debug)]
pub(super) struct Moments<'a> {
    distribution: &'a PrivacyLossDistribution,
    /// Loss and mass of each point, if few points have mass.
    sparse: Option<Vec<(f64, f64)>>,
}

impl<'a> Moments<'a> {
    pub(super) fn new(distribution: &'a PrivacyLossDistribution) -> Self {
        let count = distribution.masses.iter().filter(|mass| **mass > 0.0).count();
        let points = distribution.masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0);
        let sparse = (8 * count < distribution.masses.len())
            .then(|| points.map(|(place, mass)| (distribution.loss_at(place), *mass)).collect());
        Moments { distribution, sparse }
    }

    /// ln Σ m_k e^{θkh}, the infinite mass left out.
    pub(super) fn ln_moment(&self, tilt: f64) -> f64 {
        let Some(points) = &self.sparse else {
            return self.distribution.dense_ln_moment(tilt);
        };
        let (first, last) = (points.first(), points.last());
        let reference = if tilt > 0.0 { last } else { first }.map_or(0.0, |point| point.0);
        let terms = points.iter().map(|(loss, mass)| mass * math::exp(tilt * (loss - reference)));
        tilt * reference + math::ln(terms.sum())
    }

    /// The tilt for a target: the smallest θ for which the errors of a transform are small compared
    /// with δ.
    ///
    /// A larger θ has heavier tails of the tilted distribution, and a wider window.
    pub(super) fn aim(&self, compositions: f64, given: Given, error: f64) -> Aim {
        let spread =
            (compositions * self.distribution.variance()).sqrt().max(self.distribution.step);
        let ln_moment = |tilt: f64| compositions * self.ln_moment(tilt);
        let (steepest, epsilon, ln_delta) = chernoff(ln_moment, spread, given);
        let ln_peak = |tilt: f64| compositions * self.ln_moment(tilt) - tilt * epsilon;
        // a change of ε by e is one of ln δ by about θe
        let negligible = (0.02 * error * steepest).clamp(1e-10, 1e-4);
        let ln_least = ln_delta + math::ln(negligible);
        // ∫ e^{−θt}(1 − e^{−t}) dt, finite: the sum of an error per mass
        let ln_sum = |tilt: f64| -math::ln((0.2 + tilt) * (1.0 + tilt));
        // errors per nat, of a spectrum that decays, or that an atom below the end prevents from
        // decaying
        let mut density = 1.0 / spread;
        if steepest * self.distribution.step < 0.3 {
            let kept =
                math::exp(0.5 * (compositions - 1.0) * math::ln(self.distribution.collision()));
            density = density.max(8.0 * kept / self.distribution.step);
        }
        let ln_error = |tilt: f64| ln_sum(tilt) + math::ln(2e-14 * compositions * density);
        let is_enough = |tilt: f64| ln_peak(tilt) + ln_error(tilt) <= ln_least;
        let mut tilt = 0.0;
        if !is_enough(0.0) {
            let mut low = 0.0;
            tilt = steepest;
            for _ in 0..6 {
                let middle = 0.5 * (low + tilt);
                if is_enough(middle) {
                    tilt = middle;
                } else {
                    low = middle;
                }
            }
        }
        // rounded up, mass outside the window counts once; rounded down, it may be in each mass
        let ln_masses = match self.distribution.rounding {
            Rounding::Pessimistic => 0.0,
            Rounding::Optimistic => (ln_sum(tilt) - math::ln(self.distribution.step)).max(0.0),
        };
        let ln_outside = (ln_least - ln_peak(tilt) - ln_masses).clamp(-600.0, -10.0);
        Aim { tilt, ln_outside }
    }

    /// An interval of losses with all but e^{ln_outside} per side of the tilted n-fold
    /// distribution.
    ///
    /// P̃(ΣL > u) ≤ e^{n(K(θ + t) − K(θ)) − tu} for each t > 0, and alike below.
    pub(super) fn window(&self, compositions: f64, tilt: f64, ln_outside: f64) -> (f64, f64) {
        let here = self.ln_moment(tilt);
        let mut high = compositions * self.distribution.loss_at(self.distribution.masses.len() - 1);
        let mut low = compositions * self.distribution.loss_at(0);
        let curvature = if tilt > 0.0 {
            let change = 0.1 * tilt;
            let sides = self.ln_moment(tilt + change) + self.ln_moment(tilt - change);
            (sides - 2.0 * here) / (change * change)
        } else {
            self.distribution.variance()
        };
        let spread = (compositions * curvature.max(0.0)).sqrt().max(self.distribution.step);
        let usual = (-2.0 * ln_outside).sqrt() / spread;
        // both bounds fall and rise again as the power falls
        let mut last = (f64::INFINITY, f64::INFINITY);
        for power in (-40..=4).rev() {
            let change = usual * math::exp2(0.5 * f64::from(power));
            let above = compositions * (self.ln_moment(tilt + change) - here) - ln_outside;
            let below = compositions * (self.ln_moment(tilt - change) - here) - ln_outside;
            let next = (above / change, below / change);
            (high, low) = (high.min(next.0), low.max(-next.1));
            if next.0 > last.0 && next.1 > last.1 {
                break;
            }
            last = next;
        }
        (low, high.max(low))
    }
}

impl PrivacyLossDistribution {
    /// An upper value of ε or δ of the n-fold composition of a pessimistic distribution: Chernoff's
    /// bound.
    ///
    /// δ(ε) ≤ n·m_∞ + e^{nK(θ) − θε}·max_s e^{−θs}(1 − e^{−s}), for every θ
    pub(in crate::accounting) fn upper_of_many(&self, compositions: u64, given: Given) -> f64 {
        let count = compositions as f64;
        let moments = Moments::new(self);
        let spread = (count * self.variance()).sqrt().max(self.step);
        let (tilt, ..) = chernoff(|tilt| count * moments.ln_moment(tilt), spread, given);
        let ln_moment = count * moments.ln_moment(tilt) + ln_profile(tilt);
        let ln_moment = ln_moment + 1e-9 * (1.0 + ln_moment.abs());
        let infinite = count * self.infinite_mass * (1.0 + 1e-12);
        let value = match given {
            Given::Delta(delta) if infinite < delta => {
                let left = (delta - infinite) * (1.0 - 1e-12);
                ((ln_moment - math::ln(left)) / tilt).max(0.0) * (1.0 + 1e-12)
            }
            Given::Delta(_) => f64::INFINITY,
            Given::Epsilon(epsilon) => {
                (infinite + math::exp(ln_moment - tilt * epsilon) * (1.0 + 1e-9)).min(1.0)
            }
        };
        if value.is_nan() { f64::INFINITY } else { value }
    }

    fn dense_ln_moment(&self, tilt: f64) -> f64 {
        let ratio = math::exp(tilt * self.step);
        let mut powers = [1.0; BLOCK];
        for place in 1..BLOCK {
            powers[place] = powers[place - 1] * ratio;
        }
        // of the points with mass: beyond them all powers may underflow
        let mut filled = self.masses.iter().map(|mass| *mass > 0.0);
        let place = if tilt > 0.0 { filled.rposition(|is| is) } else { filled.position(|is| is) };
        let reference = self.loss_at(place.unwrap_or(0));
        let mut sum = 0.0;
        for (block, masses) in self.masses.chunks(BLOCK).enumerate() {
            let exponent = tilt * (self.loss_at(block * BLOCK) - reference);
            if exponent < -745.0 {
                continue;
            }
            let inner: f64 = masses.iter().zip(&powers).map(|(mass, power)| mass * power).sum();
            sum += inner * math::exp(exponent);
        }
        tilt * reference + math::ln(sum)
    }

    /// Σ m_k², the mean square of the spectrum.
    fn collision(&self) -> f64 {
        self.masses.iter().map(|mass| mass * mass).sum()
    }

    fn variance(&self) -> f64 {
        let (mut total, mut mean, mut square) = (0.0, 0.0, 0.0);
        for (place, mass) in self.masses.iter().enumerate() {
            let place = place as f64;
            total += mass;
            mean += mass * place;
            square += mass * place * place;
        }
        let mean = mean / total;
        ((square / total - mean * mean) * self.step * self.step).max(0.0)
    }
}

/// The θ of the least Chernoff bound, with about the ε and ln δ there.
///
/// `ln_moment(θ)` is ln E e^{θL}; the loss L has a standard deviation of about `spread`.
pub(in crate::accounting) fn chernoff(
    ln_moment: impl Fn(f64) -> f64,
    spread: f64,
    given: Given,
) -> (f64, f64, f64) {
    let bound = |ln_tilt: f64| {
        let tilt = math::exp(ln_tilt);
        let ln_profile = ln_profile(tilt);
        match given {
            Given::Delta(delta) => (ln_moment(tilt) + ln_profile - math::ln(delta)) / tilt,
            Given::Epsilon(epsilon) => ln_moment(tilt) + ln_profile - tilt * epsilon,
        }
    };
    let start = math::ln(6.0 / spread);
    let (mut best, mut least) = (start, bound(start));
    for width in [2.0, 0.7, 0.25] {
        for direction in [-width, width] {
            while (best - start).abs() < 14.0 {
                let value = bound(best + direction);
                if !(value < least) {
                    break;
                }
                (best, least) = (best + direction, value);
            }
        }
    }
    let (epsilon, ln_delta) = match given {
        Given::Delta(delta) => (least.max(0.0), math::ln(delta)),
        Given::Epsilon(epsilon) => (epsilon, least.min(0.0) - 3.0),
    };
    (math::exp(best), epsilon, ln_delta)
}

/// ln of the largest e^{−θs}(1 − e^{−s}), s > 0.
pub(in crate::accounting) fn ln_profile(tilt: f64) -> f64 {
    tilt * math::ln(tilt / (1.0 + tilt)) - math::ln_1p(tilt)
}
