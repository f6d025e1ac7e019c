//! δ of many steps, from the characteristic function along a vertical line.

use super::decay::Decay;
use super::quadrature::{OneStep, TiltedDistribution, ln_moment_about};
use crate::accounting::Given;
use crate::accounting::bracket::Bracket;
use crate::accounting::fft::Complex;
use crate::accounting::pld::{chernoff, ln_profile, power};
use crate::accounting::spectrum::{Spectrum, power_series, real_power};
use crate::math;

const UNIT: f64 = 0.5 * f64::EPSILON;

/// Most terms; about 0.1 s.
const MOST_TERMS: f64 = 262_144.0;

/// Number of terms below which smoothing does not pay off.
const FEW_TERMS: f64 = 500.0;

/// Losses of `steps` steps: ln dP/dQ under P, or with `is_add` ln dQ/dP under Q.
#[derive(Debug, Clone, Copy)]
pub(super) struct Losses {
    pub(super) step: OneStep,
    pub(super) steps: u64,
    pub(super) is_add: bool,
}

/// δ(ε) = (Δ/π) Re Σ′_k A_k e^{−z_k ε}, A_k = e^{nK(z_k)}/(z_k(z_k + 1)), z_k = θ + ikΔ.
///
/// The first term counts half. The excess of the sum is the sum of the aliases e^{2πmθ/Δ} δ(ε +
/// 2πm/Δ), m ≠ 0, none of them negative.
///
/// If the terms decay slowly, one step of the Gaussian mechanism with μ = h is added, which
/// multiplies them by e^{h²z(z + 1)/2}. Its δ_h is not below δ. It is above by E κ(L − ε) with
/// e^{a/2}κ(a) = ∫_0^h φ(a/s) e^{−s²/8} ds ≤ h φ(a/h), so that δ ≥ δ_h − E e^{−(L − ε)/2} h φ((L −
/// ε)/h): the same sum, with a factor 1 − h²e^{h²/8} z(z + 1).
#[derive(Debug)]
struct Line {
    /// Tilt θ, the real part of the line.
    tilt: f64,
    /// Spacing Δ of the points of the line.
    spacing: f64,
    /// h², the variance of the loss of the added Gaussian step.
    variance: f64,
    /// Terms of δ_h, A_k e^{−nK(θ)}
    terms: Vec<Complex>,
    /// Terms of the lower value; empty where h = 0.
    lower_terms: Vec<Complex>,
    /// ln of the exponential moment of all steps, n K(θ)
    ln_moment: f64,
    /// Bound of the relative error of e^{nK(θ)}.
    relative: f64,
    /// Bound of the error of either sum, and of what grows with ε.
    error: f64,
    error_by_epsilon: f64,
    /// A tilt t > θ, and ln of a bound of sup over w of e^{tw} δ(w).
    steeper: (f64, f64),
}

/// Lower and upper value, at about the required distance; none if this method is too slow.
pub(super) fn bracket(losses: Losses, given: Given, error: f64) -> Option<Bracket> {
    let (mut steepest, mut epsilon, mut ln_delta) = losses.steepest(given);
    let mut best: Option<Bracket> = None;
    if let Given::Delta(_) = given {
        // Chernoff's ε lies above
        epsilon = (epsilon - 8.0 / steepest).max(0.0);
    }
    // the share of the error for smoothing
    let mut share = 0.8;
    // a first answer locates the root
    for _ in 0..4 {
        // ln δ changes with ε by θ or so
        let relative = match given {
            Given::Delta(_) => steepest * error,
            Given::Epsilon(_) => error,
        };
        let ln_required = ln_delta + math::ln((0.05 * relative).clamp(1e-12, 1e-4));
        // δ_h/δ is about 1 + h²θ(θ + 1)/2
        let variance = (share * relative / (steepest * (steepest + 1.0))).min(1.0);
        // beyond the steepest the moments may overflow
        let Some(line) = Line::new(losses, 0.9 * steepest, epsilon, ln_required, variance) else {
            break;
        };
        let found = match given {
            Given::Epsilon(epsilon) => line.deltas(epsilon),
            Given::Delta(delta) => line.root(delta, 1e-4 * error).and_then(|root| {
                epsilon = root.0;
                line.epsilons(delta, root, error)
            }),
        };
        if let Some(found) = found {
            best = Some(best.map_or(found, |best| best.tighter(found)));
            if found.is_near(given, error) {
                break;
            }
            if line.variance > 0.0 {
                share *= (0.8 / found.excess(given, error)).clamp(0.02, 0.8);
            }
            if let Given::Epsilon(_) = given {
                ln_delta = math::ln(found.upper.max(f64::MIN_POSITIVE));
            }
        }
        (steepest, _, _) = losses.steepest(Given::Epsilon(epsilon));
    }
    best
}

