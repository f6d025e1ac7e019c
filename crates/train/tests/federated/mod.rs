//! One-shot audits of federated trainings.

mod distribution;
mod oracle;
mod watched;

use dpscope_core::audit::one_shot::{
    CanaryDesign, CosineNull, NullTails, OneShotQuestion, OneShotResult,
};
use dpscope_core::math;
use dpscope_core::random::{Purpose, Words};
use dpscope_engine::{Artefact, MergeOptions, Shard, Unattended, begin, merge, run};
use dpscope_simulation::TrainingDigest;
use dpscope_train::data::Examples;
use dpscope_train::federated::{
    FederatedAttack, FederatedDescription, FederatedModels, FederatedPlan, FederatedSettings,
    FederatedTraining, FederatedUnit, NoiseMechanism, Participation, UpdateClipping,
};
use dpscope_train::{LayerSpec, ModelSpec, Shape, TrainError};

use oracle::{Fault, Oracle};

const SEED: u64 = 5;
const INPUTS: usize = 9;
const CLASSES: usize = 4;

const ADAPTIVE: UpdateClipping =
    UpdateClipping::Adaptive { initial: 0.1, quantile: 0.5, learning_rate: 0.2 };

const BANDED: NoiseMechanism = NoiseMechanism::Banded { bands: 3 };

fn settings() -> FederatedSettings {
    FederatedSettings {
        clients: 40,
        records_per_client: 3,
        concentration: Some(0.5),
        rounds: 4,
        participation: Participation::Shuffled { epochs: 1 },
        presentations: None,
        local_epochs: 2,
        local_batch_size: 3,
        local_learning_rate: 0.5,
        clipping: UpdateClipping::Fixed { norm: 0.3 },
        noise_multiplier: 0.2,
        noise_mechanism: NoiseMechanism::Gaussian,
        server_learning_rate: 1.5,
        server_momentum: 0.9,
        sees_updates: true,
    }
}

fn examples() -> Examples {
    signs(INPUTS, CLASSES)
}

/// Records of ±1 with random labels.
fn signs(inputs: usize, classes: usize) -> Examples {
    let mut words = Words::new(9, Purpose::Test, 1);
    let labels = (0..120).map(|_| words.below(classes as u32)).collect();
    let sign = |_| if words.next_word() & 1 == 1 { 1.0 } else { -1.0 };
    let values: Vec<f32> = (0..120 * inputs).map(sign).collect();
    Examples::from_values("signs", Shape::flat(inputs), classes, labels, values).unwrap()
}

fn spec() -> ModelSpec {
    linear(INPUTS, CLASSES)
}

fn linear(inputs: usize, classes: usize) -> ModelSpec {
    let layers = vec![LayerSpec::Linear { outputs: classes }];
    ModelSpec { input: Shape::flat(inputs), layers }
}

fn training(settings: FederatedSettings) -> FederatedTraining {
    FederatedTraining::new(&spec(), examples(), settings, SEED).unwrap()
}

fn plan(training: &FederatedTraining, mean: f64) -> FederatedPlan {
    FederatedPlan {
        design: CanaryDesign::Poisson { mean },
        repeats: 3,
        without_canaries: 1,
        unseen: 5,
        attack: FederatedAttack::FinalModel,
        delta: 1e-5,
        significance: 0.05,
        seed: SEED,
        training: TrainingDigest::of(training.description()),
    }
}

fn models(settings: FederatedSettings, mean: f64, threads: usize) -> FederatedModels {
    let training = training(settings);
    FederatedModels::new(plan(&training, mean), training, threads).unwrap()
}

fn trained(models: &FederatedModels, shard: Shard) -> Artefact<FederatedPlan> {
    let start = begin(models, shard.range(4).unwrap(), &Unattended).unwrap();
    pollster::block_on(run(models, start, &Unattended)).unwrap()
}

