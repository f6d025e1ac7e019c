//! The losses of one step with a batch of limited size, in cells.
//!
//! W_m = (1 − q) N(0, σ²) + q N(m, σ²).

use crate::accounting::AccountingError;
use crate::accounting::bracket::{Pair, Resolution};
use crate::accounting::error::argument;
use crate::accounting::pld::{LossCell, LossCells, Masses};
use crate::accounting::poisson::OneStep;
use crate::math;
use crate::special::normal;

/// Maximum number of cells; about 1 s.
const MOST_CELLS: usize = 1 << 21;

/// Bound of the relative error of a mass times the slope of its loss.
const RELATIVE: f64 = 2e-13;

/// Noise multiplier σ and sampling rate q of one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::accounting) struct Step {
    pub(in crate::accounting) noise_multiplier: f64,
    pub(in crate::accounting) sampling_rate: f64,
    /// Outputs farther than this many σ from all means are truncated.
    pub(in crate::accounting) cut: f64,
}

/// The pair of two data sets, P and Q.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::accounting) enum DataSets {
    /// W₂ and W₁: all other gradients are opposed to the target's.
    Opposed,
    /// W₁ and W₀: all other gradients are zero.
    Zero,
    /// W₀ and W₋₁: the mirror image of W₀ and W₁.
    Absent,
    /// W₁ and W₋₁: the target and its substitute are opposed.
    Replaced,
}

impl DataSets {
    /// Means of P and Q where the target record was drawn.
    const fn means(self) -> [f64; 2] {
        match self {
            DataSets::Opposed => [2.0, 1.0],
            DataSets::Zero => [1.0, 0.0],
            DataSets::Absent => [0.0, -1.0],
            DataSets::Replaced => [1.0, -1.0],
        }
    }
}

/// One case of a step, with its probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::accounting) struct Case {
    pub(in crate::accounting) weight: f64,
    pub(in crate::accounting) step: Step,
    pub(in crate::accounting) data: DataSets,
}

/// The pair of the data sets [`DataSets::Opposed`].
pub(in crate::accounting) struct OpposedPair(pub(in crate::accounting) Step);

/// [`OpposedPair`] for lower values: on coarse grids all losses below 0 are one outcome.
pub(in crate::accounting) struct MergedOpposedPair(pub(in crate::accounting) Step);

/// A pair with the losses above 0 of one pair, and the losses below 0 of another one reversed. Each
/// is a mixture of cases that both sides see.
pub(in crate::accounting) struct JoinedPair {
    pub(in crate::accounting) above: Vec<Case>,
    /// Their reverses have the losses below 0.
    pub(in crate::accounting) below: Vec<Case>,
}

impl Pair for OpposedPair {
    /// The lowest loss is a point of the grid, so that rounding down the mass near it costs O(h²);
    /// another point is between it and 0.
    fn cells(&self, resolution: Resolution) -> Result<LossCells, AccountingError> {
        let lowest = self.0.lowest_opposed_loss();
        let places = (lowest / resolution.step).ceil().clamp(2.0, 1e9);
        let resolution = Resolution { step: resolution.step.min(lowest / places), ..resolution };
        let case = Case { weight: 1.0, step: self.0, data: DataSets::Opposed };
        let above = above_zero(&[case], 0.0, resolution)?;
        let below = self.0.opposed_below_zero(resolution)?;
        Ok(joined(below, above))
    }
}

impl Pair for MergedOpposedPair {
    fn cells(&self, resolution: Resolution) -> Result<LossCells, AccountingError> {
        let step = resolution.step;
        let [low, high] = self.0.opposed_edges(0.0);
        let [mass, other_mass] = self.0.mixed(low.to(high));
        // a point of the grid; less than the exact loss of the outcome
        let loss = math::ln(mass / other_mass) - 1e-12;
        if !(loss < 0.0 && loss > -step) {
            return OpposedPair(self.0).cells(resolution);
        }
        let case = Case { weight: 1.0, step: self.0, data: DataSets::Opposed };
        let above = above_zero(&[case], loss, resolution)?;
        let outcome = LossCell { steps: 1, mass, other_mass, upper: mass, margin: 0.0 };
        let none = Masses::default();
        let below =
            LossCells { step, lowest: loss - step, cells: vec![outcome], below: none, above: none };
        Ok(joined(below, above))
    }
}

