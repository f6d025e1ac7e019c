mod limits_of_noise;

use super::*;
use crate::adjacency::Adjacency;
use crate::math::powi;
use crate::random::{Purpose, Words};
use crate::special::normal;

const SIZES: [usize; 2] = [2400, 10];
const STEPS: usize = 3;

/// Noise of steps and tensors, entry by entry.
type Draws = Vec<Vec<Vec<f64>>>;

fn draws(
    stream: u64,
    steps: usize,
    sizes: &[usize],
    mut draw: impl FnMut(&mut Words) -> f64,
) -> Draws {
    let mut words = Words::new(3, Purpose::Test, stream);
    let mut tensor = |size: &usize| (0..*size).map(|_| draw(&mut words)).collect();
    (0..steps).map(|_| sizes.iter().map(&mut tensor).collect()).collect()
}

fn normals() -> Draws {
    draws(0, STEPS, &SIZES, Words::normal)
}

fn correlation(a: &[f64], b: &[f64]) -> Option<Correlation> {
    let sum = |f: fn(f64, f64) -> f64| a.iter().zip(b).map(|(a, b)| f(*a, *b)).sum::<f64>();
    let squares = sum(|a, _| a * a) * sum(|_, b| b * b);
    let value = (sum(|a, b| a * b) / squares.sqrt()).clamp(-1.0, 1.0);
    (squares > 0.0).then(|| Correlation { pairs: a.len().min(b.len()) as u64, value })
}

/// What a caller measures of the noise; tensors have rows of 8.
fn measured(draws: &Draws) -> Vec<Vec<TensorNoise>> {
    let tensor = |step: usize, place: usize| {
        let noise = &draws[step][place];
        TensorNoise {
            powers: [1, 2, 3, 4].map(|power| noise.iter().map(|e| powi(*e, power)).sum()),
            neighbours: correlation(noise, &noise[1..]),
            rows: correlation(noise, &noise[8..]),
            previous_step: step
                .checked_sub(1)
                .and_then(|last| correlation(noise, &draws[last][place])),
            ..TensorNoise::default()
        }
    };
    (0..draws.len())
        .map(|step| (0..draws[step].len()).map(|it| tensor(step, it)).collect())
        .collect()
}

/// A correct training under both relations: 3 steps, the target in the first.
fn correct() -> StepRecord {
    let original = |step: usize| ReplayedStep {
        is_finite: true,
        sum_norm: Some(20.0),
        target_norm: (step == 0).then_some(1.0),
        release_scale: Some(70.0),
        divisor: Some(70.0),
        sample_rate: Some(0.05),
        clip_norm: Some(0.8),
        learning_rate: Some(0.1),
        noise_multiplier: Some(1.0),
        ..ReplayedStep::default()
    };
    let replayed = |change: f64| {
        let step = |step: usize| ReplayedStep {
            target_norm: None,
            sum_change: Some(if step == 0 { change } else { 0.0 }),
            other_gradients: Some(OtherGradient { record: 9, change: 0.0 }),
            release_change: Some(1e-6),
            state: Some(StateChange { name: "weight".into(), change: 0.0 }),
            ..original(step)
        };
        Replay {
            steps_per_epoch: Some(20),
            steps: (0..STEPS).map(step).collect(),
            ..Replay::default()
        }
    };
    let neighbour = |adjacency| NeighbourReplay { adjacency, replay: replayed(1.0) };
    let tensor = |name: &str, size: usize| TrainedTensor { name: name.into(), size: size as u64 };
    StepRecord {
        target: 5,
        tensors: vec![tensor("weight", SIZES[0]), tensor("bias", SIZES[1])],
        precision: 1.2e-7,
        noise_multiplier: None,
        accountant: None,
        draws_random_numbers: false,
        buffers_examined: true,
        original: Replay {
            steps_per_epoch: Some(20),
            steps: (0..STEPS).map(original).collect(),
            ..Replay::default()
        },
        control: replayed(0.0),
        shape_control: None,
        replays: [Adjacency::ZeroOut, Adjacency::AddRemove].map(neighbour).into(),
        probes: Vec::new(),
        noise: measured(&normals()),
    }
}