#[test]
fn shards_and_threads_change_nothing() {
    let whole = trained(&models(settings(), 6.0, 1), Shard::WHOLE);
    let models = models(settings(), 6.0, 3);
    let parts: Vec<Artefact<FederatedPlan>> = [2, 3, 1]
        .map(|index| trained(&models, Shard { index, count: 3 }))
        .map(|part| Artefact::from_bytes(&part.to_bytes()).unwrap())
        .into();
    let merged = merge(parts, MergeOptions::default()).unwrap();
    assert!(merged.is_complete());
    assert_eq!(merged.evidence, whole.evidence);
    let (tails, canaries) = whole.evidence.tails(FederatedAttack::KnownRounds, 3, (40, 4)).unwrap();
    assert_eq!(tails.len() as u64, canaries);
    assert_eq!(whole.evidence.models[3].canaries, 0);
}

/// The largest distance between cosines and those of an oracle with a fault, over all attacks.
fn distance(settings: FederatedSettings, fault: Fault) -> f64 {
    let models = models(settings, 6.0, 1);
    let found = trained(&models, Shard::WHOLE).evidence.models[1].clone();
    let (training, examples) = (models.training(), examples());
    let initial = training.initial().iter().map(|&value| f64::from(value)).collect();
    let oracle =
        Oracle { training, examples: &examples, initial, seed: SEED, expected_canaries: 6.0 };
    let expected = oracle.cosines(1, found.canaries, fault);
    let mut largest = 0.0_f64;
    for (attack, expected) in FederatedAttack::ALL.into_iter().zip(&expected) {
        let found = found.cosines(attack);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            largest = largest.max((found - expected).abs());
        }
    }
    largest
}

#[test]
fn cosines_equal_those_of_plain_loops_and_not_those_of_faulty_ones() {
    let faults = [
        Fault::NoMomentum,
        Fault::Unclipped,
        Fault::DividedByArrivals,
        Fault::ReusedNoise,
        Fault::LittleNoise,
        Fault::InitialKept,
        Fault::WeakCanaries,
    ];
    let error = distance(settings(), Fault::None);
    assert!(error < 1e-5, "{error}");
    for fault in faults {
        let error = distance(settings(), fault);
        assert!(error > 1e-3, "{fault:?}: {error}");
    }
    let presented = FederatedSettings { presentations: Some(2), ..settings() };
    let adaptive = FederatedSettings { clipping: ADAPTIVE, ..settings() };
    let adaptive_norms = FederatedSettings { clipping: ADAPTIVE, ..presented };
    let tree = FederatedSettings { noise_mechanism: NoiseMechanism::Tree, ..settings() };
    let banded = FederatedSettings { noise_mechanism: BANDED, ..adaptive_norms };
    for (settings, fault) in [
        (presented, Fault::NoMomentum),
        (adaptive, Fault::CountedCanaries),
        (adaptive_norms, Fault::OneNorm),
        (tree, Fault::IndependentNoise),
        (tree, Fault::PlainSums),
        (banded, Fault::IndependentNoise),
        (banded, Fault::PlainSums),
        (banded, Fault::OneNorm),
    ] {
        let error = distance(settings, Fault::None);
        assert!(error < 1e-5, "{error}");
        assert!(distance(settings, fault) > 1e-3, "{fault:?}");
    }
}

/// A training in which clients change nothing, so that canaries and noise alone move the model.
fn idle(participation: Participation) -> FederatedSettings {
    FederatedSettings {
        rounds: 8,
        participation,
        local_learning_rate: 0.0,
        clipping: UpdateClipping::Fixed { norm: 0.5 },
        noise_multiplier: 0.4,
        ..settings()
    }
}

