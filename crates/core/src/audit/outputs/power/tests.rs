use super::*;
use crate::mechanism::{BatchSampler, BatchedGaussian, OutputOptions, OutputScorer, ThreatModel};
use crate::random::{Purpose, Words};
use crate::recorded::independence::RecordedRuns;
use crate::special::normal;

const STEPS: u32 = 10;
const MODELS: [ThreatModel; 3] =
    [ThreatModel::PartiallyInformed, ThreatModel::WorstCase, ThreatModel::TargetCanary];

/// What is done to the outputs of a correct training.
#[derive(Debug, Clone, Copy)]
struct Fault {
    /// Size of the canary.
    size: f64,
    /// What outputs are multiplied by.
    factor: f64,
    swapped: bool,
}

const CORRECT: Fault = Fault { size: 1.0, factor: 1.0, swapped: false };

fn scorer(threat_model: ThreatModel, noise_multiplier: f64) -> OutputScorer {
    let mechanism = BatchedGaussian {
        noise_multiplier,
        steps_per_epoch: STEPS,
        epochs: 1,
        sampler: BatchSampler::Shuffle,
        threat_model,
        batch_size: Some(8),
    };
    OutputScorer::new(&mechanism, OutputOptions::default()).unwrap()
}

fn finding(
    truth: &OutputScorer,
    assumed: &OutputScorer,
    fault: Fault,
    runs: usize,
    repetition: u64,
) -> Option<Finding> {
    let mut words = Words::new(31, Purpose::Test, repetition);
    let mut uniform = || (f64::from(words.next_word()) + 0.5) / 4_294_967_296.0;
    let means = truth.mechanism().batch_means().unwrap();
    let noise = truth.mechanism().noise_multiplier;
    let mut world = |own: f64| -> Vec<f64> {
        let mut outputs = Vec::new();
        for _ in 0..runs {
            let place = (uniform() * f64::from(STEPS)) as u32;
            outputs.extend((0..STEPS).map(|step| {
                let mean = if step == place { means.zero_out + own } else { means.other };
                fault.factor * (mean + noise * normal::quantile(uniform()))
            }));
        }
        outputs
    };
    let mut worlds = [world(fault.size), world(0.0)];
    if fault.swapped {
        worlds.reverse();
    }
    let view = |values| RecordedRuns::new(values, 1, STEPS as usize).unwrap();
    let scores = |world: &[f64]| -> Vec<f64> {
        world.chunks_exact(STEPS as usize).map(|run| assumed.score(run).unwrap()).collect()
    };
    let slope = ScoreSlope::of_scores(&scores(&worlds[0]), &scores(&worlds[1]));
    let outputs = RecordedOutputs {
        scorer: assumed,
        target: view(&worlds[0]),
        zero_out: view(&worlds[1]),
        searches_buffer: false,
        counts_failed_runs: false,
    };
    outputs.power(slope)
}

#[test]
fn correct_code_has_no_finding() {
    let mut alarms = 0;
    for threat_model in MODELS {
        for (noise, runs) in [(0.5, 40), (1.0, 100), (2.0, 60)] {
            let scorer = scorer(threat_model, noise);
            let found = |repetition| finding(&scorer, &scorer, CORRECT, runs, repetition);
            alarms += (0..150).filter_map(found).count();
        }
    }
    // 1,350 audits: 1.35 expected at most; 9 or more with a chance below 1e-4
    assert!(alarms < 9, "{alarms}");
}

#[test]
fn every_fault_of_the_canary_has_its_finding() {
    for threat_model in MODELS {
        let scorer = scorer(threat_model, 0.7);
        let found = |fault, runs| finding(&scorer, &scorer, fault, runs, 3);
        let half = found(Fault { size: 0.5, ..CORRECT }, 2000);
        assert!(matches!(half, Some(Finding::CanarySizeDiffers { size }) if size.upper < 0.9));
        let triple = found(Fault { size: 3.0, ..CORRECT }, 400);
        assert!(matches!(triple, Some(Finding::CanarySizeDiffers { size }) if size.lower > 2.0));
        let none = found(Fault { size: 0.0, ..CORRECT }, 800);
        assert!(matches!(none, Some(Finding::NoCanary { .. })), "{none:?}");
        let swapped = found(Fault { swapped: true, ..CORRECT }, 400);
        assert!(matches!(swapped, Some(Finding::WorldsSwapped { .. })), "{swapped:?}");
        let negated = found(Fault { factor: -1.0, ..CORRECT }, 400);
        assert!(matches!(negated, Some(Finding::OutputsNegated { .. })), "{negated:?}");
    }
}

#[test]
fn a_wrong_threat_model_is_recognised_by_the_other_batches() {
    for (truth, assumed) in MODELS.iter().flat_map(|t| MODELS.map(|a| (*t, a))) {
        if truth != assumed {
            let found = finding(&scorer(truth, 1.0), &scorer(assumed, 1.0), CORRECT, 100, 4);
            let named = found.and_then(|found| match found {
                Finding::OtherBatchesDiffer { threat_model, .. } => threat_model,
                _ => None,
            });
            assert_eq!(named, Some(truth), "{assumed:?} {found:?}");
        }
    }
}

#[test]
fn scores_of_far_less_noise_have_another_slope() {
    let (loud, quiet) = (2.0, 1.0);
    let threat_model = ThreatModel::TargetCanary;
    let found =
        finding(&scorer(threat_model, loud), &scorer(threat_model, quiet), CORRECT, 4000, 5);
    assert!(matches!(found, Some(Finding::SlopeDiffers { .. })), "{found:?}");
}

#[test]
fn a_canary_too_small_for_the_noise_of_the_sums_is_missed_by_the_slope() {
    let scorer = scorer(ThreatModel::PartiallyInformed, 1.0);
    let found = finding(&scorer, &scorer, Fault { size: 0.0, ..CORRECT }, 250, 6);
    assert!(matches!(found, Some(Finding::NoCanary { slope: Some(_), .. })), "{found:?}");
}
