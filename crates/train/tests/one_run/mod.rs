//! Audits of one training with many canaries.

mod oracle;
mod watched;

use dpscope_core::accounting::{Accountant as _, Given, Poisson, Query};
use dpscope_core::audit::one_run::{CanaryScores, GuessRule, OneRunQuestion};
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_core::random::{Purpose, Words};
use dpscope_engine::{
    Artefact, MergeOptions, Shard, Unattended, UnitRange, Workload, begin, merge, run,
};
use dpscope_simulation::TrainingDigest;
use dpscope_train::data::{Examples, SyntheticData};
use dpscope_train::one_run::{
    CanarySlots, OneRunDescription, OneRunModels, OneRunPlan, OneRunScore, OneRunSettings,
    OneRunTraining, PreTraining, RepeatedRecords,
};
use dpscope_train::{LayerSpec, ModelSpec, Shape, TrainError};

use oracle::{Fault, Oracle};

const SEED: u64 = 5;

fn mechanism(sampler: BatchSampler) -> BatchedGaussian {
    BatchedGaussian {
        noise_multiplier: 1.0,
        steps_per_epoch: 5,
        epochs: 2,
        sampler,
        threat_model: ThreatModel::TargetCanary,
        batch_size: Some(8),
        dataset_size: None,
    }
}

fn settings(sampler: BatchSampler) -> OneRunSettings {
    OneRunSettings {
        clip_norm: 1.0,
        learning_rate: 0.5,
        momentum: 0.5,
        slots: CanarySlots::of(sampler),
        is_white_box: true,
        debias_records: 4,
        pre_training: None,
    }
}

fn spec() -> ModelSpec {
    ModelSpec { input: Shape::flat(600), layers: vec![LayerSpec::Linear { outputs: 100 }] }
}

/// 60 base records and 12 canaries.
fn data() -> (Examples, Examples) {
    let all = SyntheticData::P100Like.generate(72, 10).unwrap();
    let canaries: Vec<u32> = (60..72).collect();
    let canaries = all.select("canaries", &canaries).unwrap();
    (all, canaries)
}

fn training(sampler: BatchSampler, settings: OneRunSettings) -> OneRunTraining {
    let (base, canaries) = data();
    OneRunTraining::new(&spec(), base, canaries, mechanism(sampler), settings, SEED).unwrap()
}

fn plan(training: &OneRunTraining) -> OneRunPlan {
    OneRunPlan {
        mechanism: *training.mechanism(),
        canaries: training.canaries().len() as u32,
        repeats: 3,
        references: 2,
        score: OneRunScore::WhiteBox,
        rule: GuessRule::Walk,
        deltas: vec![1e-5],
        significance: 0.05,
        seed: SEED,
        training: TrainingDigest::of(training.description()),
    }
}

fn models(threads: usize) -> OneRunModels {
    let sampler = BatchSampler::Poisson;
    let training = training(sampler, settings(sampler));
    OneRunModels::new(plan(&training), training, threads).unwrap()
}

fn trained(models: &OneRunModels, shard: Shard) -> Artefact<OneRunPlan> {
    let start = begin(models, shard.range(5).unwrap(), &Unattended).unwrap();
    pollster::block_on(run(models, start, &Unattended)).unwrap()
}

#[test]
fn shards_and_threads_change_nothing() {
    let whole = trained(&models(1), Shard::WHOLE);
    let models = models(3);
    let parts: Vec<Artefact<OneRunPlan>> = [2, 3, 1]
        .map(|index| trained(&models, Shard { index, count: 3 }))
        .map(|part| Artefact::from_bytes(&part.to_bytes()).unwrap())
        .into();
    let merged = merge(parts, MergeOptions::default()).unwrap();
    assert!(merged.is_complete());
    assert_eq!(merged.evidence, whole.evidence);
    let game = whole.evidence.game(&whole.plan, 0..3);
    assert_eq!(game.scores.len(), 36);
}

