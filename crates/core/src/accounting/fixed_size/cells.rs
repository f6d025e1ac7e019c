//! The losses of one step with a batch of fixed size, in cells.
//!
//! W_m = (1 − q) N(0, σ²) + q N(m, σ²).

use crate::accounting::AccountingError;
use crate::accounting::bracket::{Pair, Resolution};
use crate::accounting::error::argument;
use crate::accounting::pld::{LossCell, LossCells, Masses};
use crate::math;
use crate::special::normal;

/// Maximum number of cells; about 1 s.
const MOST_CELLS: usize = 1 << 21;

/// Bound of the relative error of a mass times the slope of its loss.
const RELATIVE: f64 = 2e-13;

/// σ and q.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) noise_multiplier: f64,
    pub(super) sampling_rate: f64,
    /// Outputs farther than this many σ from all means are truncated.
    pub(super) cut: f64,
}

/// The pair of two data sets, P with the target record and Q without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataSets {
    /// W₂ and W₁: all other gradients are opposed to the target's.
    Opposed,
    /// W₁ and W₀: all other gradients are zero.
    Zero,
}

impl DataSets {
    /// Means of P and Q where the target record was drawn.
    const fn means(self) -> [f64; 2] {
        match self {
            DataSets::Opposed => [2.0, 1.0],
            DataSets::Zero => [1.0, 0.0],
        }
    }
}

/// The pair of the data sets [`DataSets::Opposed`].
pub(super) struct OpposedPair(pub(super) Step);

/// A pair with the losses above 0 of one pair, and the losses below 0 of another one reversed.
pub(super) struct JoinedPair {
    pub(super) step: Step,
    pub(super) above: DataSets,
    /// Its reverse has the losses below 0.
    pub(super) below: DataSets,
}

impl Pair for OpposedPair {
    fn cells(&self, resolution: Resolution) -> Result<LossCells, AccountingError> {
        let above = self.0.above_zero(DataSets::Opposed, resolution)?;
        let below = self.0.opposed_below_zero(resolution)?;
        Ok(joined(below, above))
    }
}

impl Pair for JoinedPair {
    fn cells(&self, resolution: Resolution) -> Result<LossCells, AccountingError> {
        let above = self.step.above_zero(self.above, resolution)?;
        let mut below = self.step.above_zero(self.below, resolution)?.reversed();
        let [with, without] = self.step.beyond_zero(self.above);
        let [reversed_with, reversed_without] = self.step.beyond_zero(self.below);
        // the same mass under P and under Q: the loss there is 0
        let mass = 1.0 - with - reversed_without;
        if let Some(last) = below.cells.last_mut() {
            last.mass += mass;
            last.other_mass += 1.0 - without - reversed_with;
            last.upper += mass;
            last.margin += RELATIVE * mass;
        }
        Ok(joined(below, above))
    }
}

/// Cells up to 0 and cells from 0 on.
fn joined(mut below: LossCells, above: LossCells) -> LossCells {
    below.cells.extend(above.cells);
    LossCells { above: above.above, ..below }
}

/// A normal tail, on the smaller side.
#[derive(Clone, Copy)]
struct Tail {
    mass: f64,
    is_low: bool,
}

impl Tail {
    fn at(x: f64) -> Self {
        let is_low = x < 0.0;
        Tail { mass: normal::normal_cdf(if is_low { x } else { -x }), is_low }
    }

    fn above(self) -> f64 {
        if self.is_low { 1.0 - self.mass } else { self.mass }
    }
}

/// Mass between two points.
fn between(low: Tail, high: Tail) -> f64 {
    let mass = match (low.is_low, high.is_low) {
        (true, true) => high.mass - low.mass,
        (true, false) => 1.0 - low.mass - high.mass,
        _ => low.mass - high.mass,
    };
    mass.max(0.0)
}

/// Masses of N(0, σ²), N(1, σ²) and N(2, σ²).
type Normals = [f64; 3];

