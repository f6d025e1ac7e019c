//! Exponential moments of a distribution, and Chernoff bounds.

use super::atoms::Atoms;
use super::{PrivacyLossDistribution, Rounding};
use crate::accounting::Given;
use crate::math;
use std::borrow::Cow;

const BLOCK: usize = 16;

/// How a composed distribution is computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    /// Tilt θ of the losses.
    pub(super) tilt: f64,
    /// ln of the tilted mass that may be lost, per side.
    pub(super) ln_lost: f64,
    /// About ln of the sum of the weights of all masses, each of which may contain what is lost.
    ln_masses: f64,
}

impl Aim {
    /// For no particular δ.
    pub(super) const WHOLE: Self = Aim { tilt: 0.0, ln_lost: -36.0, ln_masses: 0.0 };

    /// ln of the tilted mass that may be outside the window, per side.
    ///
    /// Rounded up, mass outside the window counts once; rounded down, it may be in each mass.
    pub(super) fn ln_outside(&self, rounding: Rounding) -> f64 {
        let ln_masses = match rounding {
            Rounding::Pessimistic => 0.0,
            Rounding::Optimistic => self.ln_masses,
        };
        (self.ln_lost - ln_masses).clamp(-600.0, -10.0)
    }
}

/// Where a composition must be accurate, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    compositions: f64,
    /// About the standard deviation.
    spread: f64,
    /// The tilt of the least Chernoff bound, which is about the slope of −ln δ, and ε and ln δ there.
    pub(super) steepest: f64,
    pub(super) epsilon: f64,
    ln_delta: f64,
    /// Part of δ that errors may be.
    pub(super) negligible: f64,
}

/// ln of ∫ e^{−θt}(1 − e^{−t}) dt, finite: the sum of an error per mass.
fn ln_sum(tilt: f64) -> f64 {
    -math::ln((0.2 + tilt) * (1.0 + tilt))
}

/// The finite part of a distribution, for its moments.
#[derive(Debug)]
pub(super) struct Moments<'a> {
    step: f64,
    /// Loss at place 0, as an index and a remainder.
    start: (f64, f64),
    /// The lowest and the highest loss, also of those with mass.
    pub(super) range: (f64, f64),
    filled: (f64, f64),
    points: Points<'a>,
}

#[derive(Debug)]
enum Points<'a> {
    /// Loss, place and mass of each point with mass.
    Few(Vec<(f64, f64, f64)>),
    Runs(Vec<Run<'a>>),
}

/// Masses at evenly spaced places.
#[derive(Debug)]
struct Run<'a> {
    first: f64,
    gap: f64,
    masses: Cow<'a, [f64]>,
}

impl Run<'_> {
    fn masses(&self) -> impl Iterator<Item = (f64, f64)> {
        let place = |number: usize| self.first + number as f64 * self.gap;
        self.masses.iter().enumerate().map(move |(number, mass)| (place(number), *mass))
    }
}