impl Losses {
    /// Whether a Chernoff bound proves that ε, or δ, is at most `most`.
    pub(super) fn is_at_most(&self, given: Given, most: f64) -> bool {
        let start = 6.0 / self.spread();
        let tilts = [0.0, 0.7, -0.7, 1.4, -1.4, 2.1, -2.1].map(|change| start * math::exp(change));
        let is_shown = |tilt: f64, ln_moment: f64, slack: f64| {
            let ln_bound = ln_moment + ln_profile(tilt) + slack;
            match given {
                Given::Delta(delta) => (ln_bound - math::ln(delta)) / tilt <= most * (1.0 - 1e-12),
                Given::Epsilon(epsilon) => {
                    math::exp(ln_bound - tilt * epsilon * (1.0 - 1e-12)) <= most
                }
            }
        };
        tilts.into_iter().any(|tilt| {
            is_shown(tilt, self.ln_moment_about(tilt), 0.0) && {
                let ln_moment = self.ln_moment(tilt);
                is_shown(tilt, ln_moment, 1e-12 * (1.0 + ln_moment.abs()))
            }
        })
    }

    /// The tilt of the least Chernoff bound, with about the ε and ln δ there.
    pub(super) fn steepest(&self, given: Given) -> (f64, f64, f64) {
        chernoff(|tilt| self.ln_moment_about(tilt), self.spread(), given)
    }

    /// About the standard deviation, without rare large losses.
    fn spread(&self) -> f64 {
        let width = self.step.sampling_rate / self.step.noise_multiplier;
        (width * (self.steps as f64).sqrt()).max(1e-6)
    }

    /// E e^{zL} is the moment M(p) of dP/dQ under Q at this power.
    fn power(&self, tilt: f64) -> f64 {
        if self.is_add { -tilt } else { 1.0 + tilt }
    }

    /// About n K(t).
    fn ln_moment_about(&self, tilt: f64) -> f64 {
        let count = self.steps as f64;
        count * ln_moment_about(self.step, self.power(tilt), -10.0 - math::ln(count))
    }

    /// n K(t), rounded up; infinite if it cannot be computed.
    pub(super) fn ln_moment(&self, tilt: f64) -> f64 {
        let distribution = TiltedDistribution::new(self.step, self.power(tilt), 0.0);
        distribution.map_or(f64::INFINITY, |distribution| {
            self.steps as f64 * (distribution.ln_moment + 1.1 * distribution.error)
        })
    }
}

impl Line {
    /// A sum whose errors near ε are at most e^{`ln_required`}, smoothed if necessary.
    fn new(
        losses: Losses,
        tilt: f64,
        epsilon: f64,
        ln_required: f64,
        variance: f64,
    ) -> Option<Self> {
        let count = losses.steps as f64;
        let (period, steeper) = period(&losses, tilt, epsilon, ln_required);
        let spacing = 2.0 * std::f64::consts::PI / period;
        let fine = TiltedDistribution::fine(losses.step, losses.power(tilt))?;
        let ln_required = ln_required + tilt * epsilon - count * fine.ln_moment;
        let decay = Decay::new(fine.layers(), count);
        let (highest, variance) = end(&decay, spacing, ln_required, variance)?;
        let mut line = Line {
            tilt,
            spacing,
            variance,
            terms: Vec::new(),
            lower_terms: Vec::new(),
            ln_moment: 0.0,
            relative: 0.0,
            error: 0.0,
            error_by_epsilon: 0.0,
            steeper,
        };
        line.sum_up(losses, &decay, highest)?;
        (line.relative < 0.1).then_some(line)
    }