/// An output, with the tails of the three normal distributions there.
#[derive(Clone, Copy)]
struct Edge {
    x: f64,
    tails: [Tail; 3],
}

impl Edge {
    fn to(self, high: Edge) -> Normals {
        [0, 1, 2].map(|mean| between(self.tails[mean], high.tails[mean]))
    }

    fn above(self) -> Normals {
        self.tails.map(Tail::above)
    }
}

impl Step {
    fn edge(&self, x: f64) -> Edge {
        let tails = [0.0, 1.0, 2.0].map(|mean| Tail::at((x - mean) / self.noise_multiplier));
        Edge { x, tails }
    }

    /// The mass of W_m.
    fn mixed(&self, normals: Normals, mean: f64) -> f64 {
        let q = self.sampling_rate;
        (1.0 - q) * normals[0] + q * normals[mean as usize]
    }

    /// The output with φ₁/φ₀ = r.
    fn output(&self, ratio: f64) -> f64 {
        self.noise_multiplier * self.noise_multiplier * math::ln(ratio) + 0.5
    }

    /// The output above which the loss exceeds this one, which is 0 or more.
    ///
    /// With r = φ₁/φ₀: e^L = (1 − q + q r)/1 for zero gradients, and for opposed ones
    /// (1 − q + q c r²)/(1 − q + q r), c = e^{−1/σ²}.
    fn output_at(&self, data: DataSets, loss: f64) -> f64 {
        let q = self.sampling_rate;
        let change = math::exp_m1(loss);
        match data {
            DataSets::Zero => self.output((change + q) / q),
            DataSets::Opposed => self.output(self.opposed_roots(loss)[1]),
        }
    }

    /// Both r with the loss of opposed gradients, the lower one 0 for a loss from 0 on; equal below
    /// the least loss.
    fn opposed_roots(&self, loss: f64) -> [f64; 2] {
        let q = self.sampling_rate;
        let scaled = math::exp(-1.0 / (self.noise_multiplier * self.noise_multiplier));
        let (factor, constant) = (math::exp(loss), math::exp_m1(loss) * (1.0 - q) / q);
        let root = (factor * factor + 4.0 * scaled * constant).max(0.0).sqrt();
        let low = (-2.0 * constant / (factor + root)).max(0.0);
        [low, (factor + root) / (2.0 * scaled)]
    }

    /// The loss at an output.
    fn loss_at(&self, data: DataSets, x: f64) -> f64 {
        let q = self.sampling_rate;
        let variance = self.noise_multiplier * self.noise_multiplier;
        let ln_mixed = |mean: f64| {
            let exponent = mean * (x - 0.5 * mean) / variance;
            if exponent > 30.0 {
                math::ln(q) + exponent + math::ln_1p((1.0 - q) / q * math::exp(-exponent))
            } else {
                math::ln_1p(q * math::exp_m1(exponent))
            }
        };
        let [with, without] = data.means();
        ln_mixed(with) - ln_mixed(without)
    }

    /// Part of the loss over which the density falls by a factor e.
    fn reach(&self, data: DataSets, x: f64) -> f64 {
        let sigma = self.noise_multiplier;
        let change = 1e-3 * sigma;
        let slope = (self.loss_at(data, x + change) - self.loss_at(data, x)) / change;
        0.3 * slope * sigma / (x.abs() / sigma).max(1.0)
    }

    /// The cell of these outputs.
    ///
    /// Split: with w the width, the upper mass is (p − e^l q₀)/(1 − e^{−w}).
    fn cell(
        &self,
        data: DataSets,
        normals: Normals,
        low: f64,
        (steps, step): (u32, f64),
    ) -> LossCell {
        let q = self.sampling_rate;
        let [with, without] = data.means();
        let mass = self.mixed(normals, with);
        let share = -math::exp_m1(-f64::from(steps) * step);
        let (factor, change) = (math::exp(low), math::exp_m1(low));
        let of = |mean: f64| normals[mean as usize];
        let moved = q * (of(with) - factor * of(without)) - (1.0 - q) * of(0.0) * change;
        let lost = q * (of(with) + factor * of(without)) + (1.0 - q) * of(0.0) * change.abs();
        LossCell {
            steps,
            mass,
            other_mass: self.mixed(normals, without),
            upper: math::clamp(moved / share, 0.0, mass),
            margin: RELATIVE * lost / share,
        }
    }

