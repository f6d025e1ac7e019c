//! δ of many steps, from the characteristic function along a vertical line.

use super::decay::Decay;
use super::quadrature::{OneStep, Point, TiltedLaw};
use crate::accounting::bracket::Bracket;
use crate::accounting::fft::Complex;
use crate::accounting::pld::{Target, chernoff, ln_profile, power};
use crate::math;

const UNIT: f64 = 0.5 * f64::EPSILON;

/// Most terms times outputs; about 30 ms.
const MOST_WORK: f64 = 3e7;

/// Losses of `steps` steps: ln dP/dQ under P, or with `is_add` ln dQ/dP under Q.
#[derive(Debug, Clone, Copy)]
pub(super) struct Losses {
    pub(super) step: OneStep,
    pub(super) steps: u64,
    pub(super) is_add: bool,
}

/// δ(ε) = (Δ/π) Re Σ′_k A_k e^{−z_k ε}, A_k = e^{nK(z_k)}/(z_k(z_k + 1)), z_k = θ + ikΔ.
///
/// The first term counts half. What the sum is too large by is that of the aliases
/// e^{2πmθ/Δ} δ(ε + 2πm/Δ), m ≠ 0, none of them negative.
#[derive(Debug)]
struct Line {
    /// θ
    tilt: f64,
    /// Δ
    spacing: f64,
    /// A_k e^{−nK(θ)}
    terms: Vec<Complex>,
    /// n K(θ)
    ln_moment: f64,
    /// Bound of the relative error of e^{nK(θ)}.
    relative: f64,
    /// Bound of the error of the sum, and of what grows with ε.
    error: f64,
    error_by_epsilon: f64,
    /// A tilt t > θ, and ln of a bound of sup over w of e^{tw} δ(w).
    steeper: (f64, f64),
}

/// Lower and upper value, as near as is wanted or nearly so; none where this method is too slow.
pub(super) fn bracket(losses: Losses, target: Target, error: f64) -> Option<Bracket> {
    let (mut steepest, mut epsilon, mut ln_delta) = losses.steepest(target);
    let mut best: Option<Bracket> = None;
    if let Target::Delta(_) = target {
        // Chernoff's ε lies above
        epsilon = (epsilon - 8.0 / steepest).max(0.0);
    }
    // a first answer tells where to be exact
    for _ in 0..2 {
        // beyond the steepest the moments may explode
        let tilt = 0.9 * steepest;
        // ln δ changes with ε by θ or so
        let relative = match target {
            Target::Delta(_) => 0.05 * tilt * error,
            Target::Epsilon(_) => 0.05 * error,
        };
        let ln_wanted = ln_delta + math::ln(relative.clamp(1e-12, 1e-4));
        let Some(line) = Line::new(losses, tilt, epsilon, ln_wanted) else {
            break;
        };
        let found = match target {
            Target::Epsilon(epsilon) => line.deltas(epsilon),
            Target::Delta(delta) => line.root(delta, 1e-4 * error).and_then(|root| {
                epsilon = root;
                line.epsilons(delta, root, error)
            }),
        };
        if let Some(found) = found {
            best = Some(best.map_or(found, |best| best.tighter(found)));
            if found.is_near(target, error) {
                break;
            }
            if let Target::Epsilon(_) = target {
                ln_delta = math::ln(found.upper.max(f64::MIN_POSITIVE));
            }
        }
        (steepest, _, _) = losses.steepest(Target::Epsilon(epsilon));
    }
    best
}

impl Losses {
    /// Chernoff's bound of ε, or of δ.
    pub(super) fn chernoff(&self, target: Target) -> f64 {
        let (tilt, ..) = self.steepest(target);
        let Some(law) = TiltedLaw::new(self.step, self.power(tilt), 0.0) else {
            return f64::INFINITY;
        };
        let count = self.steps as f64;
        let slack = 1e-12 * (1.0 + (count * law.ln_moment).abs()) + 1.1 * count * law.error;
        let ln_bound = count * law.ln_moment + ln_profile(tilt) + slack;
        match target {
            Target::Delta(delta) => ((ln_bound - math::ln(delta)) / tilt).max(0.0) * (1.0 + 1e-12),
            Target::Epsilon(epsilon) => math::exp(ln_bound - tilt * epsilon * (1.0 - 1e-12)),
        }
    }

