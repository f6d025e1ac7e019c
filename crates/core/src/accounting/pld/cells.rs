//! From the distribution of a loss to a grid: masses of cells, split upward or merged downward.

use super::{MOST_POINTS, PrivacyLossDistribution, Rounding};
use crate::accounting::AccountingError;
use crate::math;

/// The losses between two points of the grid.
#[derive(Debug, Clone, Copy)]
pub(in crate::accounting) struct LossCell {
    /// Width in steps.
    pub(in crate::accounting) steps: u32,
    /// Mass under P.
    pub(in crate::accounting) mass: f64,
    /// Mass under Q.
    pub(in crate::accounting) other_mass: f64,
    /// Mass under P at the upper end, where the cell's masses under P and Q are split to its ends.
    pub(in crate::accounting) upper: f64,
    /// Bound of the error of `upper`.
    pub(in crate::accounting) margin: f64,
}

/// Masses under P and Q.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::accounting) struct Masses {
    pub(in crate::accounting) mass: f64,
    pub(in crate::accounting) other_mass: f64,
}

/// The joint distribution of a pair P, Q, in cells of the loss ln dP/dQ.
#[derive(Debug, Clone)]
pub(in crate::accounting) struct LossCells {
    pub(in crate::accounting) step: f64,
    /// Lower end of the first cell.
    pub(in crate::accounting) lowest: f64,
    pub(in crate::accounting) cells: Vec<LossCell>,
    /// Losses below the first cell.
    pub(in crate::accounting) below: Masses,
    /// Losses above the last cell.
    pub(in crate::accounting) above: Masses,
}

/// Covers the rounding of masses: relative, of each sum from one end.
const RELATIVE: f64 = 64.0 * f64::EPSILON;

impl LossCells {
    /// From atoms (e^L, mass under Q) in rising order; those whose mass under Q adds up to at most
    /// `cut` from the bottom lie below the cells.
    pub(in crate::accounting) fn of_atoms(step: f64, atoms: &[(f64, f64)], cut: f64) -> Self {
        let mut below = Masses::default();
        let mut start = 0;
        for &(value, mass) in atoms {
            if value > 0.0 && below.other_mass + mass > cut {
                break;
            }
            below.mass += mass * value;
            below.other_mass += mass;
            start += 1;
        }
        let atoms = &atoms[start..];
        let lowest = match atoms.first() {
            Some(atom) => (math::ln(atom.0) / step).floor() * step,
            None => 0.0,
        };
        let share = -math::exp_m1(-step);
        let empty = LossCell { steps: 1, mass: 0.0, other_mass: 0.0, upper: 0.0, margin: 0.0 };
        let mut cells = vec![empty; 2];
        for &(value, mass) in atoms {
            let place = ((math::ln(value) - lowest) / step).floor().max(0.0) as usize;
            if place + 2 > cells.len() {
                cells.resize(place + 2, empty);
            }
            let from = math::exp(lowest + place as f64 * step);
            let cell = &mut cells[place];
            cell.mass += mass * value;
            cell.other_mass += mass;
            cell.upper += mass * math::clamp((value - from) / share, 0.0, value);
            cell.margin += 1e-12 * mass * value;
        }
        LossCells { step, lowest, cells, below, above: Masses::default() }
    }

    /// The pair Q, P.
    pub(in crate::accounting) fn reversed(&self) -> Self {
        let mut index = 0_i64;
        let mut cells: Vec<LossCell> = Vec::with_capacity(self.cells.len());
        for cell in &self.cells {
            let ratio = math::exp(-(index as f64 * self.step + self.lowest));
            index += i64::from(cell.steps);
            cells.push(LossCell {
                steps: cell.steps,
                mass: cell.other_mass,
                other_mass: cell.mass,
                upper: math::clamp((cell.mass - cell.upper) * ratio, 0.0, cell.other_mass),
                margin: cell.margin * ratio + RELATIVE * cell.other_mass,
            });
        }
        cells.reverse();
        let turn = |masses: Masses| Masses { mass: masses.other_mass, other_mass: masses.mass };
        LossCells {
            step: self.step,
            lowest: -(index as f64 * self.step + self.lowest),
            cells,
            below: turn(self.above),
            above: turn(self.below),
        }
    }

