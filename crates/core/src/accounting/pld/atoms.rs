//! A distribution on few points of a grid.

use super::{MOST_POINTS, PrivacyLossDistribution, Rounding};
use crate::accounting::AccountingError;

/// The distribution of a loss under P, on points of a grid of which few have mass.
#[derive(Debug, Clone)]
pub(in crate::accounting) struct Atoms {
    pub(super) step: f64,
    /// Loss at index 0.
    pub(super) offset: f64,
    /// Index and mass, rising.
    pub(super) points: Vec<(i64, f64)>,
    pub(super) infinite_mass: f64,
    pub(super) rounding: Rounding,
}

impl Atoms {
    pub(super) fn loss_at(&self, index: i64) -> f64 {
        index as f64 * self.step + self.offset
    }

    /// The distribution with a mass at every point of the grid, also where it is 0.
    pub(in crate::accounting) fn distribution(
        &self,
    ) -> Result<PrivacyLossDistribution, AccountingError> {
        let points = self.points.last().map_or(1.0, |last| last.0 as f64 + 1.0);
        if !(points <= MOST_POINTS as f64) {
            return Err(AccountingError::Grid { points, most: MOST_POINTS });
        }
        let mut masses = vec![0.0; points as usize];
        for (index, mass) in &self.points {
            masses[*index as usize] = *mass;
        }
        Ok(PrivacyLossDistribution {
            step: self.step,
            offset: self.offset,
            lowest_index: 0,
            masses,
            infinite_mass: self.infinite_mass,
            rounding: self.rounding,
        })
    }
}
