//! The Gaussian mechanism with Poisson sampled batches.

use super::bracket::{Bracket, Pair, Question, Resolution};
use super::error::argument;
use super::pld::{LossCell, LossCells, Masses, PrivacyLossDistribution, Rounding, Target};
use super::result::Account;
use super::{
    AccountingError, DeltaLowerBound, DeltaUpperBound, Directions, EpsilonLowerBound,
    EpsilonUpperBound, Method,
};
use crate::bound::Scope;
use crate::math;
use crate::special::normal;

/// Noisy sums of clipped gradients, each record in each batch with the same probability.
///
/// P = (1 − q) N(0, σ²) + q N(1, σ²), Q = N(0, σ²), composed over all steps. The pair dominates
/// every pair of neighbours that differ by one record, so that its values are the mechanism's.
///
/// # Reference
/// M. Abadi and others (2016); Y. Zhu, J. Dong and Y.-X. Wang (2022) for the dominating pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoissonSampling {
    /// σ, in [0.01, 1e4].
    pub noise_multiplier: f64,
    /// q, in (0, 1].
    pub sampling_rate: f64,
    /// Steps in all, 1 … 10⁹.
    pub steps: u64,
}

impl PoissonSampling {
    /// A value that ε does not exceed.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `delta` | δ | [1e-200, 1) |
    /// | `directions` | whose ε | – |
    /// | `error` | wanted distance of upper and lower value, nats | [1e-9, 1] |
    ///
    /// # Guarantee
    /// Not below ε (`tests/oracles/accounting.rs::poisson_brackets_hold_the_golden_intervals`).
    ///
    /// # Errors
    /// [`AccountingError`] outside the domain, and where the error needs too large a grid.
    ///
    /// # Numerics
    /// The grid is refined until the values rounded up and down are within `error`;
    /// `numeric_error` is their distance.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::accounting::{Directions, PoissonSampling};
    /// let training =
    ///     PoissonSampling { noise_multiplier: 1.0, sampling_rate: 0.01, steps: 100 };
    /// let bound = training.epsilon_upper(1e-5, Directions::Both, 1e-4)?;
    /// assert_eq!(format!("{:.3}", bound.value()), "0.718");
    /// # Ok::<(), dpscope_core::accounting::AccountingError>(())
    /// ```
    pub fn epsilon_upper(
        &self,
        delta: f64,
        directions: Directions,
        error: f64,
    ) -> Result<EpsilonUpperBound, AccountingError> {
        let bracket = self.bracket(Target::Delta(delta), directions, error)?;
        Ok(EpsilonUpperBound::new(bracket.upper, delta, account(directions, bracket)))
    }

    /// A value that ε exceeds; arguments as [`Self::epsilon_upper`].
    ///
    /// # Guarantee
    /// Not above ε (`tests/oracles/accounting.rs::poisson_brackets_hold_the_golden_intervals`).
    ///
    /// # Errors
    /// As [`Self::epsilon_upper`].
    pub fn epsilon_lower(
        &self,
        delta: f64,
        directions: Directions,
        error: f64,
    ) -> Result<EpsilonLowerBound, AccountingError> {
        let bracket = self.bracket(Target::Delta(delta), directions, error)?;
        Ok(EpsilonLowerBound::new(bracket.lower, 0.0, account(directions, bracket)))
    }

    /// A value that δ does not exceed.
    ///
    /// | argument | meaning | domain |
    /// |---|---|---|
    /// | `epsilon` | ε, nats | [0, ∞) |
    /// | `directions` | whose δ | – |
    /// | `error` | wanted relative distance of upper and lower value | [1e-9, 1] |
    ///
    /// # Guarantee
    /// Not below δ (`tests/oracles/accounting.rs::deltas_bracket_quadrature`).
    ///
    /// # Errors
    /// As [`Self::epsilon_upper`].
    pub fn delta_upper(
        &self,
        epsilon: f64,
        directions: Directions,
        error: f64,
    ) -> Result<DeltaUpperBound, AccountingError> {
        let bracket = self.bracket(Target::Epsilon(epsilon), directions, error)?;
        Ok(DeltaUpperBound::new(bracket.upper, epsilon, account(directions, bracket)))
    }

    /// A value that δ exceeds; arguments as [`Self::delta_upper`].
    ///
    /// # Guarantee
    /// Not above δ (`tests/oracles/accounting.rs::deltas_bracket_quadrature`).
    ///
    /// # Errors
    /// As [`Self::epsilon_upper`].
    pub fn delta_lower(
        &self,
        epsilon: f64,
        directions: Directions,
        error: f64,
    ) -> Result<DeltaLowerBound, AccountingError> {
        let bracket = self.bracket(Target::Epsilon(epsilon), directions, error)?;
        Ok(DeltaLowerBound::new(bracket.lower, 0.0, account(directions, bracket)))
    }

