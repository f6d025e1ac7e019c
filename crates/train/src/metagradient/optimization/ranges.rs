//! The box that canaries stay in.

use super::error::OptimizationError;
use crate::data::Examples;

/// Smallest and largest value of each feature.
#[derive(Debug, Clone, PartialEq)]
pub struct FeatureRanges {
    lower: Vec<f32>,
    upper: Vec<f32>,
}

impl FeatureRanges {
    /// The ranges of some data.
    #[must_use]
    pub fn of(examples: &Examples) -> Self {
        let features = examples.shape().len();
        let (mut lower, mut upper) =
            (vec![f32::INFINITY; features], vec![f32::NEG_INFINITY; features]);
        let mut row = Vec::with_capacity(features);
        for record in 0..examples.len() as u32 {
            row.clear();
            examples.append(record, &mut row);
            for ((lower, upper), &value) in lower.iter_mut().zip(&mut upper).zip(&row) {
                (*lower, *upper) = (lower.min(value), upper.max(value));
            }
        }
        FeatureRanges { lower, upper }
    }

    /// Number of features.
    #[must_use]
    pub fn features(&self) -> usize {
        self.lower.len()
    }

    /// Smallest and largest value of all features.
    #[must_use]
    pub fn all(&self) -> [f32; 2] {
        let lower = self.lower.iter().copied().fold(f32::INFINITY, f32::min);
        [lower, self.upper.iter().copied().fold(f32::NEG_INFINITY, f32::max)]
    }

    /// Largest less smallest value of a feature.
    pub(super) fn width(&self, feature: usize) -> f32 {
        self.upper[feature] - self.lower[feature]
    }

    /// The nearest value in the range of a feature.
    pub(super) fn clamp(&self, feature: usize, value: f32) -> f32 {
        value.max(self.lower[feature]).min(self.upper[feature])
    }

    /// Rejects values outside.
    pub(super) fn check(&self, canaries: &[f32]) -> Result<(), OptimizationError> {
        let features = self.features();
        let is_outside = |(at, &value): (usize, &f32)| {
            let feature = at % features;
            !(self.lower[feature]..=self.upper[feature]).contains(&value)
        };
        match canaries.iter().enumerate().position(is_outside) {
            None => Ok(()),
            Some(at) => Err(OptimizationError::OutsideRange {
                canary: at / features,
                feature: at % features,
                value: canaries[at].into(),
                lower: self.lower[at % features].into(),
                upper: self.upper[at % features].into(),
            }),
        }
    }
}