/// Records of ±1 with random labels, as a trainer memorises them.
fn random_records(
    name: &str,
    stream: u64,
    records: usize,
    (inputs, classes): (usize, u32),
) -> Examples {
    let mut words = Words::new(9, Purpose::Test, stream);
    let labels = (0..records).map(|_| words.below(classes)).collect();
    let sign = |_| if words.next_word() & 1 == 1 { 1.0 } else { -1.0 };
    let values: Vec<f32> = (0..records * inputs).map(sign).collect();
    Examples::from_values(name, Shape::flat(inputs), classes as usize, labels, values).unwrap()
}

const SAMPLERS: [BatchSampler; 6] = [
    BatchSampler::Poisson,
    BatchSampler::Shuffle,
    BatchSampler::PersistentShuffle,
    BatchSampler::BallsInBins,
    BatchSampler::Deterministic,
    BatchSampler::RandomAllocation { uses_per_epoch: 2 },
];

/// The largest distance between scores and those of an oracle with a fault, over all kinds.
fn distance(models: &OneRunModels, oracle: &Oracle, fault: Fault) -> f64 {
    let found = models.compute(&(), UnitRange { first: 1, end: 2 }, &Unattended).unwrap();
    let coins = models.plan().coins(1);
    let expected = oracle.scores(1, &coins, fault);
    let mut largest = 0.0_f64;
    for (score, expected) in OneRunScore::ALL.into_iter().zip(&expected) {
        let found = found.models[0].scores(score);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            largest = largest.max((f64::from(*found) - expected).abs());
        }
    }
    largest
}

#[test]
fn scores_equal_those_of_plain_loops_and_not_those_of_faulty_ones() {
    for sampler in SAMPLERS {
        let (inputs, classes) = (9, 4);
        let base = || random_records("base", 1, 28, (inputs, classes));
        let canaries = || random_records("canaries", 2, 12, (inputs, classes));
        let layers = vec![LayerSpec::Linear { outputs: classes as usize }];
        let spec = ModelSpec { input: Shape::flat(inputs), layers };
        let (plain, settings) = (mechanism(sampler), settings(sampler));
        // as many records, whatever the uses of each
        let batch_size = plain.batch_size.map(|size| size * sampler.uses_per_epoch().unwrap_or(1));
        let mechanism = BatchedGaussian { batch_size, ..plain };
        let training =
            OneRunTraining::new(&spec, base(), canaries(), mechanism, settings, SEED).unwrap();
        let models = OneRunModels::new(plan(&training), training, 1).unwrap();
        let classes = classes as usize;
        let oracle =
            Oracle { base: base(), canaries: canaries(), mechanism, settings, seed: SEED, classes };
        let equal = distance(&models, &oracle, Fault::None);
        assert!(equal < 1e-4, "{sampler}: {equal}");
        for fault in oracle::FAULTS {
            let apart = distance(&models, &oracle, fault);
            assert!(apart > 0.02, "{sampler}, {fault:?}: {apart}");
        }
    }
}

/// A training of 500 random records and 1,000 canaries in 20 steps, claimed to have σ = `CLAIMED`.
fn memorising(noise_multiplier: f64, seed: u64) -> OneRunModels {
    let (inputs, classes) = (128, 32);
    let layers = vec![LayerSpec::Linear { outputs: classes as usize }];
    let spec = ModelSpec { input: Shape::flat(inputs), layers };
    let base = random_records("base", 1, 500, (inputs, classes));
    let canaries = random_records("canaries", 2, 1000, (inputs, classes));
    let mechanism = BatchedGaussian {
        noise_multiplier,
        steps_per_epoch: 10,
        epochs: 2,
        batch_size: Some(150),
        ..mechanism(BatchSampler::Poisson)
    };
    let settings = OneRunSettings { debias_records: 50, ..settings(BatchSampler::Poisson) };
    let training = OneRunTraining::new(&spec, base, canaries, mechanism, settings, seed).unwrap();
    let plan = OneRunPlan { repeats: 1, references: 0, seed, ..plan(&training) };
    OneRunModels::new(plan, training, 1).unwrap()
}