fn probe(kind: ProbeKind, contribution: f64) -> Probe {
    let run = ProbeRun { failure: None, steps: 1, is_finite: true };
    Probe {
        kind,
        adjacency: Adjacency::ZeroOut,
        contribution: Some(contribution),
        other_gradients: None,
        runs: [run.clone(), run],
        learning_rates: [None; 2],
    }
}

/// Names of the findings, with their severities.
fn found(record: &StepRecord) -> Vec<(String, StepSeverity)> {
    let check = examine(record).unwrap();
    let name = |finding: &StepFinding| {
        let text = format!("{finding:?}");
        text.split([' ', '{']).next().unwrap_or_default().to_owned()
    };
    check.findings.iter().map(|it| (name(it), it.severity())).collect()
}

fn changed(change: impl Fn(&mut StepRecord)) -> StepRecord {
    let mut record = correct();
    change(&mut record);
    record
}

/// The first step of the replay under a relation.
fn first(record: &mut StepRecord, replay: usize) -> &mut ReplayedStep {
    &mut record.replays[replay].replay.steps[0]
}

fn with_noise(change: impl Fn(usize, usize, usize, f64) -> f64) -> Vec<Vec<TensorNoise>> {
    let mut draws = normals();
    for (step, tensors) in draws.iter_mut().enumerate() {
        for (place, tensor) in tensors.iter_mut().enumerate() {
            for (at, entry) in tensor.iter_mut().enumerate() {
                *entry = change(step, place, at, *entry);
            }
        }
    }
    measured(&draws)
}

/// A fault or its correct twin.
type Change = fn(&mut StepRecord);

const LAPLACE: fn(&mut Words) -> f64 = |words| {
    let uniform = words.uniform() - 0.5;
    -uniform.signum() * crate::math::ln_1p(-2.0 * uniform.abs()) / std::f64::consts::SQRT_2
};