impl<'a> Moments<'a> {
    pub(super) fn new(distribution: &'a PrivacyLossDistribution) -> Self {
        let masses = &distribution.masses;
        let mut filled = (0..masses.len()).filter(|place| masses[*place] > 0.0);
        let lowest = filled.next().unwrap_or(0);
        let highest = filled.next_back().unwrap_or(lowest);
        let loss = |place: usize| distribution.loss_at(place);
        let few = masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0);
        let points = if 8 * few.clone().count() < masses.len() {
            let of = |(place, mass): (usize, &f64)| (loss(place), place as f64, *mass);
            Points::Few(few.map(of).collect())
        } else {
            Points::Runs(vec![Run { first: 0.0, gap: 1.0, masses: Cow::Borrowed(masses) }])
        };
        Moments {
            step: distribution.step,
            start: (distribution.lowest_index as f64, distribution.offset),
            range: (loss(0), loss(masses.len() - 1)),
            filled: (loss(lowest), loss(highest)),
            points,
        }
    }

    pub(super) fn of(atoms: &Atoms) -> Self {
        let mut runs: Vec<Run> = Vec::new();
        let mut last = 0;
        for &(index, mass) in &atoms.points {
            let gap = (index - last) as f64;
            last = index;
            match runs.last_mut() {
                Some(run) if run.masses.len() == 1 || run.gap == gap => {
                    run.gap = gap;
                    run.masses.to_mut().push(mass);
                }
                _ => runs.push(Run { first: index as f64, gap, masses: Cow::Owned(vec![mass]) }),
            }
        }
        let mut filled = atoms.points.iter().filter(|(_, mass)| *mass > 0.0);
        let lowest = filled.next().map_or(0, |point| point.0);
        let highest = filled.next_back().map_or(lowest, |point| point.0);
        let range = (atoms.loss_at(lowest), atoms.loss_at(highest));
        let start = (0.0, atoms.offset);
        Moments { step: atoms.step, start, range, filled: range, points: Points::Runs(runs) }
    }

    /// ln Σ m_k e^{θkh}, the infinite mass left out.
    pub(super) fn ln_moment(&self, tilt: f64) -> f64 {
        // of the points with mass: beyond them all powers may underflow
        let reference = if tilt > 0.0 { self.filled.1 } else { self.filled.0 };
        let sum = match &self.points {
            Points::Few(points) => {
                let term =
                    |(loss, _, mass): &(f64, f64, f64)| mass * math::exp(tilt * (loss - reference));
                points.iter().map(term).sum()
            }
            Points::Runs(runs) => {
                let mut sum = 0.0;
                for run in runs {
                    self.add_run(run, tilt, reference, &mut sum);
                }
                sum
            }
        };
        tilt * reference + math::ln(sum)
    }

    /// Adds Σ m e^{θ(l − reference)}.
    fn add_run(&self, run: &Run, tilt: f64, reference: f64, sum: &mut f64) {
        let exponent = |place: f64| {
            let loss = (self.start.0 + place) * self.step + self.start.1;
            tilt * (loss - reference)
        };
        let ln_ratio = tilt * self.step * run.gap;
        if ln_ratio.abs() * BLOCK as f64 > 100.0 {
            // a block would span too many orders of magnitude
            *sum +=
                run.masses().map(|(place, mass)| mass * math::exp(exponent(place))).sum::<f64>();
            return;
        }
        let ratio = math::exp(ln_ratio);
        let mut powers = [1.0; BLOCK];
        for place in 1..BLOCK.min(run.masses.len()) {
            powers[place] = powers[place - 1] * ratio;
        }
        for (block, masses) in run.masses.chunks(BLOCK).enumerate() {
            let exponent = exponent(run.first + (block * BLOCK) as f64 * run.gap);
            if exponent < -745.0 {
                continue;
            }
            let inner: f64 = masses.iter().zip(&powers).map(|(mass, power)| mass * power).sum();
            *sum += inner * math::exp(exponent);
        }
    }

    /// Folds places and masses.
    fn fold<T>(&self, start: T, add: impl Fn(T, (f64, f64)) -> T) -> T {
        match &self.points {
            Points::Few(points) => {
                points.iter().map(|(_, place, mass)| (*place, *mass)).fold(start, add)
            }
            Points::Runs(runs) => runs.iter().flat_map(Run::masses).fold(start, add),
        }
    }

    /// Σ m_k², the mean square of the spectrum.
    fn collision(&self) -> f64 {
        self.fold(0.0, |sum, (_, mass)| sum + mass * mass)
    }

    fn variance(&self) -> f64 {
        let add = |[total, mean, square]: [f64; 3], (place, mass): (f64, f64)| {
            [total + mass, mean + mass * place, square + mass * place * place]
        };
        let [total, mean, square] = self.fold([0.0; 3], add);
        let mean = mean / total;
        ((square / total - mean * mean) * self.step * self.step).max(0.0)
    }

    pub(super) fn as_losses(&self, count: f64) -> Losses<'_, 'a> {
        Losses(vec![(self, count)])
    }

    /// Where a composition must be accurate.
    pub(super) fn target(&self, compositions: f64, given: Given, error: f64) -> Target {
        self.as_losses(compositions).target(given, error)
    }

    /// The smallest θ for which the errors of a transform are small compared with δ.
    pub(super) fn tilt(&self, target: Target, ln_error: impl Fn(f64) -> f64) -> Aim {
        self.as_losses(target.compositions).tilt(target, ln_error)
    }

    /// The variance of the tilted distribution.
    fn curvature(&self, tilt: f64) -> f64 {
        if !(tilt > 0.0) {
            return self.variance();
        }
        let change = 0.1 * tilt;
        let sides = self.ln_moment(tilt + change) + self.ln_moment(tilt - change);
        (sides - 2.0 * self.ln_moment(tilt)) / (change * change)
    }

    /// An upper value of ε or δ of the n-fold composition of a pessimistic distribution: Chernoff's
    /// bound.
    ///
    /// δ(ε) ≤ n·m_∞ + e^{nK(θ) − θε}·max_s e^{−θs}(1 − e^{−s}), for every θ
    pub(super) fn upper_of_many(&self, compositions: u64, given: Given, infinite_mass: f64) -> f64 {
        let count = compositions as f64;
        let spread = (count * self.variance()).sqrt().max(self.step);
        let (tilt, ..) = chernoff(|tilt| count * self.ln_moment(tilt), spread, given);
        let ln_moment = count * self.ln_moment(tilt) + ln_profile(tilt);
        let ln_moment = ln_moment + 1e-9 * (1.0 + ln_moment.abs());
        let infinite = count * infinite_mass * (1.0 + 1e-12);
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
}

