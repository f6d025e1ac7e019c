//! What the parameters of an explanation say of each world.

use super::explanation::Explanation;
use super::groups::OutputGroups;
use super::likelihood::Coordinates;
use crate::adjacency::World;
use crate::math;
use crate::recorded::output_model::OutputModel;

/// Parameters of an explanation; those that it does not use are 0.
pub(super) type Parameters = [f64; 4];

/// [`Family::last_gain`] of fits whose values are reported.
const LAST_GAIN: f64 = 1e-9;

/// Logits beyond are probabilities of 0 or 1.
const LARGEST_LOGIT: f64 = 25.0;

/// Largest ln of a noise multiplier or a factor, to either side.
const LARGEST_LN: f64 = 8.0;

/// The distributions of both worlds under an explanation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Family {
    pub(super) explanation: Explanation,
    stated: OutputModel,
    ln_noise: f64,
    logit: f64,
    /// Gain of ln L of a full step below which it is the last.
    pub(super) last_gain: f64,
    median: f64,
    /// Standard deviation of the outputs by their middle half, the unit of steps of means.
    spread: f64,
}

/// Coordinates of a world, and their derivatives by the parameters.
pub(super) struct Place {
    pub(super) coordinates: Coordinates,
    change: [[f64; 4]; 4],
    bend: [f64; 4],
}

impl Place {
    /// First derivatives by a parameter.
    pub(super) fn change(&self, parameter: usize) -> [f64; 4] {
        self.change[parameter]
    }

    /// Second derivatives by a parameter: only a factor has any.
    pub(super) fn bend(&self, parameter: usize) -> [f64; 4] {
        if parameter == 0 { self.bend } else { [0.0; 4] }
    }
}

impl Family {
    /// An explanation of outputs of `steps` per epoch.
    pub(super) fn new(
        explanation: Explanation,
        stated: &OutputModel,
        steps: f64,
        (median, spread): (f64, f64),
    ) -> Self {
        let share = stated.uses / steps;
        Family {
            explanation,
            stated: *stated,
            ln_noise: math::ln(stated.noise_multiplier),
            logit: math::ln(share) - math::ln_1p(-share),
            last_gain: LAST_GAIN,
            median,
            spread: if spread > 0.0 { spread } else { stated.noise_multiplier },
        }
    }

    /// The coordinates of a world.
    pub(super) fn place(&self, world: World, at: &Parameters) -> Place {
        let OutputModel { other_mean, contrast, zero_out_share, .. } = self.stated;
        let is_target = world == World::Target;
        let share = if is_target { 1.0 } else { zero_out_share };
        let stated = [at[0], share * contrast, self.ln_noise, self.logit];
        let with = |changes: &[(usize, f64)]| {
            let mut place = stated;
            changes.iter().for_each(|&(index, value)| place[index] = value);
            place
        };
        // each parameter is one coordinate, times a share
        let moved = |coordinates, of: [Option<(usize, f64)>; 4]| {
            let change = of.map(|of| {
                let mut unit = [0.0; 4];
                if let Some((index, share)) = of {
                    unit[index] = share;
                }
                unit
            });
            Place { coordinates, change, bend: [0.0; 4] }
        };
        let mean = Some((0, 1.0));
        match self.explanation {
            Explanation::Stated | Explanation::Negated | Explanation::Swapped => {
                let contrast = match self.explanation {
                    Explanation::Negated => -share * contrast,
                    Explanation::Swapped if is_target => zero_out_share * contrast,
                    Explanation::Swapped => contrast,
                    _ => share * contrast,
                };
                moved(with(&[(1, contrast)]), [mean, None, None, None])
            }
            Explanation::Noise => moved(with(&[(2, at[1])]), [mean, Some((2, 1.0)), None, None]),
            Explanation::Uses => moved(with(&[(3, at[1])]), [mean, Some((3, 1.0)), None, None]),
            Explanation::Size if is_target => {
                moved(with(&[(1, at[1])]), [mean, Some((1, 1.0)), None, None])
            }
            Explanation::Size => moved(stated, [mean, None, None, None]),
            Explanation::NoiseByWorld if is_target => {
                moved(with(&[(2, at[1])]), [mean, Some((2, 1.0)), None, None])
            }
            Explanation::NoiseByWorld => {
                moved(with(&[(2, at[2])]), [mean, None, Some((2, 1.0)), None])
            }
            Explanation::All => moved(
                [at[0], share * at[1], at[2], at[3]],
                [mean, Some((1, share)), Some((2, 1.0)), Some((3, 1.0))],
            ),
            Explanation::Scaled | Explanation::Unclipped => {
                let factor = math::exp(at[0]);
                let means = [factor * other_mean, factor * share * contrast];
                let by_ln = if self.explanation == Explanation::Scaled { 1.0 } else { 0.0 };
                let ln_noise = self.ln_noise + by_ln * at[0];
                let change = [[means[0], means[1], by_ln, 0.0], [0.0; 4], [0.0; 4], [0.0; 4]];
                let bend = [means[0], means[1], 0.0, 0.0];
                Place { coordinates: [means[0], means[1], ln_noise, self.logit], change, bend }
            }
        }
    }