/// Codes of findings that a caller sees in comparisons: a record that has one, and a twin without it.
const COMPARED: [(&str, StepSeverity, Change, Change); 20] = {
    use StepSeverity::{Note, Refutes, Violates, Warning};
    [
        (
            "SensitivityExceeded",
            Violates,
            |it| first(it, 0).sum_change = Some(83.0),
            |it| first(it, 0).sum_change = Some(1.0005),
        ),
        (
            "SensitivityExceeded",
            Violates,
            |it| it.probes.push(probe(ProbeKind::Inflated, 1.01)),
            |it| it.probes.push(probe(ProbeKind::Inflated, 1.0)),
        ),
        (
            "OtherGradientsChange",
            Violates,
            |it| first(it, 0).other_gradients = Some(OtherGradient { record: 9, change: 0.37 }),
            |it| first(it, 0).other_gradients = Some(OtherGradient { record: 9, change: 9e-4 }),
        ),
        (
            "StateDiffers",
            Refutes,
            |it| first(it, 0).state = Some(StateChange { name: "mean".into(), change: 0.1 }),
            |it| first(it, 0).state = Some(StateChange { name: "mean".into(), change: 9e-7 }),
        ),
        (
            "ReleaseDiffers",
            Violates,
            |it| first(it, 0).release_change = Some(0.1),
            |it| first(it, 0).release_change = Some(9e-4),
        ),
        (
            "ScaleDiffers",
            Violates,
            |it| first(it, 1).release_scale = Some(69.0),
            |it| first(it, 1).release_scale = Some(70.0 + 1e-5),
        ),
        ("DivisorDiffers", Violates, |it| first(it, 1).divisor = Some(69.0), |_| ()),
        ("SampleRateDiffers", Violates, |it| first(it, 1).sample_rate = Some(0.051), |_| ()),
        (
            "ClipNormDiffers",
            Violates,
            |it| {
                let clip_norm = Some(1.0);
                it.accountant = Some(AccountedSteps { clip_norm, ..AccountedSteps::default() });
            },
            |it| {
                let clip_norm = Some(0.8 + 1e-9);
                it.accountant = Some(AccountedSteps { clip_norm, ..AccountedSteps::default() });
            },
        ),
        ("LearningRateDiffers", Violates, |it| first(it, 0).learning_rate = Some(0.01), |_| ()),
        (
            "StepsDiffer",
            Refutes,
            |it| it.replays[0].replay.steps.truncate(1),
            |it| it.replays[0].replay.failure = Some("both fail".into()),
        ),
        (
            "StepsDiffer",
            Refutes,
            |it| {
                it.probes.push(probe(ProbeKind::ExtremeItem, 1.0));
                it.probes[0].runs[1].steps = 2;
            },
            |it| {
                it.replays[0].replay.steps.truncate(1);
                it.replays[0].replay.batches_without_step = 1;
            },
        ),
        (
            "LearningRateDiffers",
            Violates,
            |it| {
                it.probes.push(probe(ProbeKind::ExtremeItem, 1.0));
                it.probes[0].learning_rates = [Some(0.1), Some(0.01)];
            },
            |it| {
                it.probes.push(probe(ProbeKind::ExtremeItem, 1.0));
                it.probes[0].learning_rates = [Some(0.1), None];
            },
        ),
        (
            "BatchWithoutStep",
            Refutes,
            |it| it.replays[1].replay.batches_without_step = 1,
            |it| {
                it.probes.push(probe(ProbeKind::NotANumber, 1.0));
                it.probes[0].runs[1].steps = 2;
            },
        ),
        (
            "StepsPerEpochDiffer",
            Refutes,
            |it| it.replays[1].replay.steps_per_epoch = Some(19),
            |it| it.replays[1].replay.steps_per_epoch = None,
        ),
        (
            "ShapesDiffer",
            Refutes,
            |it| {
                let (original, replay) = (vec![10, 32], vec![9, 32]);
                let name = "weight".into();
                it.replays[0].replay.shape_change = Some(ShapeChange { name, original, replay });
            },
            |_| (),
        ),
        (
            "BatchWithoutStep",
            Refutes,
            |it| {
                it.probes.push(probe(ProbeKind::Alone, 1.0));
                it.probes[0].runs[1].steps = 0;
            },
            |it| it.probes.push(probe(ProbeKind::Alone, 1.0)),
        ),
        (
            "OneWorldFails",
            Refutes,
            |it| it.replays[1].replay.failure = Some("ZeroDivisionError".into()),
            |it| {
                it.original.failure = Some("ZeroDivisionError".into());
                it.control.failure = it.original.failure.clone();
                it.replays[0].replay.failure = it.original.failure.clone();
                it.replays[1].replay.failure = it.original.failure.clone();
            },
        ),
        (
            "NonFiniteGradient",
            Warning,
            |it| {
                it.probes.push(probe(ProbeKind::NotANumber, 1.0));
                it.probes[0].runs[0].is_finite = false;
            },
            |it| {
                it.probes.push(probe(ProbeKind::NotANumber, 1.0));
                it.probes[0].runs = [ProbeRun::default(), ProbeRun::default()];
            },
        ),
        ("RandomDrawsDiffer", Note, |it| it.replays[1].replay.random_draws_differ = true, |_| ()),
    ]
};