    /// Terms up to the last, and their errors.
    ///
    /// |y^n − x^n| ≤ n|y − x|(|x| + |y − x|)^{n − 1}; a power has the relative error 5 n u.
    fn sum_up(&mut self, losses: Losses, decay: &Decay, highest: f64) -> Option<()> {
        let count = losses.steps as f64;
        let last = (highest / self.spacing).ceil();
        let highest = last * self.spacing;
        let distribution = TiltedDistribution::new(losses.step, losses.power(self.tilt), highest)?;
        self.ln_moment = count * distribution.ln_moment;
        self.relative = 1.1 * count * distribution.error;
        let raised = 0.5 * self.variance * self.tilt * (self.tilt + 1.0);
        let beyond = math::exp(decay.ln_beyond(highest, self.variance) + raised);
        self.error = 1.001 * beyond / std::f64::consts::PI;
        let points = distribution.points.iter().map(|point| (point.loss, point.mass));
        let points: Vec<(f64, f64)> = points.collect();
        let spectrum = Spectrum::new(&points, self.spacing, last as usize);
        let front = self.spacing / std::f64::consts::PI;
        let lowering = self.variance * math::exp(0.125 * self.variance);
        for (place, mut value) in spectrum.values.into_iter().enumerate() {
            let frequency = self.spacing * place as f64;
            if losses.is_add {
                value.im = -value.im; // the loss is −ln r
            }
            let error =
                distribution.error + 2.1 * frequency * distribution.loss_error + spectrum.error;
            let length = value.squared_length().sqrt();
            let near = real_power(length + error, losses.steps - 1);
            let z = Complex { re: self.tilt, im: frequency };
            let below = z.times(Complex { re: self.tilt + 1.0, im: frequency });
            let square = below.squared_length();
            let half = if place == 0 { 0.5 * front } else { front };
            let mut size = half * near / square.sqrt();
            let mut lost = count * (error + 5.0 * UNIT) + UNIT * (16.0 * place as f64 + 32.0);
            let inverse = Complex { re: half * below.re / square, im: -half * below.im / square };
            let mut term = power(value, losses.steps).times(inverse);
            if self.variance > 0.0 {
                let (factor, of_factor) = smoothing(self.variance, below);
                term = term.times(factor);
                let lower = Complex { re: 1.0 - lowering * below.re, im: -lowering * below.im };
                self.lower_terms.push(term.times(lower));
                size *= factor.squared_length().sqrt() * (1.0 + lowering * square.sqrt());
                lost += of_factor;
            }
            self.terms.push(term);
            self.error += size * lost;
            self.error_by_epsilon += size * 4.0 * UNIT * frequency;
        }
        Some(())
    }

    /// Lower and upper value of δ(ε).
    fn deltas(&self, epsilon: f64) -> Option<Bracket> {
        let ln_front = self.ln_moment - self.tilt * epsilon;
        let front = math::exp(ln_front);
        let error = self.error + self.error_by_epsilon * epsilon;
        let relative = self.relative
            + 8.0 * UNIT * (self.ln_moment.abs() + self.tilt * epsilon + ln_front.abs() + 8.0);
        let sum = self.sum(&self.terms, epsilon);
        if !(sum > -error && relative < 0.1 && front < 1e300) {
            return None;
        }
        let is_smooth = !self.lower_terms.is_empty();
        let lower_sum = if is_smooth { self.sum(&self.lower_terms, epsilon) } else { sum };
        let upper = front * (sum + error) * (1.0 + 1.1 * relative);
        let lower = front * (lower_sum - error) * (1.0 - 1.1 * relative) - self.aliases(epsilon);
        Some(Bracket { lower: lower.max(0.0), upper: upper.clamp(f64::MIN_POSITIVE, 1.0) })
    }

    /// Re Σ A_k e^{−ikΔε}.
    fn sum(&self, terms: &[Complex], epsilon: f64) -> f64 {
        let (sine, cosine) = math::sin_cos(self.spacing * epsilon);
        let turn = Complex { re: cosine, im: -sine };
        power_series(terms, turn).re
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

    /// The ε with δ(ε) ≈ δ by safeguarded secants of ln δ, and the slope there; 0 if δ(0) is less.
    fn root(&self, delta: f64, tolerance: f64) -> Option<(f64, f64)> {
        if self.deltas(0.0).is_some_and(|found| found.upper <= delta) {
            return Some((0.0, -self.tilt));
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
                return Some((next, slope));
            }
            epsilon = next;
        }
        None
    }

