//! From the distribution of a loss to a grid: masses of cells, split upward or merged downward.

use super::atoms::Atoms;
use super::below::{self, Halves};
use super::{PrivacyLossDistribution, RELATIVE, Rounding};
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
            cell.margin += RELATIVE * mass * value / share;
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
    /// lines below δ, see [`below`].
    ///
    /// # Reference
    /// V. Doroshenko, B. Ghazi, P. Kamath, R. Kumar and P. Manurangsi (2022), "Connect the dots".
    pub(in crate::accounting) fn atoms(&self, rounding: Rounding) -> Atoms {
        let (at_ends, infinite_mass) = match rounding {
            Rounding::Pessimistic => (self.pessimistic(), self.above.mass * (1.0 + RELATIVE)),
            Rounding::Optimistic => (self.optimistic(), 0.0),
        };
        let mut index = 0_i64;
        let mut points = Vec::with_capacity(at_ends.len());
        let steps = self.cells.iter().map(|cell| i64::from(cell.steps));
        for (mass, steps) in at_ends.into_iter().zip(steps.chain([0])) {
            points.push((index, mass));
            index += steps;
        }
        Atoms { step: self.step, offset: self.lowest, points, infinite_mass, rounding }
    }

    /// [`Self::atoms`] with a mass at every point of the grid, also where it is 0.
    pub(in crate::accounting) fn distribution(
        &self,
        rounding: Rounding,
    ) -> Result<PrivacyLossDistribution, AccountingError> {
        self.atoms(rounding).distribution()
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

    fn optimistic(&self) -> Vec<f64> {
        let halves = self.cells.iter().map(|cell| {
            let upper = math::clamp(cell.upper - cell.margin, 0.0, cell.mass);
            Halves { lower: cell.mass - upper, upper, steps: cell.steps }
        });
        below::masses(self.step, &halves.collect::<Vec<_>>())
    }
}
