use super::*;
use crate::audit::outputs::tests::simulated::{CORRECT, MODELS, Training, only};
use crate::mechanism::BatchSampler;

#[test]
fn sums_and_uses_show_each_cause() {
    for threat_model in MODELS {
        let training = Training { threat_model, ..CORRECT };
        let of = |training: Training| training.finding_with_sums();
        // far below what the outputs alone show
        let quieter = of(Training { noise: |_, _, _| 0.93, ..training });
        let Finding::NoiseBelowStated { noise, epochs: None, .. } = quieter else {
            panic!("{quieter:?}")
        };
        assert!((noise.value - 0.93).abs() < 0.03, "{noise:?}");
        let scaled = of(Training { factor: 0.9, ..training });
        let Finding::OutputsScaled { factor, .. } = scaled else { panic!("{scaled:?}") };
        assert!((factor.value - 0.9).abs() < 0.03, "{factor:?}");
        let twice = of(Training { uses: 2, ..training });
        let Finding::UsesDiffer { uses, .. } = twice else { panic!("{twice:?}") };
        assert_eq!(uses.value, 2.0);
        let larger = of(Training { size: 1.2, ..training });
        let Finding::CanarySizeDiffers { size, .. } = larger else { panic!("{larger:?}") };
        assert!((size.value - 1.2).abs() < 1e-6, "{size:?}");
        let none = of(Training { size: 0.0, ..training });
        assert!(
            matches!(none, Finding::NoCanary { .. } | Finding::CanarySizeDiffers { .. }),
            "{none:?}"
        );
        let swapped = of(Training { swapped: true, ..training });
        assert!(matches!(swapped, Finding::WorldsSwapped { .. }), "{swapped:?}");
        let negated = of(Training { factor: -1.0, ..training });
        assert!(matches!(negated, Finding::OutputsNegated { .. }), "{negated:?}");
        let by_world = |is_target, _, _| if is_target { 1.1 } else { 0.95 };
        let noisier = of(Training { noise: by_world, ..training });
        assert!(matches!(noisier, Finding::NoiseDiffersByWorld { .. }), "{noisier:?}");
        let found = training.behaviour_as(threat_model, true, 5);
        assert!(found.findings.is_empty(), "{:?}", found.findings);
    }
    let unclipped = Training { clip: 1.2, ..CORRECT }.finding_with_sums();
    let Finding::RecordsNotClipped { factor, .. } = unclipped else { panic!("{unclipped:?}") };
    assert!((factor.value - 1.2).abs() < 1e-6, "{factor:?}");
}

#[test]
fn correct_code_has_no_finding() {
    let (mut alarms, mut audits) = (0, 0);
    let poisson = BatchSampler::Poisson;
    let drifts = [|_, _| 0.0, |_, step| if step < 3 { 9.0 } else { 0.0 }];
    for (threat_model, sampler) in
        MODELS.map(|model| (model, BatchSampler::Shuffle)).into_iter().chain([(MODELS[2], poisson)])
    {
        for (noise, runs, steps) in
            [((|_, _, _| 0.5) as fn(bool, u32, u32) -> f64, 40, 10), (|_, _, _| 2.0, 60, 20)]
        {
            let stated_noise = noise(true, 0, 0);
            let training =
                Training { threat_model, sampler, stated_noise, noise, runs, steps, ..CORRECT };
            for repetition in 0..6 {
                let drift = drifts[repetition as usize % 2];
                let found = Training { drift, ..training }.behaviour(repetition);
                alarms += usize::from(!found.findings.is_empty());
                audits += 1;
                assert_eq!(found.phases.len(), 2);
            }
        }
    }
    // 48 audits: 0.06 expected; 2 or more with a chance of 2e-3, for a fixed seed
    assert!(alarms < 2 && audits == 48, "{alarms} of {audits}");
}

