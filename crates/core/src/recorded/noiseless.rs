//! Recorded outputs without noise.

use super::independence::RecordedRuns;
use super::noiseless_cells::NoiselessCells;
use crate::adjacency::World;
use crate::mechanism::OutputScorer;

/// Fewer outputs decide nothing.
pub(super) const LEAST_OUTPUTS: usize = 10;

/// Zeros for each repetition of another value that rounding does not explain.
const MORE_ZEROS: usize = 5;

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

/// Outputs that are exactly 0, and all finite ones: more zeros than any other value repeats. Noise of a
/// continuous distribution is no value twice; on the grid of rounded outputs, other values near 0 are as
/// frequent as 0. Batches are empty by chance, so the zeros are those of several steps and epochs; cells
/// without noise are left out.
pub(crate) fn no_noise_in_empty_batches(
    worlds: [RecordedRuns<'_>; 2],
    noiseless: &NoiselessCells,
) -> Option<(u64, u64)> {
    let steps = worlds[0].steps();
    let mut zeros: Vec<usize> = Vec::new();
    let mut others: Vec<f64> = Vec::new();
    for run in worlds.iter().flat_map(RecordedRuns::runs) {
        for (cell, &output) in run.iter().enumerate().filter(|(_, o)| o.is_finite()) {
            match output == 0.0 {
                _ if noiseless.contains(cell) => (),
                true => zeros.push(cell),
                false => others.push(output),
            }
        }
    }
    let are_many = |place: &dyn Fn(usize) -> usize, places: usize| {
        places == 1 || zeros.iter().any(|&cell| place(cell) != place(zeros[0]))
    };
    if zeros.len() < LEAST_OUTPUTS
        || !are_many(&|cell| cell % steps, steps)
        || !are_many(&|cell| cell / steps, worlds[0].epochs)
    {
        return None;
    }
    let outputs = (others.len() + zeros.len()) as u64;
    others.sort_unstable_by(f64::total_cmp);
    let most = others.chunk_by(|a, b| a == b).map(<[f64]>::len).max()?;
    (zeros.len() > MORE_ZEROS * most).then_some((zeros.len() as u64, outputs))
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