    /// The distribution on the grid, with this rounding.
    ///
    /// Pessimistic: each cell's masses under P and Q are split to its ends, which spreads dQ/dP and
    /// preserves its mean. δ as a function of e^ε is then piecewise linear. Optimistic: straight
    /// lines below that curve, see [`Self::optimistic`].
    ///
    /// # Reference
    /// V. Doroshenko, B. Ghazi, P. Kamath, R. Kumar and P. Manurangsi (2022), "Connect the dots".
    pub(in crate::accounting) fn distribution(
        &self,
        rounding: Rounding,
    ) -> Result<PrivacyLossDistribution, AccountingError> {
        let points = self.cells.iter().map(|cell| f64::from(cell.steps)).sum::<f64>() + 1.0;
        if !(points <= MOST_POINTS as f64) {
            return Err(AccountingError::Grid { points, most: MOST_POINTS });
        }
        let (at_ends, infinite_mass) = match rounding {
            Rounding::Pessimistic => (self.pessimistic(), self.above.mass * (1.0 + RELATIVE)),
            Rounding::Optimistic => (self.optimistic(), 0.0),
        };
        let mut masses = vec![0.0; points as usize];
        let mut place = 0;
        let steps = self.cells.iter().map(|cell| cell.steps as usize);
        for (mass, steps) in at_ends.iter().zip(steps.chain([0])) {
            masses[place] = *mass;
            place += steps;
        }
        Ok(PrivacyLossDistribution {
            step: self.step,
            offset: self.lowest,
            lowest_index: 0,
            masses,
            infinite_mass,
            rounding,
        })
    }

    fn pessimistic(&self) -> Vec<f64> {
        let mut masses = vec![0.0; self.cells.len() + 1];
        masses[0] = self.below.mass;
        for (place, cell) in self.cells.iter().enumerate() {
            let upper = math::clamp(cell.upper + cell.margin, 0.0, cell.mass);
            masses[place] += cell.mass - upper;
            masses[place + 1] += upper;
        }
        masses.iter().map(|mass| mass * (1.0 + RELATIVE)).collect()
    }

    /// Masses whose curve f lies below δ as functions of y = e^ε.
    ///
    /// At the ends of cells f = δ − c, c the larger gap between δ and its chord in the two cells
    /// beside; a gap is at most ab/(a + b)·Δy, a and b the split masses under Q. Between ends f is
    /// a straight line and so at least a gap below the chord. In the first cells f continues the
    /// line on which δ begins. From the lowest end where δ ≤ c on, f is 0, and the last line that
    /// rises from 0 is no steeper than δ is at its foot. Removing ends makes f convex.
    fn optimistic(&self) -> Vec<f64> {
        let ends = self.cells.len() + 1;
        let ratios: Vec<f64> =
            self.cells.iter().map(|cell| math::exp(f64::from(cell.steps) * self.step)).collect();
        let mut masses = vec![0.0; ends];
        let (mut lowered, mut gaps) = (vec![0.0_f64; ends], vec![0.0_f64; ends]);
        for (place, (cell, ratio)) in self.cells.iter().zip(&ratios).enumerate() {
            let upper = math::clamp(cell.upper - cell.margin, 0.0, cell.mass);
            let lower = cell.mass - upper;
            masses[place] += lower;
            masses[place + 1] += upper;
            let scaled = lower * ratio + upper;
            if scaled > 0.0 {
                let gap = (ratio - 1.0) * lower * (upper / scaled) * (1.0 + RELATIVE);
                gaps[place] = gap;
                lowered[place] = lowered[place].max(gap);
                lowered[place + 1] = lowered[place + 1].max(gap);
            }
        }
        keep_first_line(&masses, &gaps, &mut lowered, &ratios);
        let (foot, height) = self.clip_top(&masses, &mut lowered, &ratios);
        let mut curve = Vec::with_capacity(ends);
        for place in 0..ends {
            let left = match place {
                0 => lowered[0],
                _ => (lowered[place] - lowered[place - 1]) / (1.0 - 1.0 / ratios[place - 1]),
            };
            curve.push(if place < foot {
                let right = (lowered[place + 1] - lowered[place]) / (ratios[place] - 1.0);
                masses[place] + left - right
            } else if place == foot && foot > 0 {
                height / (1.0 - 1.0 / ratios[place - 1])
            } else {
                0.0
            });
        }
        self.make_convex(&mut curve);
        curve.iter().map(|mass| mass.max(0.0) * (1.0 - RELATIVE)).collect()
    }