#[test]
fn noise_halved_in_one_epoch_is_found_there() {
    let halved = Training { noise: |_, epoch, _| if epoch == 1 { 0.5 } else { 1.0 }, ..CORRECT };
    for has_sums in [false, true] {
        let found = halved.behaviour_as(halved.threat_model, has_sums, 3);
        let [Finding::NoiseBelowStated { epochs: Some([1, 1]), noise, stated, phases: 1 }] =
            found.findings[..]
        else {
            panic!("{:?}", found.findings);
        };
        assert!((noise.value - 0.5).abs() < 0.02 && stated == 1.0, "{noise:?}");
        assert!(noise.upper - noise.lower < 0.06);
        assert!((found.phases[0].noise.value - 1.0).abs() < 0.05);
        assert_eq!(found.phases[1].is_noise_exact, has_sums);
    }
}

#[test]
fn a_tenth_less_noise_is_found_as_often_as_by_the_zero_out_world() {
    let of_noise = |noise: fn(bool, u32, u32) -> f64| {
        let training = Training { noise, runs: 200, ..CORRECT };
        let found = (0..10).filter(|&repetition| {
            let found = training.behaviour(repetition).findings;
            let is_found = matches!(found[..], [Finding::NoiseBelowStated { .. }]);
            assert!(is_found || found.is_empty(), "{found:?}");
            is_found
        });
        found.count()
    };
    assert_eq!(of_noise(|_, _, _| 0.8), 10);
    // the variance of D′ alone finds 31 of 40
    assert!(of_noise(|_, _, _| 0.9) >= 8);
}

#[test]
fn steps_with_other_noise_are_named() {
    let poisson = Training {
        threat_model: ThreatModel::TargetCanary,
        sampler: BatchSampler::Poisson,
        steps: 20,
        epochs: 1,
        runs: 400,
        ..CORRECT
    };
    let silent = Training { noise: |_, _, step| if step == 7 { 0.0 } else { 1.0 }, ..poisson };
    assert_eq!(silent.finding(), no_noise_at(None, 7, 1, None));
    for training in [poisson, Training { steps: 20, epochs: 1, ..CORRECT }] {
        let quiet = |_, _, step| if step == 19 { 0.2 } else { 1.0 };
        let found = Training { noise: quiet, ..training }.finding();
        let Finding::NoiseDiffersByStep { found } = found else { panic!("{found:?}") };
        assert_eq!((found.step, found.steps), (19, 1));
        assert!((found.other_noise - 1.0).abs() < 0.05, "{found:?}");
        assert!((found.noise.value - 0.2).abs() < 0.04, "{found:?}");
    }
    let decaying = |_, _, step| 1.2 - 0.1 * f64::from(step);
    let found = Training { noise: decaying, runs: 200, ..CORRECT }.finding();
    assert!(matches!(found, Finding::NoiseDiffersByStep { found } if found.step == 9), "{found:?}");
}

#[test]
fn other_noise_of_epochs_and_worlds_is_named() {
    let decaying = |_, epoch, _| 1.0 - 0.15 * f64::from(epoch);
    let found = Training { noise: decaying, epochs: 4, ..CORRECT }.finding();
    assert!(
        matches!(found, Finding::NoiseBelowStated { epochs: Some([3, 3]), phases: 2..=3, .. }),
        "{found:?}"
    );
    let by_world = |is_target, _, _| if is_target { 1.15 } else { 0.85 };
    let found = Training { noise: by_world, ..CORRECT }.finding();
    let Finding::NoiseDiffersByWorld { target, zero_out } = found else { panic!("{found:?}") };
    assert!((target - 1.15).abs() < 0.1 && (zero_out - 0.85).abs() < 0.1, "{found:?}");
    let twice = Training { noise: |_, _, _| 2.0, ..CORRECT }.finding();
    assert!(matches!(twice, Finding::NoiseAboveStated { epochs: None, .. }), "{twice:?}");
    assert!(!twice.leaves_claims_open());
}

