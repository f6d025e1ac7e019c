//! The losses of one step, in cells.

use super::quadrature::OneStep;
use crate::accounting::AccountingError;
use crate::accounting::bracket::{Pair, Resolution};
use crate::accounting::error::argument;
use crate::accounting::pld::{LossCell, LossCells, Masses};
use crate::math;
use crate::special::normal;

/// Maximum number of cells; about 1 s.
const MOST_CELLS: usize = 1 << 21;

/// The losses of one step without the far tails.
pub(super) struct CutStep {
    pub(super) step: OneStep,
    /// Outputs farther than this many σ from both means are truncated.
    pub(super) cut: f64,
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

impl Pair for CutStep {
    fn cells(&self, resolution: Resolution) -> Result<LossCells, AccountingError> {
        let step = resolution.step;
        let sigma = self.step.noise_multiplier;
        let lowest =
            self.step.loss_at(-sigma * self.cut).max(math::ln_1p(-self.step.sampling_rate));
        let highest = self.step.loss_at(1.0 + sigma * self.cut);
        let points = (highest - lowest) / resolution.widest;
        let most = MOST_CELLS;
        if !(points < most as f64 && highest / step < 1e15) {
            return Err(AccountingError::Grid { points, most });
        }
        if !(highest < 700.0) {
            // e^L is not a number then
            let allowed = "larger, so that no step has a loss of 700 or more";
            return Err(argument("noise_multiplier", sigma, allowed));
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
            let required = math::exp(-0.3 * math::ln(tail.max(1e-30)))
                .min(widest)
                .min(self.reach(edge) / step);
            if f64::from(2 * steps) <= required {
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

impl CutStep {
    fn mixed(&self, without: f64, with: f64) -> f64 {
        let q = self.step.sampling_rate;
        (1.0 - q) * without + q * with
    }

    /// The start of the grid, at most a step below the lowest loss, such that rounding down the
    /// mass near it, which is large for small σ, costs O(h²) instead of O(h).
    ///
    /// Then the mass that the first cell splits to its lower end ≈ the largest gap of the second.
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
        let (q, sigma) = (self.step.sampling_rate, self.step.noise_multiplier);
        let slope = q * edge.ratio / (1.0 - q + q * edge.ratio) / (sigma * sigma);
        0.3 * slope * sigma / (edge.x.abs() / sigma).max(1.0)
    }

    fn edge(&self, index: i64, loss: f64) -> Edge {
        let sigma = self.step.noise_multiplier;
        let (change, ratio) = (math::exp_m1(loss), self.step.ratio_at(loss));
        let x = self.step.output_at(loss);
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
        let q = self.step.sampling_rate;
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
            upper: math::clamp(upper, 0.0, mass),
            margin: 12.0 * UNIT * lost / share,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::Given;
    use crate::accounting::Rounding;

    const PAIRS: [(f64, f64); 5] = [(1.0, 0.01), (0.5, 0.01), (0.4, 0.001), (2.0, 0.3), (0.8, 1.0)];

    fn one_step(noise_multiplier: f64, sampling_rate: f64) -> CutStep {
        CutStep { step: OneStep { noise_multiplier, sampling_rate }, cut: 8.5 }
    }

    /// δ of one step, from the output where the loss is ε.
    fn exact(pair: &CutStep, epsilon: f64, add: bool) -> f64 {
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
    fn distances(pair: &CutStep, rounding: Rounding, marked: Rounding, add: bool) -> (f64, f64) {
        let width = pair.step.sampling_rate / pair.step.noise_multiplier;
        let step = 0.05 * width;
        let cells = pair.cells(Resolution { step, widest: 20.0 * step }).unwrap();
        let cells = if add { cells.reversed() } else { cells };
        let distribution = cells.distribution(rounding).unwrap();
        let (mut wrong, mut largest) = (0.0_f64, 0.0_f64);
        for place in -400..400 {
            let epsilon = 0.0137 * width * f64::from(place);
            let above = distribution.delta_at(epsilon).unwrap() - exact(pair, epsilon, add);
            let above = if marked == Rounding::Pessimistic { above } else { -above };
            wrong = wrong.max(-above);
            largest = largest.max(above.abs());
        }
        (wrong / width, largest / width)
    }

    #[test]
    fn distributions_of_one_step_bracket_the_formula() {
        for (sigma, q) in PAIRS {
            let pair = one_step(sigma, q);
            for add in [false, true] {
                for rounding in [Rounding::Pessimistic, Rounding::Optimistic] {
                    let (wrong, largest) = distances(&pair, rounding, rounding, add);
                    assert!(wrong < 1e-13 / q, "{sigma} {q} {add} {rounding:?}: {wrong:e}");
                    assert!(largest < 0.04, "{sigma} {q} {add} {rounding:?}: {largest:e}");
                }
            }
        }
    }

    #[test]
    fn rounding_to_the_other_side_is_detected() {
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
                let distribution = cells.distribution(rounding).unwrap();
                distribution
                    .self_composed_near(100, Given::Delta(1e-5))
                    .unwrap()
                    .epsilon_at(1e-5)
                    .unwrap()
            };
            value(Rounding::Pessimistic) - value(Rounding::Optimistic)
        };
        let (coarse, fine) = (gap(4e-4), gap(1e-4));
        assert!(fine > 0.0 && coarse / fine > 12.0, "{coarse:e} {fine:e}");
    }
}