/// Codes about the noise, the accountant and the check itself.
const OTHERS: [(&str, StepSeverity, Change, Change); 12] = {
    use StepSeverity::{Note, Refutes, Violates};
    [
        (
            "NoNoise",
            Refutes,
            |it| it.noise = with_noise(|_, place, _, e| if place == 1 { 0.0 } else { e }),
            |it| it.noise = with_noise(|_, place, _, e| if place == 1 { 1e-2 * e } else { e }),
        ),
        (
            "NoiseBelowStated",
            Violates,
            |it| it.noise = with_noise(|_, _, _, e| 0.508 * e),
            |it| it.noise = with_noise(|_, _, _, e| 0.98 * e),
        ),
        (
            "NoiseBelowStated",
            Violates,
            |it| it.noise_multiplier = Some(2.0),
            |it| {
                it.noise_multiplier = Some(1.0);
                let noise_multiplier = Some(2.0);
                it.accountant =
                    Some(AccountedSteps { noise_multiplier, ..AccountedSteps::default() });
            },
        ),
        (
            "NoiseAboveStated",
            Note,
            |it| it.noise = with_noise(|step, _, _, e| if step == 1 { 1.5 * e } else { e }),
            |it| it.noise = with_noise(|_, _, _, e| 1.01 * e),
        ),
        (
            "NoiseReused",
            Violates,
            |it| {
                let first = normals()[0].clone();
                it.noise = measured(&vec![first; STEPS]);
            },
            |_| (),
        ),
        (
            "NoiseReused",
            Violates,
            |it| it.noise[1][0].other_seed = Some(Correlation { pairs: 2400, value: 1.0 }),
            |it| it.noise[1][0].other_seed = Some(Correlation { pairs: 2400, value: 0.05 }),
        ),
        (
            "NoiseReused",
            Violates,
            |it| it.noise[1][0].other_rank = Some(Correlation { pairs: 256, value: 1.0 }),
            |it| it.noise[1][0].other_rank = Some(Correlation { pairs: 255, value: 1.0 }),
        ),
        (
            "NoiseCorrelated",
            Violates,
            |it| {
                let rows = normals();
                it.noise = with_noise(|step, place, at, _| rows[step][place][at % 8]);
            },
            |_| (),
        ),
        (
            "NoiseNotNormal",
            Violates,
            |it| it.noise = measured(&draws(1, STEPS, &SIZES, LAPLACE)),
            |it| it.noise = measured(&draws(1, STEPS, &SIZES, Words::normal)),
        ),
        (
            "AccountedStepsDiffer",
            Violates,
            |it| {
                it.accountant =
                    Some(AccountedSteps { steps: Some(2), ..AccountedSteps::default() });
            },
            |it| {
                it.accountant =
                    Some(AccountedSteps { steps: Some(3), ..AccountedSteps::default() });
            },
        ),
        (
            "NotReproducible",
            Note,
            |it| it.control.steps[1].sum_change = Some(0.011),
            |it| it.control.steps[1].sum_change = Some(0.009),
        ),
        ("BuffersNotExamined", Note, |it| it.buffers_examined = false, |_| ()),
    ]
};

#[test]
fn each_fault_is_found_and_its_twin_is_not() {
    assert_eq!(found(&correct()), []);
    assert_eq!(examine(&correct()).unwrap().outcome, StepOutcome::NoViolationFound);
    for (code, severity, fault, twin) in COMPARED.into_iter().chain(OTHERS) {
        let faulty = found(&changed(fault));
        assert!(faulty.contains(&(code.to_owned(), severity)), "{code}: {faulty:?}");
        let correct = found(&changed(twin));
        assert!(correct.iter().all(|it| it.0 != code), "{code}: {correct:?}");
    }
}

#[test]
fn one_fault_has_one_finding() {
    let only = |change: Change| found(&changed(change)).len();
    for (code, _, fault, _) in COMPARED {
        assert_eq!(only(fault), 1, "{code}");
    }
    let without_bias: Change = OTHERS[0].2;
    assert_eq!(only(without_bias), 1, "the rest of the noise is as stated");
    let step = |finding: &StepFinding| match finding {
        StepFinding::NoiseAboveStated { scope, .. } => scope.clone(),
        other => panic!("{other:?}"),
    };
    let above = examine(&changed(OTHERS[3].2)).unwrap();
    assert_eq!(above.findings.iter().map(step).collect::<Vec<_>>(), [NoiseScope::Step(1)]);
}

#[test]
fn differences_count_beyond_those_of_the_control() {
    let exceeds = |control: f64| {
        let record = changed(|it| {
            it.control.steps[2].sum_change = Some(control);
            first(it, 0).sum_change = Some(1.05);
        });
        found(&record).iter().any(|it| it.0 == "SensitivityExceeded")
    };
    assert!(exceeds(0.0) && exceeds(4e-3) && !exceeds(6e-3));
    let with_shapes = changed(|it| {
        let mut shapes = it.control.clone();
        shapes.steps[0].other_gradients = Some(OtherGradient { record: 1, change: 0.01 });
        it.shape_control = Some(shapes);
        first(it, 1).other_gradients = Some(OtherGradient { record: 1, change: 0.05 });
    });
    assert_eq!(found(&with_shapes), [], "shapes alone change it as much");
    let zero_out = changed(|it| {
        it.shape_control = with_shapes.shape_control.clone();
        first(it, 0).other_gradients = Some(OtherGradient { record: 1, change: 0.05 });
    });
    assert_eq!(found(&zero_out).len(), 1, "zero-out keeps shapes");
}