    /// Sets f = 0 from the returned end up, the lowest at which δ ≤ c; also returns f one end below
    /// it.
    fn clip_top(&self, masses: &[f64], lowered: &mut [f64], ratios: &[f64]) -> (usize, f64) {
        let (mut foot, mut height) = (masses.len() - 1, 0.0);
        // δ at an end, and masses under Q from there up times y: of the split distribution, of the
        // pair
        let (mut delta, mut split, mut tail) = (0.0, masses[foot], 0.0);
        lowered[foot] = 0.0;
        for place in (0..self.cells.len()).rev() {
            let (cell, ratio) = (&self.cells[place], ratios[place]);
            let share = 1.0 - 1.0 / ratio;
            delta += share * split;
            let mut most = delta - lowered[place];
            if foot == place + 1 {
                most = most.min(share * tail) * (1.0 - RELATIVE);
                height = most.max(0.0);
                lowered[place] = delta - height;
            }
            // f is convex, so that above an end where it is 0 it stays 0
            if !(most > 0.0) {
                (foot, lowered[place]) = (place, delta);
            }
            split = masses[place] + split / ratio;
            let upper = math::clamp(cell.upper - cell.margin, 0.0, cell.mass);
            tail = tail / ratio + (cell.mass - upper) + upper / ratio;
        }
        (foot, height)
    }

    /// Removes each end with negative mass, splitting it between its neighbours.
    fn make_convex(&self, masses: &mut [f64]) {
        const NONE: usize = usize::MAX;
        if !masses.iter().any(|mass| *mass < 0.0) {
            return;
        }
        let mut indices = vec![0_i64; masses.len()];
        for (place, cell) in self.cells.iter().enumerate() {
            indices[place + 1] = indices[place] + i64::from(cell.steps);
        }
        let mut before: Vec<usize> =
            (0..masses.len()).map(|place| place.checked_sub(1).unwrap_or(NONE)).collect();
        let mut after: Vec<usize> = (1..=masses.len()).collect();
        let mut place = 0;
        while place < masses.len() {
            if masses[place] >= 0.0 {
                place = after[place];
                continue;
            }
            let (left, right, lost) = (before[place], after[place], masses[place]);
            masses[place] = 0.0;
            let ratio = |low: usize, high: usize| {
                math::exp((indices[low] - indices[high]) as f64 * self.step)
            };
            let share = match (left, right < masses.len()) {
                (NONE, _) => 1.0,
                (_, false) => 0.0,
                (_, true) => {
                    let (near, far) = (ratio(left, place), ratio(left, right));
                    (1.0 - near) / (1.0 - far)
                }
            };
            if left != NONE {
                masses[left] += (1.0 - share) * lost;
                after[left] = right;
            }
            if right < masses.len() {
                masses[right] += share * lost;
                before[right] = left;
            }
            place = if left == NONE { right } else { left };
        }
    }
}

/// From the bottom f is the line 1 − y, until that lies a gap below δ.
fn keep_first_line(masses: &[f64], gaps: &[f64], lowered: &mut [f64], ratios: &[f64]) {
    // δ minus the line, and the mass under Q so far times y
    let (mut change, mut so_far) = (0.0, masses[0]);
    for (place, ratio) in ratios.iter().enumerate() {
        lowered[place] = change;
        change += so_far * (ratio - 1.0);
        so_far = so_far * ratio + masses[place + 1];
        if change >= gaps[place + 1] && change > 0.0 {
            lowered[place + 1] = lowered[place + 1].max(change);
            return;
        }
    }
}