/// Independent losses on one grid: distributions, and how many losses of each.
pub(super) struct Losses<'m, 'a>(pub(super) Vec<(&'m Moments<'a>, f64)>);

impl<'a> Losses<'_, 'a> {
    /// Σ over all losses.
    fn sum(&self, of: impl Fn(&Moments<'a>) -> f64) -> f64 {
        self.0.iter().map(|(moments, count)| count * of(moments)).sum()
    }

    /// ln of the exponential moment of all losses together, ln E e^{θΣL}
    pub(super) fn ln_moment(&self, tilt: f64) -> f64 {
        self.sum(|moments| moments.ln_moment(tilt))
    }

    /// The lowest and the highest sum.
    pub(super) fn range(&self) -> (f64, f64) {
        (self.sum(|moments| moments.range.0), self.sum(|moments| moments.range.1))
    }

    fn step(&self) -> f64 {
        self.0.first().map_or(1.0, |(moments, _)| moments.step)
    }

    /// Where their sum must be accurate.
    pub(super) fn target(&self, given: Given, error: f64) -> Target {
        let spread = self.sum(Moments::variance).sqrt().max(self.step());
        let (steepest, epsilon, ln_delta) = chernoff(|tilt| self.ln_moment(tilt), spread, given);
        // a change of ε by e is one of ln δ by about θe
        let negligible = (0.02 * error * steepest).clamp(1e-10, 1e-4);
        let compositions = self.sum(|_| 1.0);
        Target { compositions, spread, steepest, epsilon, ln_delta, negligible }
    }

    /// The tilt for a target, if all frequencies are transformed.
    pub(super) fn aim(&self, target: Target) -> Aim {
        let Target { compositions, spread, steepest, .. } = target;
        // errors per nat, of a spectrum that decays, or that an atom below the end prevents from
        // decaying
        let mut density = 1.0 / spread;
        if steepest * self.step() < 0.3 {
            let ln_collision = self.sum(|moments| math::ln(moments.collision()));
            let kept = math::exp(0.5 * (1.0 - 1.0 / compositions) * ln_collision);
            density = density.max(8.0 * kept / self.step());
        }
        let ln_error = |tilt: f64| ln_sum(tilt) + math::ln(2e-14 * compositions * density);
        let aim = self.tilt(target, ln_error);
        Aim { ln_masses: (ln_sum(aim.tilt) - math::ln(self.step())).max(0.0), ..aim }
    }

    /// The smallest θ for which the errors of a transform are small compared with δ.
    ///
    /// A larger θ has heavier tails of the tilted distribution, and a wider window.
    fn tilt(&self, target: Target, ln_error: impl Fn(f64) -> f64) -> Aim {
        let Target { steepest, epsilon, ln_delta, negligible, .. } = target;
        let ln_peak = |tilt: f64| self.ln_moment(tilt) - tilt * epsilon;
        let ln_least = ln_delta + math::ln(negligible);
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
        Aim { tilt, ln_lost: ln_least - ln_peak(tilt), ln_masses: 0.0 }
    }

    /// An interval of sums with all but e^{ln_outside} per side of the tilted distribution.
    ///
    /// P̃(ΣL > u) ≤ e^{Σ(K(θ + t) − K(θ)) − tu} for each t > 0, and alike below.
    pub(super) fn window(&self, tilt: f64, ln_outside: f64) -> (f64, f64) {
        let here: Vec<f64> = self.0.iter().map(|(moments, _)| moments.ln_moment(tilt)).collect();
        let growth = |to: f64| {
            let all = self.0.iter().zip(&here);
            all.map(|((moments, count), here)| count * (moments.ln_moment(to) - here)).sum::<f64>()
        };
        let (mut low, mut high) = self.range();
        let spread = self.sum(|moments| moments.curvature(tilt).max(0.0)).sqrt().max(self.step());
        let usual = (-2.0 * ln_outside).sqrt() / spread;
        // both bounds fall and rise again as the power falls
        let mut last = (f64::INFINITY, f64::INFINITY);
        for power in (-40..=4).rev() {
            let change = usual * math::exp2(0.5 * f64::from(power));
            let above = growth(tilt + change) - ln_outside;
            let below = growth(tilt - change) - ln_outside;
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
    if tilt == 0.0 {
        return 0.0;
    }
    tilt * math::ln(tilt / (1.0 + tilt)) - math::ln_1p(tilt)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::Rounding;

    /// Wide cells and steep tilts: powers of a block span many orders of magnitude.
    #[test]
    fn moments_of_runs_are_plain_sums() {
        let fine = (0..50).map(|index| (index, math::exp(-0.1 * index as f64)));
        let wide = (1..80).map(|run| (49 + 512 * run, 1e-3 * math::exp(-0.5 * run as f64)));
        let points: Vec<(i64, f64)> = fine.chain([(50, 0.0)]).chain(wide).collect();
        let (step, rounding) = (1e-3, Rounding::Pessimistic);
        let atoms = Atoms { step, offset: -0.02, points, infinite_mass: 0.0, rounding };
        let moments = Moments::of(&atoms);
        for tilt in [-3000.0, -40.0, -1.0, 0.0, 0.3, 5.0, 30.0, 100.0, 1000.0] {
            let exponents = atoms
                .points
                .iter()
                .filter(|point| point.1 > 0.0)
                .map(|(index, mass)| tilt * atoms.loss_at(*index) + math::ln(*mass));
            let exponents: Vec<f64> = exponents.collect();
            let highest = exponents.iter().fold(f64::NEG_INFINITY, |high, next| high.max(*next));
            let sum: f64 = exponents.iter().map(|exponent| math::exp(exponent - highest)).sum();
            let (exact, seen) = (highest + math::ln(sum), moments.ln_moment(tilt));
            assert!((seen - exact).abs() < 1e-12 * (1.0 + exact.abs()), "{tilt}: {seen} {exact}");
        }
    }
}