/// Mean over canaries and units of √d·cosine, and its standard error.
fn mean_score(
    models: &FederatedModels,
    evidence: &[FederatedUnit],
    attack: FederatedAttack,
) -> (f64, f64) {
    let size = models.training().parameters() as f64;
    let cosines = evidence.iter().flat_map(|unit| unit.cosines(attack));
    let scores: Vec<f64> = cosines.map(|cosine| cosine * size.sqrt()).collect();
    let count = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / count;
    let square = scores.iter().map(|score| (score - mean) * (score - mean)).sum::<f64>();
    (mean, (square / (count - 1.0) / count).sqrt())
}

/// The expected score of canaries in the final model: √d·E\[⟨c, Δ⟩\]/‖Δ‖ with
/// Δ = Σ w_t(σC·z_t + C·Σᵢ cᵢ), where β is the momentum of w_t = (1 − β^(T−t+1))/(1 − β).
fn expected_final(rounds: u32, canaries: f64, sigma: f64, size: f64, momentum: f64) -> f64 {
    let weight = |round: u32| (round..rounds).fold(0.0, |weight, _| 1.0 + momentum * weight);
    let mean = (0..rounds).map(weight).sum::<f64>() / f64::from(rounds);
    let square = (0..rounds).map(|round| weight(round) * weight(round)).sum::<f64>();
    let per_round = canaries / f64::from(rounds);
    // ‖Δ‖² = (dσ² + canaries of a round)·Σ w²
    size.sqrt() * mean / ((size * sigma * sigma + per_round) * square).sqrt()
}

#[test]
fn final_scores_have_the_mean_of_the_linear_part() {
    let settings = idle(Participation::Shuffled { epochs: 1 });
    let spec = ModelSpec {
        input: Shape::flat(INPUTS),
        layers: vec![LayerSpec::Linear { outputs: 60 }, LayerSpec::Linear { outputs: CLASSES }],
    };
    let training = FederatedTraining::new(&spec, examples(), settings, SEED).unwrap();
    let size = training.parameters() as f64;
    let plan = FederatedPlan { repeats: 40, without_canaries: 0, ..plan(&training, 16.0) };
    let models = FederatedModels::new(plan, training, 2).unwrap();
    let start = begin(&models, Shard::WHOLE.range(40).unwrap(), &Unattended).unwrap();
    let done = pollster::block_on(run(&models, start, &Unattended)).unwrap();
    let (mean, error) = mean_score(&models, &done.evidence.models, FederatedAttack::FinalModel);
    let expected = expected_final(8, 16.0, 0.4, size, 0.9);
    assert!((mean - expected).abs() < 5.0 * error, "{mean} ± {error}, {expected}");
    // a mistake: less noise
    let quiet = expected_final(8, 16.0, 0.2, size, 0.9);
    assert!((mean - quiet).abs() > 5.0 * error, "{mean} ± {error}, {quiet}");
    // a known round shows 1/σ, less what the other canaries of the round hide
    let (mean, error) = mean_score(&models, &done.evidence.models, FederatedAttack::KnownRounds);
    let expected = size.sqrt() / (size * 0.16 + 1.0 + 16.0 / 8.0).sqrt();
    assert!((mean - expected).abs() < 5.0 * error + 0.02, "{mean} ± {error}, {expected}");
}

fn tails(unit: &FederatedUnit, size: u64) -> NullTails {
    CosineNull::new(size).unwrap().tails(&unit.unseen).unwrap()
}

/// A training with 3,000 directions that take no part.
fn with_unseen(settings: FederatedSettings) -> FederatedUnit {
    let training = training(settings);
    let plan = FederatedPlan { repeats: 1, unseen: 3_000, ..plan(&training, 12.0) };
    let models = FederatedModels::new(plan, training, 1).unwrap();
    let start = begin(&models, Shard::WHOLE.range(2).unwrap(), &Unattended).unwrap();
    let done = pollster::block_on(run(&models, start, &Unattended)).unwrap();
    done.evidence.models[0].clone()
}