    fn check(&self) -> Result<(), AccountingError> {
        if !(0.01..=1e4).contains(&self.noise_multiplier) {
            return Err(argument("noise_multiplier", self.noise_multiplier, "in [0.01, 10000]"));
        }
        if !(1e-9..=1.0).contains(&self.sampling_rate) {
            return Err(argument("sampling_rate", self.sampling_rate, "in [1e-9, 1]"));
        }
        Ok(())
    }

    pub(super) fn bracket(
        &self,
        target: Target,
        directions: Directions,
        error: f64,
    ) -> Result<Bracket, AccountingError> {
        self.check()?;
        let question = Question { compositions: self.steps, target, directions, error };
        question.check()?;
        let delta = match target {
            Target::Delta(delta) => delta.max(1e-200),
            Target::Epsilon(_) => 1e-24,
        };
        let (pair, start) = self.one_step(delta, error);
        question.answer(&pair, start)
    }

    /// Laws of the loss of the whole run, directions remove and add, to about `error` nats down to
    /// `delta`.
    pub(crate) fn laws(
        &self,
        delta: f64,
        error: f64,
        rounding: Rounding,
    ) -> Result<[PrivacyLossDistribution; 2], AccountingError> {
        self.check()?;
        let target = Target::Delta(delta);
        Question { compositions: self.steps, target, directions: Directions::Both, error }
            .check()?;
        let (pair, start) = self.one_step(delta, error);
        let cells = pair.cells(start)?;
        let composed = |cells: &LossCells| cells.law(rounding)?.self_composed(self.steps);
        Ok([composed(&cells)?, composed(&cells.reversed())?])
    }

    /// One step, and a grid for an error of about that many nats of the composed law.
    fn one_step(&self, delta: f64, error: f64) -> (OneStep, Resolution) {
        let step_count = self.steps as f64;
        let pair = OneStep {
            noise_multiplier: self.noise_multiplier,
            sampling_rate: self.sampling_rate,
            cut: -normal::quantile(1e-7 * delta / step_count),
        };
        let width = self.sampling_rate / self.noise_multiplier;
        let spread = width * step_count.sqrt();
        let slope = -normal::quantile(delta.min(0.3)) / spread + 0.5;
        let step = (60.0 * error / (step_count * slope)).sqrt().min(0.5 * width);
        (pair, Resolution { step, widest: (2.0 * error.sqrt()).max(step) })
    }
}

fn account(directions: Directions, bracket: Bracket) -> Account {
    Account {
        scope: Scope::Mechanism,
        directions,
        method: Method::PrivacyLossDistribution,
        numeric_error: bracket.gap(),
    }
}

/// One step: L(x) = ln(1 − q + q e^{(2x − 1)/(2σ²)}), increasing in x.
struct OneStep {
    noise_multiplier: f64,
    sampling_rate: f64,
    /// Outputs beyond that many σ of either mean are cut off.
    cut: f64,
}

/// A point of the grid: the output x of its loss, with the normal tails of both means on the side
/// that is smaller.
#[derive(Clone, Copy)]
struct Edge {
    index: i64,
    x: f64,
    /// e^{(2x − 1)/(2σ²)} = (e^L − 1 + q)/q
    ratio: f64,
    /// |e^L − 1|
    change: f64,
    is_low: bool,
    without: f64,
    with: f64,
}

impl Pair for OneStep {
    fn cells(&self, resolution: Resolution) -> Result<LossCells, AccountingError> {
        let step = resolution.step;
        let sigma = self.noise_multiplier;
        let lowest = self.loss_at(-sigma * self.cut).max(math::ln_1p(-self.sampling_rate));
        let highest = self.loss_at(1.0 + sigma * self.cut);
        let points = (highest - lowest) / resolution.widest;
        let most = super::pld::MOST_POINTS;
        if !(points < most as f64 && highest / step < 1e15) {
            return Err(AccountingError::Grid { points, most });
        }
        let first = self.first_edge(lowest, step);
        let last = ((highest - first) / step).ceil() as i64;
        let widest = (resolution.widest / step).max(1.0);
        let mut cells = Vec::new();
        let mut edge = self.edge(0, first);
        let below = self.below(edge);
        let mut steps = 1_u32;
        while edge.index < last {
            let tail = if edge.is_low { 1.0 } else { self.mixed(edge.without, edge.with) };
            let wanted = math::powf(tail.max(1e-30), -0.3).min(widest).min(self.reach(edge) / step);
            if f64::from(2 * steps) <= wanted {
                steps *= 2;
            }
            let index = edge.index + i64::from(steps);
            let next = self.edge(index, first + index as f64 * step);
            cells.push(self.cell(edge, next, steps, step));
            if cells.len() > most {
                return Err(AccountingError::Grid { points: cells.len() as f64, most });
            }
            edge = next;
        }
        let above = Masses { mass: self.mixed(edge.without, edge.with), other_mass: edge.without };
        Ok(LossCells { step, lowest: first, cells, below, above })
    }
}