#[test]
fn a_record_that_stands_twice_and_unclipped_gradients_are_named() {
    let twice = Training { uses: 2, ..CORRECT }.finding();
    let Finding::UsesDiffer { epochs: None, uses, stated: 1.0 } = twice else {
        panic!("{twice:?}")
    };
    assert!((uses.value - 1.9).abs() < 0.3, "{uses:?}");
    let unclipped = Training { clip: 2.0, ..CORRECT }.finding();
    let Finding::RecordsNotClipped { factor, .. } = unclipped else { panic!("{unclipped:?}") };
    assert!((factor.value - 2.0).abs() < 0.1, "{factor:?}");
    for factor in [2.0, 0.125] {
        let scaled = Training { factor, ..CORRECT }.finding();
        let Finding::OutputsScaled { factor: found, .. } = scaled else { panic!("{scaled:?}") };
        assert!((found.value / factor - 1.0).abs() < 0.05, "{found:?}");
    }
}

#[test]
fn every_fault_of_the_canary_has_its_finding() {
    for threat_model in MODELS {
        let training = Training { threat_model, runs: 400, ..CORRECT };
        let triple = Training { size: 3.0, ..training }.finding();
        assert!(matches!(triple, Finding::CanarySizeDiffers { size, .. } if size.lower > 2.0));
        let none = Training { size: 0.0, runs: 800, ..training }.finding();
        assert!(matches!(none, Finding::NoCanary { .. }), "{none:?}");
        let swapped = Training { swapped: true, ..training }.finding();
        assert!(matches!(swapped, Finding::WorldsSwapped { .. }), "{swapped:?}");
        let negated = Training { factor: -1.0, ..training }.finding();
        assert!(matches!(negated, Finding::OutputsNegated { .. }), "{negated:?}");
    }
}

#[test]
fn a_wrong_threat_model_is_recognised_by_the_other_batches() {
    for (truth, assumed) in MODELS.iter().flat_map(|t| MODELS.map(|a| (*t, a))) {
        if truth != assumed {
            // few steps: the zero-out batch's share of the mean is large
            let training =
                Training { threat_model: truth, steps: 5, epochs: 1, runs: 200, ..CORRECT };
            let found = training.behaviour_as(assumed, false, 4).findings;
            let [Finding::OtherBatchesDiffer { mean, threat_model }] = found[..] else {
                panic!("{truth} {assumed} {found:?}");
            };
            assert_eq!(threat_model, Some(truth), "{assumed} {found:?}");
            let expected = training.scorer(truth).mechanism().batch_means().unwrap().other;
            assert!(mean.lower < expected && expected < mean.upper, "{truth} {mean:?}");
        }
    }
}

#[test]
fn zeros_of_empty_batches_are_counted_and_rounded_outputs_are_none() {
    let training = Training {
        threat_model: ThreatModel::TargetCanary,
        sampler: BatchSampler::Poisson,
        noise_in_empty: false,
        ..CORRECT
    };
    let found = training.finding();
    assert!(
        matches!(found, Finding::NoNoiseInEmptyBatches { zeros: 50..=120, outputs: 4_800 }),
        "{found:?}"
    );
    let [[target, _], ..] = Training { noise_in_empty: true, ..training }.record(1);
    let rounded: Vec<f64> = target.iter().map(|output| (output * 50.0).round() / 50.0).collect();
    let runs = RecordedRuns::new(&rounded, 2, 10).unwrap();
    assert!(rounded.iter().filter(|output| **output == 0.0).count() > 10);
    let none = NoiselessCells::default();
    assert_eq!(no_noise_in_empty_batches([runs, runs], &none), None);
    // of six runs, zeros that all lie at one step, or in one epoch, are no empty batches
    for is_silent in [|cell| cell % 10 == 3, |cell| cell < 10] {
        let silent =
            |(cell, output): (usize, &f64)| if is_silent(cell % 20) { 0.0 } else { *output };
        let few: Vec<f64> = target.iter().enumerate().map(silent).take(120).collect();
        let runs = RecordedRuns::new(&few, 2, 10).unwrap();
        assert_eq!(no_noise_in_empty_batches([runs, runs], &none), None);
    }
}

fn no_noise_at(epochs: Option<[u32; 2]>, step: u32, steps: u32, world: Option<World>) -> Finding {
    Finding::NoNoiseAtSteps { epochs, step, steps, world }
}