#[test]
fn unseen_directions_are_uniform_whatever_the_training_does() {
    let settings = settings();
    for settings in [
        FederatedSettings { participation: Participation::Poisson { rate: 0.3 }, ..settings },
        FederatedSettings { participation: Participation::FixedSize { cohort: 10 }, ..settings },
        FederatedSettings { participation: Participation::MinSeparation { epochs: 2 }, ..settings },
        FederatedSettings { server_momentum: 0.0, ..settings },
        FederatedSettings { clipping: ADAPTIVE, ..settings },
        FederatedSettings { noise_mechanism: NoiseMechanism::Tree, ..settings },
        FederatedSettings { noise_mechanism: BANDED, ..settings },
    ] {
        let unit = with_unseen(settings);
        assert!(uniformity(&tails(&unit, 40)) > 1e-3, "{settings:?}");
        // the null distribution of another dimension
        assert!(uniformity(&tails(&unit, 70)) < 1e-3, "{settings:?}");
        // canaries that took part
        let mut mixed = unit.clone();
        mixed.unseen = mixed.known_rounds.iter().copied().cycle().take(3_000).collect();
        assert!(uniformity(&tails(&mixed, 40)) < 1e-3, "{settings:?}");
    }
}

/// The p-value of the test of Kolmogorov and Smirnov that p-values are uniform, from above.
fn uniformity(tails: &NullTails) -> f64 {
    let count = tails.len() as f64;
    let places = tails.ln_p().iter().map(|&ln_p| math::exp(ln_p)).enumerate();
    let distance = places.fold(0.0_f64, |most, (place, p)| {
        most.max(p - place as f64 / count).max((place + 1) as f64 / count - p)
    });
    // the bound of Dvoretzky, Kiefer, Wolfowitz and Massart
    2.0 * math::exp(-2.0 * count * distance * distance)
}

#[test]
fn canaries_without_a_round_have_no_cosine() {
    let participation = Participation::Poisson { rate: 0.1 };
    let models = models(FederatedSettings { participation, ..settings() }, 40.0, 1);
    let done = trained(&models, Shard::WHOLE);
    let training = models.training();
    let (mut seen, mut all) = (0, 0);
    for unit in done.evidence.models.iter().filter(|unit| unit.unit < 3) {
        let rounds = training.rounds(unit.unit, unit.canaries);
        let took_part = |canary: u64| rounds.iter().flatten().any(|&c| u64::from(c) == 40 + canary);
        let expected = (0..unit.canaries).filter(|&canary| took_part(canary)).count();
        assert_eq!(unit.cosines(FederatedAttack::KnownRounds).len(), expected);
        // as -1 they would be seen, with a normal score of -38
        assert!(unit.cosines(FederatedAttack::KnownRounds).iter().all(|&cosine| cosine > -1.0));
        assert_eq!(unit.cosines(FederatedAttack::FinalModel).len() as u64, unit.canaries);
        (seen, all) = (seen + expected as u64, all + unit.canaries);
    }
    assert!(seen > 0 && seen < all, "{seen} of {all}");
    let (tails, canaries) = done.evidence.tails(FederatedAttack::KnownRounds, 3, (40, 4)).unwrap();
    assert_eq!((tails.len() as u64, canaries), (seen, all));
    assert!(tails.normal_scores().all(|score| score > -10.0));
    let read = Artefact::<FederatedPlan>::from_bytes(&done.to_bytes()).unwrap();
    assert_eq!(read.evidence, done.evidence);
}