/// σ with ε ≤ 2 at δ = 10⁻⁵.
const CLAIMED: f64 = 1.4;

fn claim(noise_multiplier: f64) -> f64 {
    let training = memorising(noise_multiplier, 1).training().accounted();
    Poisson.account(&Query::upper(training, Given::Delta(1e-5))).unwrap().epsilon
}

fn bound(scores: &[f64], coins: &[bool], rule: GuessRule) -> f64 {
    let question = OneRunQuestion { deltas: &[1e-5], significance: 0.05, rule, is_committed: true };
    let scores = CanaryScores::coins(scores, coins).unwrap();
    scores.audit(&question, &[], |index| index).unwrap().bounds()[0].epsilon
}

/// Bounds of the given seeds by the 100 largest white-box scores.
fn bounds(noise_multiplier: f64, seeds: std::ops::RangeInclusive<u64>) -> Vec<f64> {
    let rule = GuessRule::Sides { included: 100, excluded: 0 };
    let audited = |seed| {
        let models = memorising(noise_multiplier, seed);
        let found = models.compute(&(), UnitRange { first: 0, end: 1 }, &Unattended).unwrap();
        let game = found.game(models.plan(), 0..1);
        bound(&game.scores, &game.coins, rule)
    };
    seeds.map(audited).collect()
}

#[test]
fn too_little_noise_is_refuted_and_the_claimed_noise_is_not() {
    let claim = claim(CLAIMED);
    assert!(claim > 1.5 && claim <= 2.0, "{claim}");
    let correct = bounds(CLAIMED, 1..=4);
    assert!(correct.iter().all(|&epsilon| epsilon <= claim), "{correct:?}");
    assert!(correct.iter().any(|&epsilon| epsilon > 0.1), "{correct:?}");
    let broken = bounds(0.3 * CLAIMED, 1..=4);
    assert!(broken.iter().all(|&epsilon| epsilon > claim), "{broken:?}");
}

#[test]
#[ignore = "half a minute"]
fn a_correct_trainer_is_refuted_in_at_most_10_of_100_seeds() {
    let claim = claim(CLAIMED);
    let refuted = |bounds: Vec<f64>| bounds.into_iter().filter(|&epsilon| epsilon > claim).count();
    let correct = refuted(bounds(CLAIMED, 1..=100));
    assert!(correct <= 10, "{correct}");
    let broken = refuted(bounds(0.3 * CLAIMED, 1..=100));
    assert!(broken >= 90, "{broken}");
}

#[test]
fn coins_redrawn_after_training_show_nothing() {
    // 1,000 redrawn coins at 5 %: at most 50 + 4 standard errors of 6.9
    const REDRAWN: u64 = 1000;
    const MOST: u64 = 77;
    let models = memorising(0.5, 1);
    let plan = OneRunPlan { references: 3, ..models.plan().clone() };
    let found = models.compute(&(), UnitRange { first: 0, end: 4 }, &Unattended).unwrap();
    let game = found.game(&plan, 0..1);
    let rule = GuessRule::Most(100);
    // the mutant: coins that the training saw
    assert!(bound(&game.scores, &game.coins, rule) > 0.5);
    let shows = |unit| bound(&game.scores, &plan.coins(unit), rule) > 0.0;
    let wrong = (1000..1000 + REDRAWN).filter(|&unit| shows(unit)).count() as u64;
    assert!(wrong <= MOST, "{wrong}");
}

/// Agreements of two lists of bits, in standard errors from a half.
fn agreement(a: &[bool], b: &[bool]) -> f64 {
    let equal = a.iter().zip(b).filter(|(a, b)| a == b).count() as f64;
    let count = a.len() as f64;
    (equal - count / 2.0) / (count / 4.0).sqrt()
}