const POISSON: Training = Training {
    threat_model: ThreatModel::TargetCanary,
    sampler: BatchSampler::Poisson,
    steps: 20,
    runs: 300,
    ..CORRECT
};

#[test]
fn noise_missing_in_one_epoch_one_release_or_one_world_is_named() {
    for training in [POISSON, Training { threat_model: MODELS[0], steps: 20, ..CORRECT }] {
        let of = |noise| Training { noise, epochs: 3, ..training };
        let epoch = of(|_, epoch, _| f64::from(u8::from(epoch != 2)));
        assert_eq!(epoch.finding(), no_noise_at(Some([2, 2]), 0, 20, None));
        assert_eq!(epoch.behaviour(3).phases.len(), 2);
        assert_eq!(epoch.finding_with_sums(), no_noise_at(Some([2, 2]), 0, 20, None));
        let release = of(|_, epoch, step| f64::from(u8::from((epoch, step) != (0, 7))));
        assert_eq!(release.finding(), no_noise_at(Some([0, 0]), 7, 1, None));
        assert_eq!(release.finding_with_sums(), no_noise_at(Some([0, 0]), 7, 1, None));
        let in_target = of(|is_target, _, step| f64::from(u8::from(!is_target || step != 7)));
        assert_eq!(in_target.finding(), no_noise_at(None, 7, 1, Some(World::Target)));
    }
}

#[test]
fn noise_that_differs_at_most_steps_is_named() {
    let shuffled = Training { steps: 20, ..CORRECT };
    for has_sums in [false, true] {
        let most = Training { noise: |_, _, step| if step < 6 { 1.0 } else { 0.7 }, ..shuffled };
        let found = only(most.behaviour_as(most.threat_model, has_sums, 3));
        let Finding::NoiseDiffersByStep { found } = found else { panic!("{found:?}") };
        assert!(found.step >= 6 && (12..=14).contains(&found.steps), "{found:?}");
        assert!((found.other_noise - 1.0).abs() < 0.1, "{found:?}");
        assert!((found.noise.value - 0.7).abs() < 0.15, "{found:?}");
        // all steps alike are a fault of the whole training
        let all = Training { noise: |_, _, _| 0.7, ..shuffled };
        let found = only(all.behaviour_as(all.threat_model, has_sums, 3));
        assert!(matches!(found, Finding::NoiseBelowStated { epochs: None, .. }), "{found:?}");
    }
    // one step has still less than the others, which have less than stated
    let two = Training { noise: |_, _, step| if step == 4 { 0.2 } else { 0.7 }, ..shuffled };
    let found = two.behaviour(3).findings;
    let [Finding::NoiseDiffersByStep { found }, Finding::NoiseBelowStated { noise, .. }] =
        found[..]
    else {
        panic!("{found:?}")
    };
    assert_eq!((found.step, found.steps), (4, 1));
    assert!((noise.value - 0.7).abs() < 0.05 && (found.other_noise - 0.7).abs() < 0.05);
}

#[test]
fn a_scale_that_may_be_noise_alone_names_both() {
    let twice = Training { noise: |_, _, _| 2.0, runs: 120, ..POISSON };
    for repetition in 0..6 {
        match only(twice.behaviour(repetition)) {
            Finding::NoiseAboveStated { noise, .. }
            | Finding::OutputsScaled { noise: Some(noise), .. } => {
                assert!((noise.value - 2.0).abs() < 0.1, "{noise:?}");
            }
            found => panic!("{found:?}"),
        }
    }
    // what the target adds is seen, or b is not 0
    let scaled = [
        Training { factor: 2.0, stated_noise: 0.3, noise: |_, _, _| 0.3, ..POISSON },
        Training { factor: 2.0, ..CORRECT },
    ];
    for training in scaled {
        let found = training.finding();
        let Finding::OutputsScaled { factor, noise: None, .. } = found else { panic!("{found:?}") };
        assert!((factor.value - 2.0).abs() < 0.1, "{factor:?}");
    }
}