    /// Widens a root outward until the bounds are valid, starting at the expected margin.
    fn epsilons(&self, delta: f64, root: (f64, f64), error: f64) -> Option<Bracket> {
        let (root, slope) = root;
        let here = self.deltas(root)?;
        if root == 0.0 && here.upper <= delta {
            return Some(Bracket { lower: 0.0, upper: 0.0 });
        }
        let outward = |side: f64, value: f64| {
            let least = (1.02 * math::ln(value / delta) / slope * -side).max(0.0);
            let margins = (0..10).map(|power| least + 2e-3 * error * math::powi(3.0, power));
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
        Some(Bracket { lower: outward(-1.0, here.lower)?, upper: outward(1.0, here.upper)? })
    }

    /// Chernoff's ε at this tilt.
    fn start(&self, delta: f64) -> f64 {
        ((self.ln_moment + ln_profile(self.tilt) - math::ln(delta)) / self.tilt).max(0.0)
    }
}

/// A period 2π/Δ with aliases near ε of at most e^{`ln_required`}, and the tilt that proves it.
fn period(losses: &Losses, tilt: f64, epsilon: f64, ln_required: f64) -> (f64, (f64, f64)) {
    let needed = |steeper: f64, ln_moment: f64| {
        (ln_moment + ln_profile(steeper) - steeper * epsilon - ln_required) / (steeper - tilt)
    };
    let tilts = [1.01, 1.03, 1.06, 1.0 / 0.9, 1.2, 1.4, 1.8, 2.6].map(|factor| factor * tilt);
    let about = tilts.map(|steeper| (needed(steeper, losses.ln_moment_about(steeper)), steeper));
    let (_, steeper) = about
        .into_iter()
        .fold((f64::INFINITY, tilts[7]), |best, next| if next.0 < best.0 { next } else { best });
    let ln_moment = losses.ln_moment(steeper);
    let above = needed(steeper, ln_moment);
    (above.max(-ln_required / tilt) + 1.0 / tilt, (steeper, ln_moment + ln_profile(steeper)))
}

/// The last frequency of the sum and its h²: 0 if the terms decay without smoothing.
fn end(decay: &Decay, spacing: f64, ln_required: f64, variance: f64) -> Option<(f64, f64)> {
    let most = MOST_TERMS * spacing;
    let smooth = decay.frequency(most, variance, ln_required);
    let enough = smooth.map_or(most, |smooth| (1.2 * smooth).max(FEW_TERMS * spacing));
    let plain = decay.frequency(enough.min(most), 0.0, ln_required);
    plain.map(|plain| (plain, 0.0)).or(smooth.map(|smooth| (smooth, variance)))
}

/// e^{h²z(z + 1)/2} from z(z + 1), and a bound of its relative error and the lower factor's.
fn smoothing(variance: f64, below: Complex) -> (Complex, f64) {
    let (exponent, turn) = (0.5 * variance * below.re, 0.5 * variance * below.im);
    let (sine, cosine) = math::sin_cos(turn);
    let height = math::exp(exponent);
    // the real part of z(z + 1) is a difference
    let parts = 0.5 * variance * below.squared_length().sqrt();
    let error = UNIT * (8.0 * (exponent.abs() + turn.abs() + parts) + 32.0);
    (Complex { re: height * cosine, im: height * sine }, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of these losses without smoothing, and with this h².
    fn lines(losses: Losses, epsilon: f64, variance: f64) -> (Line, Line) {
        let (steepest, _, ln_delta) = losses.steepest(Given::Epsilon(epsilon));
        let tilt = 0.9 * steepest;
        let ln_required = ln_delta + math::ln(1e-9);
        let fine = TiltedDistribution::fine(losses.step, losses.power(tilt)).unwrap();
        let decay = Decay::new(fine.layers(), losses.steps as f64);
        let plain = Line::new(losses, tilt, epsilon, ln_required, 0.0).unwrap();
        let mut smooth = Line { variance, terms: Vec::new(), ..plain };
        let highest = plain.spacing * plain.terms.len() as f64;
        smooth.sum_up(losses, &decay, highest).unwrap();
        (Line { terms: plain.terms, lower_terms: Vec::new(), ..plain }, smooth)
    }

    const LOSSES: [(f64, f64, u64, f64); 4] = [
        (1.0, 0.01, 100, 0.7),
        (0.4, 0.1, 10, 12.0),
        (2.0, 0.3, 50, 2.0),
        (0.3, 0.001, 1000, 18.0),
    ];

    #[test]
    fn smooth_values_lie_around_the_others() {
        for (noise_multiplier, sampling_rate, steps, epsilon) in LOSSES {
            for is_add in [false, true] {
                let step = OneStep { noise_multiplier, sampling_rate };
                let losses = Losses { step, steps, is_add };
                // the other direction has no such losses
                let epsilon = if is_add && noise_multiplier < 0.5 { 0.1 } else { epsilon };
                let tilt = losses.steepest(Given::Epsilon(epsilon)).0;
                let relative = 1e-3;
                let (plain, mut smooth) = lines(losses, epsilon, relative / (tilt * (tilt + 1.0)));
                let (exact, seen) =
                    (plain.deltas(epsilon).unwrap(), smooth.deltas(epsilon).unwrap());
                assert!(exact.gap() < 1e-6 * exact.upper, "{losses:?}: {exact:?}");
                assert!(
                    seen.lower < exact.lower && exact.upper < seen.upper,
                    "{losses:?} {seen:?}"
                );
                assert!(
                    seen.gap() < 3.0 * relative * exact.upper,
                    "{losses:?}: {exact:?} {seen:?}"
                );
                std::mem::swap(&mut smooth.terms, &mut smooth.lower_terms);
                let turned = smooth.deltas(epsilon).unwrap();
                assert!(turned.upper < exact.lower && exact.upper < turned.lower, "{turned:?}");
            }
        }
    }
}