#[test]
fn coins_are_fair_and_independent_of_units_and_of_training() {
    let sampler = BatchSampler::Poisson;
    let many = OneRunPlan { canaries: 20_000, ..plan(&training(sampler, settings(sampler))) };
    let all_in = vec![true; 20_000];
    let training_words = |purpose, stream| {
        let mut words = Words::new(SEED, purpose, stream);
        (0..20_000).map(|_| words.next_word() & 1 == 1).collect::<Vec<bool>>()
    };
    for unit in 0..6 {
        let coins = many.coins(unit);
        assert!(agreement(&coins, &all_in).abs() < 5.3, "{unit}");
        assert!(agreement(&coins, &many.coins(unit + 1)).abs() < 5.3, "{unit}");
        assert!(agreement(&coins[1..], &coins[..19_999]).abs() < 5.3, "{unit}");
        for purpose in [Purpose::TrainOrder, Purpose::TrainNoise, Purpose::TrainInitial] {
            // the mutant: coins from the words of the training
            let mutant = training_words(purpose, unit);
            assert!(agreement(&coins, &mutant).abs() < 5.3, "{unit} {purpose:?}");
            assert!(agreement(&training_words(purpose, unit), &mutant) > 100.0);
        }
        assert_eq!(many.coins(unit), coins);
        let fewer = OneRunPlan { canaries: 100, ..many.clone() };
        assert_eq!(fewer.coins(unit), coins[..100]);
    }
}

#[test]
fn invalid_trainings_are_refused() {
    let sampler = BatchSampler::Shuffle;
    let message = |base: &Examples, canaries: &Examples, mechanism, settings| {
        let made =
            OneRunTraining::new(&spec(), base.clone(), canaries.clone(), mechanism, settings, SEED);
        made.unwrap_err().to_string()
    };
    let (base, canaries) = data();
    let (fits, plain) = (mechanism(sampler), settings(sampler));
    let of = |records: &[u32]| canaries.select("some", records).unwrap();
    assert!(message(&base, &of(&[0, 1, 2, 3, 4, 1]), fits, plain).contains("canaries 1 and 5"));
    assert!(message(&base, &of(&[0, 1, 2, 3]), fits, plain).contains("at least 5"));
    assert!(message(&of(&[0, 1, 2]), &canaries, fits, plain).contains("28 base records"));
    let one_step = BatchedGaussian { steps_per_epoch: 1, ..fits };
    assert!(message(&base, &canaries, one_step, plain).contains("fewer than 8"));
    let absent = OneRunSettings { slots: CanarySlots::Absent, ..plain };
    assert!(message(&base, &canaries, fits, absent).contains("fixes the number of records"));
    let informed = BatchedGaussian { threat_model: ThreatModel::PartiallyInformed, ..fits };
    assert!(message(&base, &canaries, informed, plain).contains("uses target-canary"));
    let flat = random_records("flat", 4, 20, (9, 4));
    assert!(message(&base, &flat, fits, plain).contains("shape"));
    for (changed, name) in [
        (OneRunSettings { momentum: 1.0, ..plain }, "momentum"),
        (OneRunSettings { momentum: f64::NAN, ..plain }, "momentum"),
        (OneRunSettings { clip_norm: 0.0, ..plain }, "clip_norm"),
        (OneRunSettings { learning_rate: -1.0, ..plain }, "learning_rate"),
    ] {
        assert!(message(&base, &canaries, fits, changed).contains(name));
    }
    let pre_training = |records| {
        let part = PreTraining { records, epochs: 1, learning_rate: 0.1 };
        OneRunSettings { pre_training: Some(part), ..plain }
    };
    assert!(message(&base, &canaries, fits, pre_training(7)).contains("batch size"));
    assert!(message(&base, &canaries, fits, pre_training(45)).contains("pre-training"));
}