impl OneStep {
    fn mixed(&self, without: f64, with: f64) -> f64 {
        (1.0 - self.sampling_rate) * without + self.sampling_rate * with
    }

    fn loss_at(&self, x: f64) -> f64 {
        let exponent = (2.0 * x - 1.0) / (2.0 * self.noise_multiplier * self.noise_multiplier);
        if exponent > 700.0 {
            return math::ln(self.sampling_rate) + exponent;
        }
        math::ln_1p(self.sampling_rate * math::exp_m1(exponent))
    }

    /// Where the grid begins, at most a step below the lowest loss: the mass near it, which is
    /// large where σ is small, then rounds down at a cost of order h² rather than h.
    ///
    /// Of the first two cells: mass split to the lowest end ≈ largest gap of the second.
    fn first_edge(&self, lowest: f64, step: f64) -> f64 {
        let (mut low, mut high) = (lowest - step, lowest);
        for _ in 0..30 {
            let middle = 0.5 * (low + high);
            let edge = |index: i64| self.edge(index, middle + index as f64 * step);
            let (first, second) =
                (self.cell(edge(0), edge(1), 1, step), self.cell(edge(1), edge(2), 1, step));
            let lower = second.mass - second.upper;
            let gap = lower * second.upper / (lower + second.upper).max(f64::MIN_POSITIVE);
            if first.mass - first.upper > gap {
                high = middle;
            } else {
                low = middle;
            }
        }
        high
    }

    /// Part of the loss over which the density falls by a factor e.
    fn reach(&self, edge: Edge) -> f64 {
        let (q, sigma) = (self.sampling_rate, self.noise_multiplier);
        let slope = q * edge.ratio / (1.0 - q + q * edge.ratio) / (sigma * sigma);
        0.3 * slope * sigma / (edge.x.abs() / sigma).max(1.0)
    }

    fn edge(&self, index: i64, loss: f64) -> Edge {
        let (q, sigma) = (self.sampling_rate, self.noise_multiplier);
        let change = math::exp_m1(loss);
        let ratio = (change + q) / q;
        let x = if loss > 600.0 {
            sigma * sigma * (loss - math::ln(q)) + 0.5
        } else if ratio > 0.0 {
            sigma * sigma * math::ln(ratio) + 0.5
        } else {
            f64::NEG_INFINITY
        };
        let is_low = x < 0.5;
        let side = if is_low { 1.0 } else { -1.0 };
        let without = normal::normal_cdf(side * x / sigma);
        let with = normal::normal_cdf(side * (x - 1.0) / sigma);
        Edge { index, x, ratio, change: change.abs(), is_low, without, with }
    }

    fn below(&self, edge: Edge) -> Masses {
        let of = |tail: f64| if edge.is_low { tail } else { 1.0 - tail };
        let (without, with) = (of(edge.without), of(edge.with));
        Masses { mass: self.mixed(without, with), other_mass: without }
    }

