//! Audits of one training with many canaries.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_engine::{Artefact, MergeOptions, Shard, Unattended, begin, merge, run};
use dpscope_simulation::TrainingDigest;
use dpscope_train::data::{Examples, SyntheticData};
use dpscope_train::one_run::{
    CanarySlots, OneRunModels, OneRunPlan, OneRunScore, OneRunSettings, OneRunTraining,
};
use dpscope_train::{LayerSpec, ModelSpec, Shape};

const SEED: u64 = 5;

fn mechanism(sampler: BatchSampler) -> BatchedGaussian {
    BatchedGaussian {
        noise_multiplier: 1.0,
        steps_per_epoch: 5,
        epochs: 2,
        sampler,
        threat_model: ThreatModel::TargetCanary,
        batch_size: Some(8),
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
        guesses: None,
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