#[test]
fn canaries_that_equal_other_records_are_counted() {
    let (sampler, (base, _)) = (BatchSampler::Poisson, data());
    let part = PreTraining { records: 20, epochs: 1, learning_rate: 0.1 };
    let settings = OneRunSettings { pre_training: Some(part), ..settings(sampler) };
    let canaries = base.select("canaries", &[1, 2, 40, 65, 66, 67, 68]).unwrap();
    let training =
        OneRunTraining::new(&spec(), base, canaries, mechanism(sampler), settings, SEED).unwrap();
    let RepeatedRecords { base, pre_training } = training.repeated_records();
    assert_eq!((base, pre_training), (2, 1));
}

/// Scores of the first two units under changed settings.
fn scores_with(change: impl Fn(&mut OneRunSettings)) -> (OneRunTraining, Vec<Vec<f32>>) {
    let sampler = BatchSampler::Shuffle;
    let mut changed = settings(sampler);
    change(&mut changed);
    let first = training(sampler, changed);
    let models = OneRunModels::new(plan(&first), training(sampler, changed), 1).unwrap();
    let found = models.compute(&(), UnitRange { first: 0, end: 2 }, &Unattended).unwrap();
    (first, found.models.into_iter().map(|model| model.loss_difference).collect())
}

#[test]
fn a_pre_training_changes_the_start_and_needs_no_coin() {
    let part = PreTraining { records: 30, epochs: 20, learning_rate: 0.5 };
    let frozen = |change: Option<PreTraining>| {
        scores_with(|settings| {
            (settings.pre_training, settings.learning_rate) = (change, 0.0);
        })
    };
    // Without private steps, θ_T = θ₀, whatever the coins are.
    let (_, without) = frozen(None);
    let (described, with) = frozen(Some(part));
    assert!(with.iter().chain(&without).flatten().all(|score| *score == 0.0));
    let (_, random) = scores_with(|_| {});
    let (_, tuned) = scores_with(|settings| settings.pre_training = Some(part));
    assert_ne!(random, tuned);
    let (base, canaries) = data();
    let description = OneRunDescription::from_json(described.description()).unwrap();
    let (mechanism, seed) = (*described.mechanism(), described.seed());
    let again = description.training(base.clone(), canaries.clone(), mechanism, seed).unwrap();
    assert_eq!(again.description(), described.description());
    let other = description.training(canaries, base, mechanism, seed);
    assert!(matches!(other, Err(TrainError::DataMismatch { .. })));
}

#[test]
fn a_diverged_model_has_no_scores() {
    let sampler = BatchSampler::Shuffle;
    let one = |value: f32| {
        let (mut values, labels) = (vec![1.0; 40 * 9], vec![0; 40]);
        values.iter_mut().step_by(9).zip(1_u8..).for_each(|(entry, place)| {
            *entry = value * f32::from(place);
        });
        Examples::from_values("huge", Shape::flat(9), 4, labels, values).unwrap()
    };
    let layers = vec![LayerSpec::Linear { outputs: 4 }];
    let spec = ModelSpec { input: Shape::flat(9), layers };
    let canaries = random_records("canaries", 2, 12, (9, 4));
    let training = OneRunTraining::new(
        &spec,
        one(1e36),
        canaries,
        mechanism(sampler),
        OneRunSettings { learning_rate: 1e6, clip_norm: 1e6, ..settings(sampler) },
        SEED,
    )
    .unwrap();
    let models = OneRunModels::new(plan(&training), training, 1).unwrap();
    let found = models.compute(&(), UnitRange { first: 0, end: 1 }, &Unattended).unwrap();
    assert_eq!(found.failed(), 1);
    let game = found.game(models.plan(), 0..1);
    assert!(game.scores.iter().all(|score| score.is_nan()));
    assert!(game.canary_scores().is_err());
}