    /// Split: with w the width, the upper mass is (p − e^{L}q₀)/(1 − e^{−w}), and
    /// p − e^{L}q₀ = q(n₁ − q₀·ratio), free of the bulk of p.
    fn cell(&self, low: Edge, high: Edge, steps: u32, step: f64) -> LossCell {
        const UNIT: f64 = 0.5 * f64::EPSILON;
        let between = |low_tail: f64, high_tail: f64| {
            let mass = match (low.is_low, high.is_low) {
                (true, true) => high_tail - low_tail,
                (true, false) => 1.0 - low_tail - high_tail,
                _ => low_tail - high_tail,
            };
            mass.max(0.0)
        };
        let q = self.sampling_rate;
        let without = between(low.without, high.without);
        let with = between(low.with, high.with);
        let mass = self.mixed(without, with);
        let share = -math::exp_m1(-f64::from(steps) * step);
        let tails = |low_tail: f64, high_tail: f64| low_tail.max(high_tail);
        let upper = if without == 0.0 { mass } else { q * (with - without * low.ratio) / share };
        let lost = q
            * (tails(low.with, high.with) + tails(low.without, high.without) * low.ratio.abs())
            + without * (low.change + q);
        LossCell {
            steps,
            mass,
            other_mass: without,
            upper: upper.clamp(0.0, mass),
            margin: 12.0 * UNIT * lost / share,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: [(f64, f64); 5] = [(1.0, 0.01), (0.5, 0.01), (0.4, 0.001), (2.0, 0.3), (0.8, 1.0)];

    fn one_step(noise_multiplier: f64, sampling_rate: f64) -> OneStep {
        OneStep { noise_multiplier, sampling_rate, cut: 8.5 }
    }

    /// δ of one step, from the output where the loss is ε.
    fn exact(pair: &OneStep, epsilon: f64, add: bool) -> f64 {
        let edge = pair.edge(0, if add { -epsilon } else { epsilon });
        let tail = |tail: f64| if edge.is_low == add { tail } else { 1.0 - tail };
        let (without, with) = (tail(edge.without), tail(edge.with));
        let mixed = pair.mixed(without, with);
        if add {
            without - math::exp(epsilon) * mixed
        } else {
            mixed - math::exp(epsilon) * without
        }
    }

    /// Worst distance to the wrong side, and largest distance at all.
    fn distances(pair: &OneStep, rounding: Rounding, marked: Rounding, add: bool) -> (f64, f64) {
        let width = pair.sampling_rate / pair.noise_multiplier;
        let step = 0.05 * width;
        let cells = pair.cells(Resolution { step, widest: 20.0 * step }).unwrap();
        let cells = if add { cells.reversed() } else { cells };
        let law = cells.law(rounding).unwrap();
        let (mut wrong, mut largest) = (0.0_f64, 0.0_f64);
        for place in -400..400 {
            let epsilon = 0.0137 * width * f64::from(place);
            let above = law.delta_at(epsilon).unwrap() - exact(pair, epsilon, add);
            let above = if marked == Rounding::Pessimistic { above } else { -above };
            wrong = wrong.max(-above);
            largest = largest.max(above.abs());
        }
        (wrong / width, largest / width)
    }

    #[test]
    fn laws_of_one_step_bracket_the_formula() {
        for (sigma, q) in PAIRS {
            let pair = one_step(sigma, q);
            for add in [false, true] {
                for rounding in [Rounding::Pessimistic, Rounding::Optimistic] {
                    let (wrong, largest) = distances(&pair, rounding, rounding, add);
                    assert!(wrong < 1e-13 / q, "{sigma} {q} {add} {rounding:?}: {wrong:e}");
                    assert!(largest < 0.02, "{sigma} {q} {add} {rounding:?}: {largest:e}");
                }
            }
        }
    }

    #[test]
    fn a_law_rounded_to_the_other_side_is_seen() {
        for (sigma, q) in PAIRS {
            let (down, up) = (Rounding::Optimistic, Rounding::Pessimistic);
            let (wrong, _) = distances(&one_step(sigma, q), up, down, false);
            assert!(wrong > 1e-5, "{sigma} {q}: {wrong:e}");
        }
    }

    #[test]
    fn error_falls_with_the_square_of_the_step() {
        let pair = one_step(1.0, 0.01);
        let gap = |step: f64| {
            let cells = pair.cells(Resolution { step, widest: 20.0 * step }).unwrap();
            let value = |rounding| {
                let law = cells.law(rounding).unwrap();
                law.self_composed_near(100, Target::Delta(1e-5)).unwrap().epsilon_at(1e-5).unwrap()
            };
            value(Rounding::Pessimistic) - value(Rounding::Optimistic)
        };
        let (coarse, fine) = (gap(4e-4), gap(1e-4));
        assert!(fine > 0.0 && coarse / fine > 12.0, "{coarse:e} {fine:e}");
    }

    #[test]
    fn refuses_bad_arguments() {
        let good = PoissonSampling { noise_multiplier: 1.0, sampling_rate: 0.1, steps: 10 };
        let value = |training: PoissonSampling, delta, error| {
            training.epsilon_upper(delta, Directions::Both, error)
        };
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(value(PoissonSampling { noise_multiplier: bad, ..good }, 1e-5, 1e-3).is_err());
            assert!(value(PoissonSampling { sampling_rate: bad, ..good }, 1e-5, 1e-3).is_err());
            assert!(value(good, bad, 1e-3).is_err() && value(good, 1e-5, bad).is_err());
        }
        assert!(value(PoissonSampling { steps: 0, ..good }, 1e-5, 1e-3).is_err());
        assert!(value(PoissonSampling { sampling_rate: 1.1, ..good }, 1e-5, 1e-3).is_err());
        let huge = PoissonSampling { noise_multiplier: 0.05, sampling_rate: 1e-6, steps: 1 << 20 };
        let error = value(huge, 1e-5, 1e-9).unwrap_err();
        assert!(error.to_string().contains("ask for a larger error"), "{error}");
    }
}