    /// The tilt of the least Chernoff bound, with about the ε and ln δ there.
    fn steepest(&self, target: Target) -> (f64, f64, f64) {
        let width = self.step.sampling_rate / self.step.noise_multiplier;
        let spread = (width * (self.steps as f64).sqrt()).max(1e-6);
        chernoff(|tilt| self.ln_moment(tilt), spread, target)
    }

    /// E e^{zL} is the moment M(p) of dP/dQ under Q at this power.
    fn power(&self, tilt: f64) -> f64 {
        if self.is_add { -tilt } else { 1.0 + tilt }
    }

    /// n K(t), rounded up; infinite where it is not to be had.
    fn ln_moment(&self, tilt: f64) -> f64 {
        let law = TiltedLaw::new(self.step, self.power(tilt), 0.0);
        law.map_or(f64::INFINITY, |law| self.steps as f64 * (law.ln_moment + 1.1 * law.error))
    }
}

impl Line {
    /// A sum whose errors near ε are at most e^{`ln_wanted`}.
    fn new(losses: Losses, tilt: f64, epsilon: f64, ln_wanted: f64) -> Option<Self> {
        let count = losses.steps as f64;
        let (period, steeper) = period(&losses, tilt, epsilon, ln_wanted);
        let power = losses.power(tilt);
        let fine = TiltedLaw::fine(losses.step, power)?;
        let ln_front = count * fine.ln_moment - tilt * epsilon;
        let decay = Decay::new(fine.layers(), count);
        let highest = decay.frequency(8.0 / period, ln_wanted - ln_front)?;
        let spacing = 2.0 * std::f64::consts::PI / period;
        let last = (highest / spacing).ceil();
        let law = TiltedLaw::new(losses.step, power, last * spacing)?;
        if !(last * law.points.len() as f64 <= MOST_WORK) {
            return None;
        }
        let mut line = Line {
            tilt,
            spacing,
            terms: Vec::with_capacity(last as usize + 1),
            ln_moment: count * law.ln_moment,
            relative: 1.1 * count * law.error,
            error: math::exp(decay.ln_beyond(last * spacing)) / std::f64::consts::PI,
            error_by_epsilon: 0.0,
            steeper,
        };
        line.sum_up(&law, losses, last as usize);
        (line.relative < 0.1).then_some(line)
    }

    /// Terms up to the last, and their errors.
    ///
    /// |y^n − x^n| ≤ n|y − x|(|x| + |y − x|)^{n − 1}; a power has the relative error 5 n u.
    fn sum_up(&mut self, law: &TiltedLaw, losses: Losses, last: usize) {
        let count = losses.steps as f64;
        let mut phasors = Phasors::new(law, self.spacing);
        let front = self.spacing / std::f64::consts::PI;
        for place in 0..=last {
            let frequency = self.spacing * place as f64;
            if place % TURNS == 0 {
                phasors.put(place);
            }
            let mut value = phasors.sum_and_turn();
            if losses.is_add {
                value.im = -value.im; // the loss is −ln r
            }
            let error = law.error + 1.1 * frequency * law.loss_error + 6.0 * UNIT * TURNS as f64;
            let length = value.squared_length().sqrt();
            let near = math::exp((count - 1.0) * math::ln(length + error));
            let z = Complex { re: self.tilt, im: frequency };
            let below = z.times(Complex { re: self.tilt + 1.0, im: frequency });
            let square = below.squared_length();
            let inverse = Complex { re: below.re / square, im: -below.im / square };
            let half = if place == 0 { 0.5 * front } else { front };
            let term = power(value, losses.steps).times(inverse);
            self.terms.push(Complex { re: half * term.re, im: half * term.im });
            let size = half * near / square.sqrt();
            let lost = count * (error + 5.0 * UNIT) + UNIT * (16.0 * place as f64 + 32.0);
            self.error += size * lost;
            self.error_by_epsilon += size * 4.0 * UNIT * frequency;
        }
    }

