//! Values of compositions of a distribution on few points.

use super::atoms::Atoms;
use super::inversion::LowFrequencies;
use super::moments::Moments;
use crate::accounting::{AccountingError, Given};

impl Atoms {
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

    /// Chernoff's upper value of the n-fold composition.
    pub(in crate::accounting) fn upper_of_many(&self, compositions: u64, given: Given) -> f64 {
        Moments::of(self).upper_of_many(compositions, given, self.infinite_mass)
    }
}
