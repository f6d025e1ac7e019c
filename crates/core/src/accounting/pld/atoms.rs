//! A distribution on few points of a grid, and values of its compositions.

use super::compose::infinite_mass_of_many;
use super::inversion::LowFrequencies;
use super::moments::Moments;
use super::{MOST_POINTS, PrivacyLossDistribution, Rounding};
use crate::accounting::{AccountingError, Given};

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

    /// The same with all points of the grid.
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

    /// ε or δ of the n-fold composition, on the side of the rounding, and the work, in points.
    ///
    /// Errors of transforms change ε by a small part of `error`.
    pub(in crate::accounting) fn value_of_many(
        &self,
        compositions: u64,
        given: Given,
        error: f64,
    ) -> Result<(f64, f64), AccountingError> {
        let composed = if compositions < 2 || self.points.iter().all(|point| point.1 == 0.0) {
            self.distribution()?.self_composed(compositions)?
        } else {
            let moments = Moments::of(self);
            let target = moments.target(compositions as f64, given, error);
            let spectrum = LowFrequencies::new(self, &moments, compositions, target);
            let found =
                spectrum.and_then(|found| Some((found.value(given, target)?, found.work())));
            if let Some(found) = found {
                return Ok(found);
            }
            self.distribution()?.composed_near(compositions, target)?
        };
        let value = match given {
            Given::Delta(delta) => composed.epsilon_at(delta)?,
            Given::Epsilon(epsilon) => composed.delta_at(epsilon)?,
        };
        Ok((value, composed.masses().len() as f64))
    }

    /// Chance that one of n losses is infinite.
    pub(super) fn infinite_mass_of_many(&self, count: f64) -> f64 {
        let total = || self.points.iter().map(|point| point.1).sum();
        infinite_mass_of_many(self.infinite_mass, total, self.rounding, count)
    }

    /// Chernoff's upper value of the n-fold composition.
    pub(in crate::accounting) fn upper_of_many(&self, compositions: u64, given: Given) -> f64 {
        Moments::of(self).upper_of_many(compositions, given, self.infinite_mass)
    }
}