    /// Lower and upper value of δ(ε).
    fn deltas(&self, epsilon: f64) -> Option<Bracket> {
        let ln_front = self.ln_moment - self.tilt * epsilon;
        let front = math::exp(ln_front);
        let error = self.error + self.error_by_epsilon * epsilon;
        let relative = self.relative
            + 8.0 * UNIT * (self.ln_moment.abs() + self.tilt * epsilon + ln_front.abs() + 8.0);
        let sum = self.sum(epsilon);
        if !(sum > -error && relative < 0.1 && front < 1e300) {
            return None;
        }
        let upper = front * (sum + error) * (1.0 + 1.1 * relative);
        let lower = front * (sum - error) * (1.0 - 1.1 * relative) - self.aliases(epsilon);
        Some(Bracket { lower: lower.max(0.0), upper: upper.clamp(f64::MIN_POSITIVE, 1.0) })
    }

    /// Re Σ A_k e^{−ikΔε}, by Horner's rule.
    fn sum(&self, epsilon: f64) -> f64 {
        let (sine, cosine) = math::sin_cos(self.spacing * epsilon);
        let turn = Complex { re: cosine, im: -sine };
        let zero = Complex { re: 0.0, im: 0.0 };
        self.terms.iter().rev().fold(zero, |sum, term| sum.times(turn).plus(*term)).re
    }

    /// At most: 1 for each δ below, e^{B − tw} for each δ(w) above.
    fn aliases(&self, epsilon: f64) -> f64 {
        let period = 2.0 * std::f64::consts::PI / self.spacing;
        let (steeper, ln_bound) = self.steeper;
        let series = |rate: f64| {
            let ratio = math::exp(-rate * period);
            ratio / (1.0 - ratio)
        };
        let above = math::exp(ln_bound - steeper * epsilon) * series(steeper - self.tilt);
        1.01 * (series(self.tilt) + above)
    }

    /// Where δ(ε) is about δ, by safeguarded secants of ln δ; 0 where δ(0) is less.
    fn root(&self, delta: f64, tolerance: f64) -> Option<f64> {
        if self.deltas(0.0).is_some_and(|found| found.upper <= delta) {
            return Some(0.0);
        }
        let (mut low, mut high) = (0.0, self.start(delta));
        let (mut epsilon, mut slope) = (high, -self.tilt);
        let mut last: Option<(f64, f64)> = None;
        for _ in 0..80 {
            let Bracket { lower, upper } = self.deltas(epsilon)?;
            let mut next = f64::NAN;
            if lower > 0.0 {
                let excess = math::ln(f64::midpoint(lower, upper) / delta);
                let rise = last.map(|(place, before)| (excess - before) / (epsilon - place));
                slope = rise.filter(|rise| *rise < 0.0).unwrap_or(slope);
                last = Some((epsilon, excess));
                (low, high) = if excess > 0.0 { (epsilon, high) } else { (low, epsilon) };
                next = epsilon - excess / slope;
            } else {
                high = epsilon;
            }
            if !(next >= low && next <= high) {
                next = f64::midpoint(low, high);
            }
            if (next - epsilon).abs() <= tolerance {
                return Some(next);
            }
            epsilon = next;
        }
        None
    }

    /// From a root outward until the bounds hold.
    fn epsilons(&self, delta: f64, root: f64, error: f64) -> Option<Bracket> {
        if self.deltas(0.0).is_some_and(|found| found.upper <= delta) {
            return Some(Bracket { lower: 0.0, upper: 0.0 });
        }
        let outward = |side: f64| {
            let margins = (0..10).map(|power| 1e-3 * error * math::powi(3.0, power));
            margins.map(|margin| (root + side * margin).max(0.0)).find(|&epsilon| {
                self.deltas(epsilon).is_some_and(|found| {
                    if side > 0.0 {
                        found.upper <= delta
                    } else {
                        found.lower >= delta || epsilon == 0.0
                    }
                })
            })
        };
        Some(Bracket { lower: outward(-1.0)?, upper: outward(1.0)? })
    }