#[test]
fn other_random_draws_leave_notes_and_the_row_of_the_target() {
    let dropout = |target: f64| {
        changed(|it| {
            it.draws_random_numbers = true;
            first(it, 1).sum_change = Some(7.0);
            first(it, 1).other_gradients = Some(OtherGradient { record: 1, change: 0.4 });
            it.original.steps[0].target_norm = Some(target);
        })
    };
    let found_in =
        |record: &StepRecord| found(record).into_iter().map(|it| it.1).collect::<Vec<_>>();
    assert_eq!(found_in(&dropout(1.0)), [StepSeverity::Note; 2]);
    assert_eq!(found_in(&dropout(3.0)), [StepSeverity::Violates, StepSeverity::Note]);
    assert_eq!(examine(&dropout(1.0)).unwrap().largest_change, Some(1.0));
}

#[test]
fn nothing_is_compared_after_the_state_differs_or_without_reproducible_sums() {
    let late = |it: &mut StepRecord| it.replays[0].replay.steps[2].sum_change = Some(9.0);
    assert_eq!(found(&changed(late)).len(), 1);
    let after = changed(|it| {
        late(it);
        first(it, 0).state = Some(StateChange { name: "mean".into(), change: 0.1 });
    });
    assert_eq!(found(&after), [("StateDiffers".to_owned(), StepSeverity::Refutes)]);
    let irreproducible = changed(|it| {
        late(it);
        it.control.steps[1].sum_change = Some(0.5);
    });
    assert_eq!(found(&irreproducible), [("NotReproducible".to_owned(), StepSeverity::Note)]);
    let check = examine(&irreproducible).unwrap();
    assert_eq!((check.outcome, check.control_difference), (StepOutcome::Incomplete, Some(0.5)));
    assert_eq!(examine(&changed(|it| it.noise.clear())).unwrap().outcome, StepOutcome::Incomplete);
}

#[test]
fn relations_are_named_and_a_divisor_explains_the_scale() {
    let both = changed(|it| {
        let step = first(it, 1);
        (step.divisor, step.release_scale) = (Some(69.0), Some(69.0));
    });
    let check = examine(&both).unwrap();
    let [StepFinding::DivisorDiffers { value }] = &check.findings[..] else { panic!("{check:?}") };
    assert_eq!([value.original, value.other], [70.0, 69.0]);
    assert_eq!(value.place.neighbours.differs, [Adjacency::AddRemove]);
    assert_eq!(value.place.neighbours.same, [Adjacency::ZeroOut]);
}

#[test]
fn invalid_records_are_refused_with_the_field() {
    let refused = |change: Change, message: &str| {
        let error = examine(&changed(change)).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    };
    refused(|it| it.tensors.clear(), "tensors has 0 entries; it must have 1 to 10000");
    refused(|it| it.tensors[1].size = 0, "tensors[1].size is 0; it must be at least 1");
    refused(|it| it.precision = f64::NAN, "precision is NaN");
    refused(|it| it.noise_multiplier = Some(0.0), "noise_multiplier is 0");
    refused(
        |it| first(it, 0).sum_change = Some(f64::INFINITY),
        "replays[0].replay.steps[0].sum_change",
    );
    refused(|it| it.replays[1].adjacency = Adjacency::Replace, "replays[1].adjacency is replace");
    refused(|it| it.replays[1].adjacency = Adjacency::ZeroOut, "replays[1].adjacency is zero-out");
    refused(|it| it.noise.truncate(2), "noise has 2 entries; it must have 0 or 3");
    refused(|it| it.noise[1].truncate(1), "noise[1] has 1 entries; it must have 0 or 2");
    refused(|it| it.noise[1][0].powers[3] = 1.0, "noise[1][0].powers[1]");
    refused(
        |it| it.noise[0][1].rows = Some(Correlation { pairs: 11, value: 0.0 }),
        "noise[0][1].rows.pairs is 11",
    );
    refused(
        |it| it.original.steps[2].noise_multiplier = None,
        "the noise multiplier of step 2 is unknown; pass noise_multiplier",
    );
}