impl Pair for JoinedPair {
    fn is_symmetric(&self) -> bool {
        self.above == self.below
    }

    fn cells(&self, resolution: Resolution) -> Result<LossCells, AccountingError> {
        let above = above_zero(&self.above, 0.0, resolution)?;
        let mut below = above_zero(&self.below, 0.0, resolution)?.reversed();
        let total: f64 = self.above.iter().map(|case| case.weight).sum();
        let [with, without] = beyond_zero(&self.above);
        let [reversed_with, reversed_without] = beyond_zero(&self.below);
        // the same mass under P and under Q: the loss there is 0
        let mass = (total - with - reversed_without).max(0.0);
        if let Some(last) = below.cells.last_mut() {
            last.mass += mass;
            last.other_mass += (total - without - reversed_with).max(0.0);
            last.upper += mass;
            last.margin += RELATIVE * mass;
        }
        Ok(joined(below, above))
    }
}

/// Cells up to a loss and cells from there on.
fn joined(mut below: LossCells, above: LossCells) -> LossCells {
    below.cells.extend(above.cells);
    LossCells { above: above.above, ..below }
}

/// Masses under P and Q of the losses above 0.
fn beyond_zero(cases: &[Case]) -> [f64; 2] {
    cases.iter().fold([0.0, 0.0], |[with, without], case| {
        let beyond = case.beyond(case.edge_at(0.0));
        [with + beyond.mass, without + beyond.other_mass]
    })
}

/// The losses from 0 on, in cells from `lowest` on, which is at most a step below 0.
fn above_zero(
    cases: &[Case],
    lowest: f64,
    resolution: Resolution,
) -> Result<LossCells, AccountingError> {
    let step = resolution.step;
    let highest = cases.iter().map(Case::highest_loss).fold(0.0, f64::max);
    if !(highest < 700.0) {
        // e^L is not a number then
        let noise = cases.first().map_or(0.0, |case| case.step.noise_multiplier);
        let allowed = "larger, so that no step has a loss of 700 or more";
        return Err(argument("noise_multiplier", noise, allowed));
    }
    if !(highest / resolution.widest < MOST_CELLS as f64 && highest / step < 1e15) {
        return Err(AccountingError::Grid { points: highest / step, most: MOST_CELLS });
    }
    let last = ((highest - lowest) / step).ceil() as i64;
    let widest = (resolution.widest / step).max(1.0);
    let (mut index, mut steps, mut cells) = (0_i64, 1_u32, Vec::new());
    let mut edges: Vec<Edge> = cases.iter().map(|case| case.edge_at(0.0)).collect();
    let of_all = |edges: &[Edge]| {
        cases.iter().zip(edges).fold(Masses::default(), |sum, (case, edge)| {
            let beyond = case.beyond(*edge);
            Masses { mass: sum.mass + beyond.mass, other_mass: sum.other_mass + beyond.other_mass }
        })
    };
    while index < last {
        // wider cells where less mass is beyond
        if f64::from(2 * steps) <= widest {
            let tail = of_all(&edges).mass;
            let reach = cases.iter().zip(&edges).map(|(case, edge)| case.reach(edge.x));
            let required = math::exp(-0.3 * math::ln(tail.max(1e-30)))
                .min(reach.fold(f64::INFINITY, f64::min) / step);
            if f64::from(2 * steps) <= required {
                steps *= 2;
            }
        }
        let low = lowest + index as f64 * step;
        index += i64::from(steps);
        let mut cell = LossCell { steps, mass: 0.0, other_mass: 0.0, upper: 0.0, margin: 0.0 };
        for (case, edge) in cases.iter().zip(&mut edges) {
            let next = case.edge_at(lowest + index as f64 * step);
            let own = case.step.cell(edge.to(next), low, (steps, step));
            cell.mass += case.weight * own.mass;
            cell.other_mass += case.weight * own.other_mass;
            cell.upper += case.weight * own.upper;
            cell.margin += case.weight * own.margin;
            *edge = next;
        }
        cells.push(cell);
        if cells.len() > MOST_CELLS {
            return Err(AccountingError::Grid { points: cells.len() as f64, most: MOST_CELLS });
        }
    }
    let above = of_all(&edges);
    Ok(LossCells { step, lowest, cells, below: Masses::default(), above })
}