    /// Chernoff's ε at this tilt.
    fn start(&self, delta: f64) -> f64 {
        ((self.ln_moment + ln_profile(self.tilt) - math::ln(delta)) / self.tilt).max(0.0)
    }
}

/// A period 2π/Δ with aliases near ε of at most e^{`ln_wanted`}, and the tilt that shows it.
fn period(losses: &Losses, tilt: f64, epsilon: f64, ln_wanted: f64) -> (f64, (f64, f64)) {
    let mut best = (f64::INFINITY, (2.0 * tilt, f64::INFINITY));
    for factor in [1.01, 1.03, 1.06, 1.0 / 0.9, 1.2, 1.4, 1.8, 2.6] {
        let steeper = factor * tilt;
        let ln_bound = losses.ln_moment(steeper) + ln_profile(steeper);
        let wanted = (ln_bound - steeper * epsilon - ln_wanted) / (steeper - tilt);
        if wanted < best.0 {
            best = (wanted, (steeper, ln_bound));
        }
    }
    ((best.0.max(-ln_wanted / tilt)) + 1.0 / tilt, best.1)
}

const LANES: usize = 4;

/// Rows of lanes that are added up at once.
const BLOCK: usize = 32;

/// Turns after which phasors are computed anew, so that their rounding does not add up.
const TURNS: usize = 64;

/// Masses times e^{iuL}, for u = 0, Δ, 2Δ, …
struct Phasors<'a> {
    law: &'a TiltedLaw,
    spacing: f64,
    values: Vec<[[f64; LANES]; 2]>,
    turns: Vec<[[f64; LANES]; 2]>,
}

impl<'a> Phasors<'a> {
    fn new(law: &'a TiltedLaw, spacing: f64) -> Self {
        let turn = |points: &[Point]| {
            let mut turn = [[0.0; LANES]; 2];
            for (lane, point) in points.iter().enumerate() {
                (turn[1][lane], turn[0][lane]) = math::sin_cos(spacing * point.loss);
            }
            turn
        };
        let turns: Vec<_> = law.points.chunks(LANES).map(turn).collect();
        Phasors { law, spacing, values: vec![[[0.0; LANES]; 2]; turns.len()], turns }
    }

    /// Computes all phasors of one place.
    fn put(&mut self, place: usize) {
        let frequency = self.spacing * place as f64;
        for (value, points) in self.values.iter_mut().zip(self.law.points.chunks(LANES)) {
            for (lane, point) in points.iter().enumerate() {
                let (sine, cosine) = math::sin_cos(frequency * point.loss);
                (value[0][lane], value[1][lane]) = (point.mass * cosine, point.mass * sine);
            }
        }
    }

    /// Adds them up, by blocks, and turns each on by Δ.
    fn sum_and_turn(&mut self) -> Complex {
        let mut total = [[0.0; LANES]; 2];
        for (values, turns) in self.values.chunks_mut(BLOCK).zip(self.turns.chunks(BLOCK)) {
            let mut sum = [[0.0; LANES]; 2];
            for (value, turn) in values.iter_mut().zip(turns) {
                for lane in 0..LANES {
                    let (re, im) = (value[0][lane], value[1][lane]);
                    sum[0][lane] += re;
                    sum[1][lane] += im;
                    value[0][lane] = re * turn[0][lane] - im * turn[1][lane];
                    value[1][lane] = re * turn[1][lane] + im * turn[0][lane];
                }
            }
            for lane in 0..LANES {
                total[0][lane] += sum[0][lane];
                total[1][lane] += sum[1][lane];
            }
        }
        Complex { re: total[0].iter().sum(), im: total[1].iter().sum() }
    }
}