    /// The parameters that the outputs can show.
    pub(super) fn used(&self, groups: &OutputGroups) -> [bool; 4] {
        let count = self.explanation.parameters();
        let mut used = [0, 1, 2, 3].map(|index| index < count);
        if let Some(index) = self.explanation.logit_index().filter(|_| !groups.has_drawn()) {
            used[index] = false;
        }
        used
    }

    /// The largest change of a step, means in units of the spread.
    pub(super) fn longest(&self, step: &Parameters) -> f64 {
        let scaled = step.iter().enumerate().map(|(index, change)| {
            if self.explanation.is_mean(index) {
                change / self.spread.max(self.stated.noise_multiplier)
            } else {
                *change
            }
        });
        scaled.fold(0.0, |longest: f64, change| longest.max(change.abs()))
    }

    /// The parameters with logarithms and logits within their limits.
    pub(super) fn within(&self, at: Parameters) -> Parameters {
        let mut at = at;
        for (index, value) in at.iter_mut().enumerate().take(self.explanation.parameters()) {
            if Some(index) == self.explanation.logit_index() {
                *value = math::clamp(*value, -LARGEST_LOGIT, LARGEST_LOGIT);
            } else if !self.explanation.is_mean(index) {
                *value = math::clamp(*value, -LARGEST_LN, LARGEST_LN);
            }
        }
        at
    }

    /// Where the search for the maximum starts: the stated parameters, the median and spread of the
    /// outputs, and twice the stated contrast.
    pub(super) fn starts(&self) -> Vec<Parameters> {
        let OutputModel { other_mean: b, contrast, .. } = self.stated;
        let Family { ln_noise, logit, median, .. } = *self;
        let ln_spread = math::ln(self.spread);
        match self.explanation {
            Explanation::Stated | Explanation::Swapped => {
                vec![[b, 0.0, 0.0, 0.0], [median, 0.0, 0.0, 0.0]]
            }
            Explanation::Negated => vec![[-b, 0.0, 0.0, 0.0], [median, 0.0, 0.0, 0.0]],
            Explanation::Noise => {
                vec![[b, ln_noise, 0.0, 0.0], [median, ln_spread, 0.0, 0.0]]
            }
            Explanation::NoiseByWorld => {
                vec![[b, ln_noise, ln_noise, 0.0], [median, ln_spread, ln_spread, 0.0]]
            }
            Explanation::Uses => {
                vec![[b, logit, 0.0, 0.0], [median, logit + math::ln(2.0), 0.0, 0.0]]
            }
            Explanation::Size => vec![[b, 2.0 * contrast, 0.0, 0.0]],
            Explanation::All => vec![
                [b, contrast, ln_noise, logit],
                [median, contrast, ln_spread, logit],
                [median, 2.0 * contrast, ln_spread, logit],
            ],
            Explanation::Scaled => vec![[0.0; 4], [ln_spread - ln_noise, 0.0, 0.0, 0.0]],
            Explanation::Unclipped => {
                let factor = median / b;
                let start = if factor > 0.0 { math::ln(factor) } else { math::ln(2.0) };
                vec![[0.0; 4], [start, 0.0, 0.0, 0.0]]
            }
        }
    }
}