impl Case {
    fn edge_at(&self, loss: f64) -> Edge {
        self.step.edge(self.data, self.step.output_at(self.data, loss))
    }

    /// Masses under P and Q above an output.
    fn beyond(&self, edge: Edge) -> Masses {
        let [mass, other_mass] = self.step.mixed(edge.above());
        Masses { mass: self.weight * mass, other_mass: self.weight * other_mass }
    }

    /// The output from which on nothing counts.
    fn highest_output(&self) -> f64 {
        let [with, _] = self.data.means();
        with + self.step.noise_multiplier * self.step.cut
    }

    fn highest_loss(&self) -> f64 {
        self.step.loss_at(self.data, self.highest_output())
    }

    /// Part of the loss over which the density falls by a factor e.
    fn reach(&self, x: f64) -> f64 {
        if x > self.highest_output() {
            return f64::INFINITY;
        }
        let sigma = self.step.noise_multiplier;
        let change = 1e-3 * sigma;
        let loss_at = |x: f64| self.step.loss_at(self.data, x);
        let slope = (loss_at(x + change) - loss_at(x)) / change;
        0.3 * slope * sigma / (x.abs() / sigma).max(1.0)
    }
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

/// Masses of N(0, σ²) and of the normal distributions of P and Q where the target was drawn.
type Normals = [f64; 3];

/// An output, with the tails of these distributions there.
#[derive(Clone, Copy)]
struct Edge {
    x: f64,
    tails: [Tail; 3],
}

impl Edge {
    fn to(self, high: Edge) -> Normals {
        [0, 1, 2].map(|place| between(self.tails[place], high.tails[place]))
    }

    fn above(self) -> Normals {
        self.tails.map(Tail::above)
    }
}

impl Step {
    fn edge(&self, data: DataSets, x: f64) -> Edge {
        let at = |mean: f64| Tail::at((x - mean) / self.noise_multiplier);
        let none = at(0.0);
        let [with, without] = data.means().map(|mean| if mean == 0.0 { none } else { at(mean) });
        Edge { x, tails: [none, with, without] }
    }

    /// Masses under P and Q.
    fn mixed(&self, [none, with, without]: Normals) -> [f64; 2] {
        let q = self.sampling_rate;
        [with, without].map(|drawn| (1.0 - q) * none + q * drawn)
    }

    fn poisson(&self) -> OneStep {
        let Step { noise_multiplier, sampling_rate, .. } = *self;
        OneStep { noise_multiplier, sampling_rate }
    }

    /// The output with φ₁/φ₀ = r.
    fn output(&self, ratio: f64) -> f64 {
        self.noise_multiplier * self.noise_multiplier * math::ln(ratio) + 0.5
    }

    /// c = e^{−1/σ²} = φ₁φ₋₁/φ₀² = φ₂φ₀/φ₁²
    fn overlap(&self) -> f64 {
        math::exp(-1.0 / (self.noise_multiplier * self.noise_multiplier))
    }