#[test]
fn noiseless_trainings_refute_and_noisy_ones_do_not() {
    let bound = |noise_multiplier, attack| {
        let settings = FederatedSettings { noise_multiplier, ..idle(settings().participation) };
        let training = training(FederatedSettings { rounds: 40, ..settings });
        let plan = FederatedPlan { repeats: 20, ..plan(&training, 20.0) };
        let design = plan.all_canaries();
        let models = FederatedModels::new(plan, training, 2).unwrap();
        let start = begin(&models, Shard::WHOLE.range(21).unwrap(), &Unattended).unwrap();
        let done = pollster::block_on(run(&models, start, &Unattended)).unwrap();
        let (tails, inserted) = done.evidence.tails(attack, 20, (40, 40)).unwrap();
        let question = OneShotQuestion {
            design,
            inserted,
            delta: 1e-5,
            significance: 0.05,
            null_significance: 0.0,
            server_rounds: 1,
        };
        OneShotResult::new(&tails, question).unwrap().bounds().epsilon
    };
    let known = bound(0.05, FederatedAttack::KnownRounds);
    let largest = bound(0.05, FederatedAttack::LargestUpdate);
    assert!(known > largest && largest > 4.0, "{known} {largest}");
    for attack in FederatedAttack::ALL {
        assert!(bound(40.0, attack) < 0.5, "{attack:?}");
    }
}

#[test]
fn bad_settings_are_refused() {
    let refused = |change: &dyn Fn(&mut FederatedSettings)| {
        let mut settings = settings();
        change(&mut settings);
        FederatedTraining::new(&spec(), examples(), settings, SEED).is_err()
    };
    assert!(!refused(&|_| {}));
    assert!(refused(&|s| s.clients = 0));
    assert!(refused(&|s| s.clients = 41));
    assert!(refused(&|s| s.rounds = 0));
    assert!(refused(&|s| s.participation = Participation::Shuffled { epochs: 3 }));
    assert!(refused(&|s| s.participation = Participation::Poisson { rate: 0.0 }));
    assert!(refused(&|s| s.participation = Participation::FixedSize { cohort: 41 }));
    assert!(refused(&|s| s.presentations = Some(5)));
    assert!(refused(&|s| s.concentration = Some(f64::NAN)));
    assert!(refused(&|s| s.clipping = UpdateClipping::Fixed { norm: 0.0 }));
    assert!(refused(&|s| s.noise_multiplier = -1.0));
    assert!(refused(&|s| s.noise_mechanism = NoiseMechanism::Banded { bands: 0 }));
    assert!(refused(&|s| s.noise_mechanism = NoiseMechanism::Banded { bands: 5 }));
    assert!(refused(&|s| s.server_momentum = 1.0));
    assert!(refused(&|s| s.local_batch_size = 0));
    let adaptive =
        training(FederatedSettings { clipping: ADAPTIVE, noise_multiplier: 2.0, ..settings() });
    let plan = plan(&adaptive, 6.0);
    let refused = FederatedModels::new(plan, adaptive, 1);
    assert!(matches!(refused, Err(TrainError::Domain { name: "noise_multiplier", .. })));
    let blind = training(FederatedSettings { sees_updates: false, ..settings() });
    let plan = FederatedPlan { attack: FederatedAttack::KnownRounds, ..self::plan(&blind, 6.0) };
    assert!(matches!(FederatedModels::new(plan, blind, 1), Err(TrainError::NoUpdates { .. })));
}

#[test]
fn a_description_round_trips_and_diverged_models_are_counted() {
    let training = training(settings());
    let described = FederatedDescription::from_json(training.description()).unwrap();
    assert_eq!(described.settings, settings());
    assert!(FederatedDescription::from_json("{}").is_err());
    let wild = FederatedSettings { local_learning_rate: 1e6, local_epochs: 1_000, ..settings() };
    let wild = FederatedSettings { server_learning_rate: 1e6, rounds: 40, ..wild };
    let wild = FederatedSettings { clipping: UpdateClipping::Fixed { norm: 1e6 }, ..wild };
    let done = trained(&models(wild, 6.0, 2), Shard::WHOLE);
    for model in &done.evidence.models {
        assert!(model.has_failed || model.final_model.len() as u64 == model.canaries);
    }
    let (tails, canaries) = done.evidence.tails(FederatedAttack::FinalModel, 3, (40, 40)).unwrap();
    assert!(tails.len() as u64 <= canaries);
}
