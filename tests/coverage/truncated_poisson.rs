//! Bounds cover where truncated Poisson batches are drawn record by record.

use dpscope_core::accounting::{Accountant, Given, Poisson, Query, Training};
use dpscope_core::adjacency::World;
use dpscope_core::audit::{AuditOptions, Scores};
use dpscope_core::mechanism::{
    BatchSampler, BatchedGaussian, OutputOptions, OutputScorer, ThreatModel, Truncation,
};
use dpscope_tests::Draws;

use crate::SIGNIFICANCE;
use crate::budget::Misses;

const RUNS: usize = 1_000;
const DELTA: f64 = 0.01;

/// Whether the target, record 0, is in a batch.
fn has_target(truncation: Truncation, steps: usize, draws: &mut Draws) -> bool {
    let mut drawn: Vec<u64> =
        (0..truncation.dataset_size).filter(|_| draws.below(steps) == 0).collect();
    draws.shuffle(&mut drawn);
    drawn.iter().take(truncation.max_batch_size as usize).any(|&record| record == 0)
}

/// Scores of both worlds, with the noise multiplied by `noise_factor`, of which the score knows nothing.
fn scores(
    scorer: &OutputScorer,
    truncation: Truncation,
    noise_factor: f64,
    draws: &mut Draws,
) -> [Vec<f64>; 2] {
    let steps = scorer.mechanism().steps_per_epoch as usize;
    World::BOTH.map(|world| {
        let mut score = |_| {
            let step = |_| {
                let is_shifted = has_target(truncation, steps, draws) && world == World::Target;
                f64::from(u8::from(is_shifted)) + noise_factor * draws.normal()
            };
            let outputs: Vec<f64> = (0..steps).map(step).collect();
            scorer.score(&outputs).expect("valid")
        };
        (0..RUNS).map(&mut score).collect()
    })
}

/// The mutant has half the noise.
#[test]
fn bounds_of_truncated_batches_cover() {
    for (dataset_size, max_batch_size, steps_per_epoch) in [(6, 2, 3), (12, 4, 4)] {
        let truncation = Truncation { dataset_size, max_batch_size };
        let mechanism = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch,
            epochs: 1,
            sampler: BatchSampler::TruncatedPoisson(truncation),
            threat_model: ThreatModel::TargetCanary,
            batch_size: None,
            dataset_size: None,
        };
        let scorer = OutputScorer::new(&mechanism, OutputOptions::default()).unwrap();
        // with other gradients of zero, the pair is that of Poisson batches at this rate
        let sampling_rate = scorer.distribution().sampling_rate();
        let training = Training { sampling_rate, ..Training::from(&mechanism) };
        let truth = Poisson.account(&Query::upper(training, Given::Delta(DELTA))).unwrap().epsilon;

        let options =
            AuditOptions { delta: DELTA, significance: SIGNIFICANCE, ..AuditOptions::default() };
        let audited = |noise_factor, draws: &mut Draws| {
            let [target, zero_out] = scores(&scorer, truncation, noise_factor, draws);
            Scores::new(&target, &zero_out).audit(&options).unwrap().epsilon()
        };
        let (mut bound, mut mutant, mut sum) = (Misses::default(), Misses::default(), 0.0);
        for repetition in 0..200 {
            let mut draws = Draws::of_run(302, repetition);
            let found = audited(1.0, &mut draws);
            bound.count(found > truth);
            sum += found;
            mutant.count(audited(0.5, &mut draws) > truth);
        }
        let mean = sum / 200.0;
        assert!(!bound.refute(SIGNIFICANCE), "{mechanism}: {bound:?}");
        assert!(mutant.refute(SIGNIFICANCE), "{mechanism}: {mutant:?}");
        assert!(mean > 0.3 * truth, "{mechanism}: {mean} says little of {truth}");
    }
}
