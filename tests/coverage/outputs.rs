//! Bounds of recorded outputs cover, whatever the order of the data.

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::{AuditOptions, RecordedOutputs, Scores};
use dpscope_core::mechanism::{
    BatchSampler, BatchedGaussian, OutputOptions, OutputScorer, ThreatModel,
};
use dpscope_core::recorded::independence::RecordedRuns;
use dpscope_tests::Draws;

use crate::SIGNIFICANCE;
use crate::budget::Misses;

const STEPS: usize = 200;
const RUNS: usize = 100;

fn noise(draws: &mut Draws) -> Vec<f64> {
    (0..RUNS * STEPS).map(|_| draws.normal()).collect()
}

/// The largest bound of all steps, each at the whole significance.
fn largest_bound(
    scorer: &OutputScorer,
    [target, zero_out]: [&[f64]; 2],
    options: &AuditOptions,
) -> f64 {
    let at_step = |step: u32| {
        let fixed = scorer.at_fixed_step(step).expect("valid");
        let scores = |world: &[f64]| -> Vec<f64> {
            world.chunks_exact(STEPS).map(|run| fixed.score(run).expect("valid")).collect()
        };
        let [target, zero_out] = [scores(target), scores(zero_out)];
        Scores::new(&target, &zero_out).audit(options).expect("valid").epsilon()
    };
    (0..STEPS as u32).map(at_step).fold(0.0, f64::max)
}

/// Worlds that do not differ, so that ε = 0. The mutant chooses the step on the runs that it evaluates.
#[test]
fn bounds_of_outputs_cover_for_every_order() {
    let mechanism = BatchedGaussian {
        noise_multiplier: 1.0,
        steps_per_epoch: STEPS as u32,
        epochs: 1,
        sampler: BatchSampler::Shuffle,
        threat_model: ThreatModel::TargetCanary,
        batch_size: None,
        dataset_size: None,
    };
    let scorer = OutputScorer::new(&mechanism, OutputOptions::default()).unwrap();
    let (mut misses, mut of_mutant) = (Misses::default(), Misses::default());
    for repetition in 0..100 {
        let mut draws = Draws::of_run(301, repetition);
        let [target, zero_out] = [noise(&mut draws), noise(&mut draws)];
        let view = |values| RecordedRuns::new(values, 1, STEPS).unwrap();
        let outputs = RecordedOutputs {
            scorer: &scorer,
            target: view(&target),
            zero_out: view(&zero_out),
            sums: None,
            uses: None,
            searches_buffer: false,
            counts_failed_runs: false,
        };
        let options = AuditOptions {
            threshold_rule: ThresholdRule::Simultaneous,
            significance: SIGNIFICANCE,
            cuts: 1,
            ..AuditOptions::default()
        };
        misses.count(outputs.audit(&options).unwrap().result.epsilon() > 0.0);

        let largest = largest_bound(&scorer, [&target, &zero_out], &options);
        of_mutant.count(largest > 0.0);
    }
    assert!(!misses.refute(SIGNIFICANCE), "{misses:?}");
    assert!(of_mutant.refute(SIGNIFICANCE), "{of_mutant:?}");
}