    /// Masses under P and Q of the losses above 0.
    fn beyond_zero(&self, data: DataSets) -> [f64; 2] {
        let normals = self.edge(self.output_at(data, 0.0)).above();
        data.means().map(|mean| self.mixed(normals, mean))
    }

    /// The losses from 0 on.
    fn above_zero(
        &self,
        data: DataSets,
        resolution: Resolution,
    ) -> Result<LossCells, AccountingError> {
        let step = resolution.step;
        let [with, without] = data.means();
        let highest = self.loss_at(data, with + self.noise_multiplier * self.cut);
        if !(highest < 700.0) {
            // e^L is not a number then
            let allowed = "larger, so that no step has a loss of 700 or more";
            return Err(argument("noise_multiplier", self.noise_multiplier, allowed));
        }
        if !(highest / resolution.widest < MOST_CELLS as f64 && highest / step < 1e15) {
            return Err(AccountingError::Grid { points: highest / step, most: MOST_CELLS });
        }
        let last = (highest / step).ceil() as i64;
        let widest = (resolution.widest / step).max(1.0);
        let (mut index, mut steps, mut cells) = (0_i64, 1_u32, Vec::new());
        let mut edge = self.edge(self.output_at(data, 0.0));
        while index < last {
            let tail = self.mixed(edge.above(), with);
            let required = math::exp(-0.3 * math::ln(tail.max(1e-30)))
                .min(widest)
                .min(self.reach(data, edge.x) / step);
            if f64::from(2 * steps) <= required {
                steps *= 2;
            }
            let low = index as f64 * step;
            index += i64::from(steps);
            let next = self.edge(self.output_at(data, index as f64 * step));
            cells.push(self.cell(data, edge.to(next), low, (steps, step)));
            if cells.len() > MOST_CELLS {
                return Err(AccountingError::Grid { points: cells.len() as f64, most: MOST_CELLS });
            }
            edge = next;
        }
        let beyond = edge.above();
        let above =
            Masses { mass: self.mixed(beyond, with), other_mass: self.mixed(beyond, without) };
        Ok(LossCells { step, lowest: 0.0, cells, below: Masses::default(), above })
    }

    /// The losses of opposed gradients up to 0, which are bounded. Each one below 0 has two
    /// outputs: one where a batch without the target is more likely, one where it is less.
    fn opposed_below_zero(&self, resolution: Resolution) -> Result<LossCells, AccountingError> {
        let data = DataSets::Opposed;
        let step = resolution.step;
        let edges = |index: i64| {
            let roots = self.opposed_roots(index as f64 * step);
            roots.map(|ratio| self.edge(self.output(ratio)))
        };
        let mut cells = Vec::new();
        let (mut index, mut inner) = (0, edges(0));
        loop {
            let outer = inner;
            index -= 1;
            inner = edges(index);
            let is_last = inner[1].x <= inner[0].x;
            let low = index as f64 * step;
            let normals = if is_last {
                outer[0].to(outer[1])
            } else {
                let (left, right) = (outer[0].to(inner[0]), inner[1].to(outer[1]));
                [0, 1, 2].map(|mean| left[mean] + right[mean])
            };
            cells.push(self.cell(data, normals, low, (1, step)));
            if is_last {
                break;
            }
            if cells.len() > MOST_CELLS {
                return Err(AccountingError::Grid { points: cells.len() as f64, most: MOST_CELLS });
            }
        }
        cells.reverse();
        let lowest = index as f64 * step;
        let none = Masses::default();
        Ok(LossCells { step, lowest, cells, below: none, above: none })
    }
}
