//! How many outputs show that the noise is not the stated one.

use super::groups::{OutputGroup, Presence};
use super::likelihood::{Coordinates, likelihood};
use crate::adjacency::World;
use crate::math;
use crate::recorded::holm::FALSE_ALARM;
use crate::recorded::output_model::OutputModel;
use crate::special::normal_quantile;

/// Nodes of an expectation lie this many standard deviations from a mean at most.
const FARTHEST: f64 = 9.0;

/// Distance of nodes, in standard deviations: the trapezoid rule is exact to 1e-12 there.
const STEP: f64 = 1.0 / 64.0;

/// The place of ln σ among the coordinates.
const LN_NOISE: usize = 2;

/// The power of the check of the noise: the chance that it detects noise other than the stated one.
///
/// The estimate of ln σ from N outputs of each world is nearly normal, with variance V/N. A noise
/// multiplier that is `ratio` times the stated one is detected with probability π if
/// N = V (z₁ + z₂)² / (ln ratio)², where z₁ is the quantile of the two-sided level of each test,
/// 1 − α/(2 tests), and z₂ that of π.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoisePower {
    /// V: variance of the estimate of ln σ, times the outputs of each world.
    variance: f64,
}

impl NoisePower {
    /// Chance that the smallest difference is detected.
    pub const POWER: f64 = 0.9;

    /// Outputs whose sums are recorded: their noise is known, and V = 1/4.
    #[must_use]
    pub const fn with_sums() -> Self {
        NoisePower { variance: 0.25 }
    }

    /// Outputs alone, with b, κ and p fitted as well: V is an element of the inverse of the Fisher
    /// information of both worlds. `None` where the outputs do not identify the parameters.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `model` | the stated parameters |
    /// | `steps` | T |
    #[must_use]
    pub fn of_outputs(model: &OutputModel, steps: u32) -> Option<Self> {
        let steps = f64::from(steps);
        if model.uses >= steps {
            // every output has the target: its mean costs the estimate of σ nothing
            return Some(Self::with_sums());
        }
        let variance = inverse_element(information(model, steps), LN_NOISE)?;
        (variance.is_finite() && variance > 0.0).then_some(NoisePower { variance })
    }

    /// Outputs of each world that detect noise of `ratio` times the stated one with probability `power`.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::recorded::NoisePower;
    ///
    /// // 5 % too little noise, two phases with four tests each
    /// let outputs = NoisePower::with_sums().outputs_needed(0.95, 8, 0.9);
    /// assert_eq!(outputs.map(f64::ceil), Some(2489.0));
    /// ```
    #[must_use]
    pub fn outputs_needed(&self, ratio: f64, tests: usize, power: f64) -> Option<f64> {
        let ln_ratio = math::ln(ratio);
        let found = self.variance * squared_quantiles(tests, power)? / (ln_ratio * ln_ratio);
        found.is_finite().then_some(found)
    }

    /// The largest ratio below 1 of the noise to the stated one that `outputs` of each world detect with
    /// probability `power`.
    #[must_use]
    pub fn ratio_found(&self, outputs: f64, tests: usize, power: f64) -> Option<f64> {
        let squares = self.variance * squared_quantiles(tests, power)?;
        (outputs > 0.0).then(|| math::exp(-(squares / outputs).sqrt()))
    }
}

/// (z₁ + z₂)²
fn squared_quantiles(tests: usize, power: f64) -> Option<f64> {
    let level = FALSE_ALARM / tests.max(1) as f64;
    let sum = normal_quantile(1.0 - 0.5 * level).ok()? + normal_quantile(power).ok()?;
    Some(sum * sum)
}

/// The Fisher information of one output of each world, by b, κ, ln σ and logit p.
fn information(model: &OutputModel, steps: f64) -> [[f64; 4]; 4] {
    let share = model.uses / steps;
    let logit = math::ln(share) - math::ln_1p(-share);
    let mut total = [[0.0; 4]; 4];
    for (world, of_contrast) in World::BOTH.into_iter().zip([1.0, model.zero_out_share]) {
        let contrast = of_contrast * model.contrast;
        let at = [model.other_mean, contrast, math::ln(model.noise_multiplier), logit];
        let curvature = likelihood(&nodes(world, &at, share), &at).curvature;
        // the contrast of D′ is ρκ
        let factor = [1.0, of_contrast, 1.0, 1.0];
        for (row, column) in (0..4).flat_map(|row| (0..4).map(move |column| (row, column))) {
            total[row][column] -= factor[row] * factor[column] * curvature[row][column];
        }
    }
    total
}

/// The distribution of an output as a group of one: nodes about both means, with their probabilities.
fn nodes(world: World, [b, contrast, ln_noise, _]: &Coordinates, share: f64) -> OutputGroup {
    let noise = math::exp(*ln_noise);
    let (mut values, mut counts) = (Vec::new(), Vec::new());
    let count = (FARTHEST / STEP) as i32;
    for (mean, weight) in [(*b, 1.0 - share), (b + contrast, share)] {
        for node in -count..=count {
            let z = f64::from(node) * STEP;
            values.push(mean + noise * z);
            counts.push(weight * STEP * math::exp(-0.5 * z * z - math::LN_SQRT_2PI));
        }
    }
    OutputGroup { world, presence: Presence::Drawn, values, counts, total: 1.0 }
}

/// An element of the diagonal of an inverse, by Gaussian elimination with pivots on the diagonal: the
/// matrix is positive definite, or has no inverse.
fn inverse_element(mut matrix: [[f64; 4]; 4], index: usize) -> Option<f64> {
    let scale = (0..4).map(|row| matrix[row][row]).fold(0.0, f64::max);
    for pivot in (0..4).filter(|pivot| *pivot != index) {
        let row = matrix[pivot];
        if !(row[pivot] > 1e-14 * scale) {
            return None;
        }
        for other in (0..4).filter(|other| *other != pivot) {
            let factor = matrix[other][pivot] / row[pivot];
            (0..4).for_each(|column| matrix[other][column] -= factor * row[column]);
        }
    }
    Some(1.0 / matrix[index][index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_needed_and_ratios_found_are_inverse() {
        let model = OutputModel {
            other_mean: -1.0,
            contrast: 2.0,
            zero_out_share: 0.5,
            noise_multiplier: 1.0,
            uses: 1.0,
        };
        let power = NoisePower::of_outputs(&model, 10).unwrap();
        let outputs = power.outputs_needed(0.8, 8, 0.9).unwrap();
        assert!((power.ratio_found(outputs, 8, 0.9).unwrap() - 0.8).abs() < 1e-12);
        // nothing distinguishes the target from the other batches
        assert_eq!(NoisePower::of_outputs(&OutputModel { contrast: 0.0, ..model }, 10), None);
        let always = NoisePower::of_outputs(&OutputModel { uses: 10.0, ..model }, 10);
        assert_eq!(always, Some(NoisePower::with_sums()));
        assert_eq!(power.ratio_found(0.0, 8, 0.9), None);
        assert_eq!(power.outputs_needed(1.0, 8, 0.9), None);
    }
}
