//! Recorded outputs without noise.

use crate::adjacency::World;
use crate::mechanism::OutputScorer;

/// Fewer outputs decide nothing.
pub(super) const LEAST_OUTPUTS: usize = 10;

/// Deviation from the noiseless value, relative to max(1, |value|), that rounding may cause.
const ROUNDING: f64 = 1e-6;

/// Whether every output of a world is one of its two noiseless values: the mean of the target's
/// batch, or that of the other batches.
///
/// | argument | meaning | unit |
/// |---|---|---|
/// | `outputs` | outputs of all runs of the world; values that are not finite are ignored | clip norms |
///
/// # Guarantee
/// If each output has independent noise N(0, σ²), a false alarm has probability at most
/// (1.6·10⁻⁶·m/σ)ⁿ for n ≥ 10 outputs whose noiseless values are at most m ≥ 1 clip norms
/// (`unit::noise_is_never_mistaken_for_none`).
#[must_use]
pub fn is_noiseless(scorer: &OutputScorer, world: World, outputs: &[f64]) -> bool {
    let Ok((shift, other)) = scorer.shift_and_other(world) else { return false };
    let mut finite = 0;
    for &output in outputs.iter().filter(|output| output.is_finite()) {
        if !is_near_noiseless(output, other) && !is_near_noiseless(output, other + shift) {
            return false;
        }
        finite += 1;
    }
    finite >= LEAST_OUTPUTS
}

/// Whether an output is its noiseless value, up to rounding.
pub(crate) fn is_near_noiseless(output: f64, mean: f64) -> bool {
    (output - mean).abs() <= ROUNDING * mean.abs().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::{BatchSampler, BatchedGaussian, OutputOptions, ThreatModel};
    use crate::special::normal;

    fn scorer(threat_model: ThreatModel, noise_multiplier: f64) -> OutputScorer {
        let mechanism = BatchedGaussian {
            noise_multiplier,
            steps_per_epoch: 5,
            epochs: 1,
            sampler: BatchSampler::Shuffle,
            threat_model,
            batch_size: Some(100),
        };
        OutputScorer::new(&mechanism, OutputOptions::default()).unwrap()
    }

    fn outputs(scorer: &OutputScorer, world: World, noise: f64) -> Vec<f64> {
        let (shift, other) = scorer.shift_and_other(world).unwrap();
        let quantile = |index: u32| normal::quantile((f64::from(index) + 0.5) / 100.0);
        let at = |index: u32| {
            let mean = if index.is_multiple_of(5) { other + shift } else { other };
            mean + noise * quantile(index)
        };
        (0..100).map(at).collect()
    }

    #[test]
    fn noise_is_never_mistaken_for_none() {
        for threat_model in
            [ThreatModel::WorstCase, ThreatModel::PartiallyInformed, ThreatModel::TargetCanary]
        {
            let scorer = scorer(threat_model, 0.2);
            for world in [World::Target, World::ZeroOut] {
                assert!(is_noiseless(&scorer, world, &outputs(&scorer, world, 0.0)));
                for noise in [1e-3, 0.2] {
                    assert!(!is_noiseless(&scorer, world, &outputs(&scorer, world, noise)));
                }
            }
        }
    }

    #[test]
    fn values_stored_as_single_floats_are_noiseless_and_few_values_decide_nothing() {
        let scorer = scorer(ThreatModel::WorstCase, 1.0);
        let exact = outputs(&scorer, World::Target, 0.0);
        let stored: Vec<f64> = exact.iter().map(|&output| f64::from(output as f32)).collect();
        assert!(is_noiseless(&scorer, World::Target, &stored));
        assert!(!is_noiseless(&scorer, World::Target, &stored[..9]));
        let mut failed = stored.clone();
        failed[3] = f64::NAN;
        assert!(is_noiseless(&scorer, World::Target, &failed));
        failed[3] = stored[3] + 0.5;
        assert!(!is_noiseless(&scorer, World::Target, &failed));
        assert!(!is_noiseless(&scorer, World::Target, &[f64::NAN; 50]));
    }
}