    /// The output above which the loss exceeds this one, which is 0 or more.
    ///
    /// With r = φ₁/φ₀: e^L is (1 − q + q c r²)/(1 − q + q r) for opposed gradients, and
    /// (1 − q + q r)/(1 − q + q c/r) for an opposed substitute.
    fn output_at(&self, data: DataSets, loss: f64) -> f64 {
        match data {
            DataSets::Zero => self.poisson().output_at(loss),
            DataSets::Absent => -self.poisson().output_at(-loss),
            DataSets::Opposed => self.output(self.opposed_roots(loss)[1]),
            DataSets::Replaced => {
                let q = self.sampling_rate;
                let half = 0.5 * (1.0 - q) * math::exp_m1(loss);
                let root = math::hypot(half, q * math::exp(0.5 * loss) * self.overlap().sqrt());
                self.output((half + root) / q)
            }
        }
    }

    /// Both r with the loss of opposed gradients, the lower one 0 for a loss from 0 on; equal below
    /// the least loss.
    fn opposed_roots(&self, loss: f64) -> [f64; 2] {
        let q = self.sampling_rate;
        let scaled = self.overlap();
        let (factor, constant) = (math::exp(loss), math::exp_m1(loss) * (1.0 - q) / q);
        let root = (factor * factor + 4.0 * scaled * constant).max(0.0).sqrt();
        let low = (-2.0 * constant / (factor + root)).max(0.0);
        [low, (factor + root) / (2.0 * scaled)]
    }

    /// At least −L for every loss L of opposed gradients, where both r are equal.
    fn lowest_opposed_loss(&self) -> f64 {
        let q = self.sampling_rate;
        let ratio = q / (self.overlap() * (1.0 - q)).max(f64::MIN_POSITIVE);
        let root = (1.0 + ratio).sqrt();
        math::ln_1p(0.5 * ratio / (1.0 + root)) * (1.0 + 1e-9)
    }

    /// The loss at an output.
    fn loss_at(&self, data: DataSets, x: f64) -> f64 {
        // N(m, σ²) against N(0, σ²) is N(1, (σ/m)²) against N(0, (σ/m)²) at x/m
        let ln_mixed = |mean: f64| {
            if mean == 0.0 {
                return 0.0;
            }
            let noise_multiplier = self.noise_multiplier / mean.abs();
            OneStep { noise_multiplier, ..self.poisson() }.loss_at(x / mean)
        };
        let [with, without] = data.means();
        ln_mixed(with) - ln_mixed(without)
    }

    /// The cell of these outputs.
    ///
    /// Split: with w the width, the upper mass is (p − e^l q₀)/(1 − e^{−w}).
    fn cell(&self, normals: Normals, low: f64, (steps, step): (u32, f64)) -> LossCell {
        let q = self.sampling_rate;
        let [none, with, without] = normals;
        let [mass, other_mass] = self.mixed(normals);
        let share = -math::exp_m1(-f64::from(steps) * step);
        let (factor, change) = (math::exp(low), math::exp_m1(low));
        let moved = q * (with - factor * without) - (1.0 - q) * none * change;
        let lost = q * (with + factor * without) + (1.0 - q) * none * change.abs();
        LossCell {
            steps,
            mass,
            other_mass,
            upper: math::clamp(moved / share, 0.0, mass),
            margin: RELATIVE * lost / share,
        }
    }

    /// Both outputs with this loss of opposed gradients, which is 0 or less.
    fn opposed_edges(&self, loss: f64) -> [Edge; 2] {
        let roots = self.opposed_roots(loss);
        roots.map(|ratio| self.edge(DataSets::Opposed, self.output(ratio)))
    }

    /// The losses of opposed gradients up to 0, which are bounded. Each one below 0 has two
    /// outputs: one where a batch without the target is more likely, one where it is less.
    fn opposed_below_zero(&self, resolution: Resolution) -> Result<LossCells, AccountingError> {
        let step = resolution.step;
        let edges = |index: i64| self.opposed_edges(index as f64 * step);
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
            cells.push(self.cell(normals, low, (1, step)));
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
