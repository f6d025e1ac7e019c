//! A record that stands twice in the data.

use super::groups::{OutputGroup, OutputGroups, Presence};
use crate::adjacency::World;
use crate::math;
use crate::recorded::output_model::OutputModel;

/// Halvings of the interval of b, to 1e-9 of the contrast.
const ITERATIONS: u32 = 44;

/// The largest ln L over b if each of two copies of the target is in a batch with the stated chance: a
/// batch of both has the contrast twice, so that neither another number of uses nor another size
/// describes it. None where the target is not drawn.
pub(super) fn ln_likelihood_of_copies(
    groups: &OutputGroups,
    stated: &OutputModel,
    steps: f64,
    other_mean: f64,
) -> Option<f64> {
    if groups.0.iter().any(|group| group.presence == Presence::Always) || !groups.has_drawn() {
        return None;
    }
    let chance = stated.uses / steps;
    let at = |b: f64| groups.0.iter().map(|group| of_group(group, stated, chance, b)).sum::<f64>();
    // golden section
    let share = 0.5 * (5_f64.sqrt() - 1.0);
    let half = 0.5 * stated.contrast.abs();
    let [mut low, mut high] = [other_mean - half, other_mean + half];
    let [mut left, mut right] = [high - share * (high - low), low + share * (high - low)];
    let [mut at_left, mut at_right] = [at(left), at(right)];
    for _ in 0..ITERATIONS {
        if at_left > at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - share * (high - low);
            at_left = at(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + share * (high - low);
            at_right = at(right);
        }
    }
    Some(at_left.max(at_right))
}

fn of_group(group: &OutputGroup, stated: &OutputModel, chance: f64, b: f64) -> f64 {
    let contrast = match group.world {
        World::Target => stated.contrast,
        World::ZeroOut => stated.in_zero_out(),
    };
    let weights = match group.presence {
        Presence::Never => [1.0, 0.0, 0.0],
        _ => [(1.0 - chance) * (1.0 - chance), 2.0 * chance * (1.0 - chance), chance * chance],
    };
    let noise = stated.noise_multiplier;
    let constant = -math::ln(noise) - math::LN_SQRT_2PI;
    let of_output = |(output, count): (&f64, &f64)| {
        let z = [0.0, 1.0, 2.0].map(|copies| (output - b - copies * contrast) / noise);
        let least = z.iter().map(|z| z * z).fold(f64::INFINITY, f64::min);
        let terms = weights.iter().zip(z);
        let sum: f64 = terms.map(|(weight, z)| weight * math::exp(0.5 * (least - z * z))).sum();
        count * (constant - 0.5 * least + math::ln(sum))
    };
    group.values.iter().zip(&group.counts).map(of_output).sum()
}
