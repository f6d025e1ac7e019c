//! Faults of a trainer are visible in its outputs: each fault fails exactly one check, and the
//! correct trainer passes all.

use std::sync::{Arc, Mutex};

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_core::recorded::independence::{RecordedRuns, duplicated_runs};
use dpscope_engine::{Unattended, UnitRange};
use dpscope_shaders::train::{Batches, EpochBatches};
use dpscope_train::data::SyntheticData;
use dpscope_train::{
    Canary, CanaryDirection, DpSgd, LayerSpec, ModelSpec, OutputSink, Shape, Training,
    TrainingSettings,
};

const SEED: u64 = 11;
const RUNS: u64 = 400;
const BATCH: u32 = 20;
const STEPS: u32 = 10;

/// Outputs of both worlds, run by run.
type Outputs = [Vec<f64>; 2];

#[derive(Debug, Clone, Default)]
struct SavedOutputs(Arc<Mutex<Outputs>>);

impl OutputSink for SavedOutputs {
    fn save(
        &self,
        world: World,
        _: UnitRange,
        outputs: &[f32],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let mut saved = self.0.lock().unwrap();
        saved[world.index()].extend(outputs.iter().map(|&output| f64::from(output)));
        Ok(())
    }
}

/// Trains with noise standard deviation σ·C and clipping norm C; returns outputs in units of the
/// claimed clipping norm 1.
fn outputs(noise_std: f64, clip_norm: f64, steps: u32) -> Outputs {
    let spec = ModelSpec {
        input: Shape::flat(600),
        layers: vec![
            LayerSpec::Linear { outputs: 16 },
            LayerSpec::Tanh,
            LayerSpec::Linear { outputs: 100 },
        ],
    };
    let mechanism = BatchedGaussian {
        noise_multiplier: noise_std / clip_norm,
        steps_per_epoch: steps,
        epochs: 1,
        sampler: BatchSampler::Shuffle,
        threat_model: ThreatModel::PartiallyInformed,
        batch_size: Some(BATCH),
        dataset_size: None,
    };
    let settings = TrainingSettings {
        clip_norm,
        learning_rate: 0.5,
        canary: Canary { direction: CanaryDirection::Random, is_fresh: true },
        debias_records: 0,
    };
    let examples = SyntheticData::P100Like.generate(200, 0).unwrap();
    let training = Training::new(&spec, examples, mechanism, settings, SEED).unwrap();
    let saved = SavedOutputs::default();
    let trainer = DpSgd::new(training, 0).unwrap().with_sink(Box::new(saved.clone()));
    trainer.train_on_cpu(UnitRange { first: 0, end: RUNS }, &Unattended).unwrap();
    let outputs = saved.0.lock().unwrap().clone();
    outputs.map(|world| world.into_iter().map(|output| output * clip_norm).collect())
}

/// Number, mean and variance of residuals.
#[derive(Debug, Clone, Copy, Default)]
struct Moments {
    count: f64,
    mean: f64,
    variance: f64,
}

/// Residuals at σ = 1 of the batches with the canary in D, and of all others; the gradients of
/// other records along ĝ are small.
fn residuals(outputs: &Outputs) -> [Moments; 2] {
    let batches = Batches::new(BatchSampler::Shuffle, BATCH, STEPS);
    let mut epoch = EpochBatches::default();
    let mut residuals = [Vec::new(), Vec::new()];
    for (run, outputs) in outputs[0].chunks_exact(STEPS as usize).enumerate() {
        batches.draw(SEED, 2 * run as u64, 0, &mut epoch);
        for (step, output) in outputs.iter().enumerate() {
            let has_target = epoch.members_at(step).contains(&0);
            let mean = if has_target { 1.0 } else { -1.0 };
            residuals[usize::from(!has_target)].push(output - mean);
        }
    }
    residuals.map(|residuals| {
        let count = residuals.len() as f64;
        let mean = residuals.iter().sum::<f64>() / count;
        let squares = residuals.iter().map(|residual| (residual - mean) * (residual - mean));
        Moments { count, mean, variance: squares.sum::<f64>() / count }
    })
}

/// Names of the failed checks; the false alarm rate of each is 10⁻⁶.
fn failed_checks(outputs: &Outputs) -> Vec<&'static str> {
    let steps = STEPS as usize;
    if outputs.iter().any(|world| world.len() != RUNS as usize * steps) {
        return vec!["steps"];
    }
    let mut failed = Vec::new();
    let [canary, others] = residuals(outputs);
    // squared standard normals have variance 2; the gradients of other records add a little
    if !((others.variance - 1.0).abs() < 5.0 * (2.0 / others.count).sqrt() + 0.02) {
        failed.push("noise");
    }
    let error = (1.0 / canary.count + 1.0 / others.count).sqrt();
    if !((canary.mean - others.mean).abs() < 5.0 * error) {
        failed.push("clipping");
    }
    let runs = [0, 1].map(|world| RecordedRuns::new(&outputs[world], 1, steps).unwrap());
    if duplicated_runs(runs[0], runs[1]).unwrap().check.finding.is_some() {
        failed.push("independence");
    }
    failed
}

#[test]
fn each_fault_fails_its_check() {
    let correct = outputs(1.0, 1.0, STEPS);
    assert_eq!(failed_checks(&correct), Vec::<&str>::new());

    let loosely_clipped = outputs(1.0, std::f64::consts::SQRT_2, STEPS);
    assert_eq!(failed_checks(&loosely_clipped), ["clipping"]);

    let quiet = outputs(0.9, 1.0, STEPS);
    assert_eq!(failed_checks(&quiet), ["noise"]);

    let run = STEPS as usize;
    let mut repeated = correct.clone();
    let (first, second) = repeated[0].split_at_mut(run);
    second[..run].copy_from_slice(first);
    assert_eq!(failed_checks(&repeated), ["independence"]);

    let [target, _] = correct;
    let [_, without_the_last_batch] = outputs(1.0, 1.0, STEPS - 1);
    assert_eq!(failed_checks(&[target, without_the_last_batch]), ["steps"]);
}

#[test]
fn outputs_do_not_depend_on_threads_or_waves() {
    let spec =
        ModelSpec { input: Shape::flat(600), layers: vec![LayerSpec::Linear { outputs: 100 }] };
    let mechanism = BatchedGaussian {
        noise_multiplier: 1.0,
        steps_per_epoch: STEPS,
        epochs: 2,
        sampler: BatchSampler::PersistentShuffle,
        threat_model: ThreatModel::TargetCanary,
        batch_size: Some(BATCH),
        dataset_size: None,
    };
    let settings = TrainingSettings {
        clip_norm: 0.5,
        learning_rate: 0.5,
        canary: Canary { direction: CanaryDirection::Dirac, is_fresh: false },
        debias_records: 7,
    };
    let trained = |threads: usize, seed: u64, ranges: &[(u64, u64)]| {
        let examples = SyntheticData::P100Like.generate(200, 30).unwrap();
        let training = Training::new(&spec, examples, mechanism, settings, seed).unwrap();
        let trainer = DpSgd::new(training, threads).unwrap();
        let mut scores = [Vec::new(), Vec::new()];
        for &(first, end) in ranges {
            let trained = trainer.train_on_cpu(UnitRange { first, end }, &Unattended).unwrap();
            scores.iter_mut().zip(trained.scores).for_each(|(all, part)| all.extend(part));
        }
        scores
    };
    let whole = trained(1, SEED, &[(0, 9)]);
    assert_eq!(trained(3, SEED, &[(0, 4), (4, 5), (5, 9)]), whole);
    assert_ne!(trained(1, SEED + 1, &[(0, 9)]), whole);
    assert_ne!(whole[0], whole[1]);
}

#[test]
fn a_run_that_diverges_is_counted_as_failed() {
    let spec = ModelSpec {
        input: Shape::flat(600),
        layers: vec![
            LayerSpec::Linear { outputs: 8 },
            LayerSpec::Relu,
            LayerSpec::Linear { outputs: 100 },
        ],
    };
    let mechanism = BatchedGaussian {
        noise_multiplier: 20.0,
        steps_per_epoch: STEPS,
        epochs: 30,
        sampler: BatchSampler::Shuffle,
        threat_model: ThreatModel::PartiallyInformed,
        batch_size: Some(BATCH),
        dataset_size: None,
    };
    let settings = TrainingSettings {
        clip_norm: 1e6,
        learning_rate: 1e6,
        canary: Canary { direction: CanaryDirection::Random, is_fresh: true },
        debias_records: 0,
    };
    let examples = SyntheticData::P100Like.generate(200, 30).unwrap();
    let training = Training::new(&spec, examples, mechanism, settings, SEED).unwrap();
    let saved = SavedOutputs::default();
    let trainer = DpSgd::new(training, 1).unwrap().with_sink(Box::new(saved.clone()));
    let trained = trainer.train_on_cpu(UnitRange { first: 0, end: 3 }, &Unattended).unwrap();
    for (scores, tally) in trained.scores.iter().zip(trained.tallies) {
        let failed = scores.iter().filter(|score| !score.is_finite()).count() as u64;
        assert_eq!((tally.runs, tally.failed), (3, failed));
    }
    let outputs = saved.0.lock().unwrap().clone();
    assert!(outputs.iter().all(|world| world.len() == 3 * 30 * STEPS as usize));
}

#[test]
fn debiasing_does_not_reveal_batch_sizes() {
    let outputs = |sampler: BatchSampler, debias_records: u32| {
        let spec =
            ModelSpec { input: Shape::flat(600), layers: vec![LayerSpec::Linear { outputs: 100 }] };
        let mechanism = BatchedGaussian {
            noise_multiplier: 1.0,
            steps_per_epoch: STEPS,
            epochs: 1,
            sampler,
            threat_model: ThreatModel::TargetCanary,
            batch_size: Some(BATCH),
            dataset_size: None,
        };
        let settings = TrainingSettings {
            clip_norm: 1.0,
            learning_rate: 0.0,
            canary: Canary { direction: CanaryDirection::Random, is_fresh: false },
            debias_records,
        };
        let examples = SyntheticData::P100Like.generate(200, 0).unwrap();
        let training = Training::new(&spec, examples, mechanism, settings, SEED).unwrap();
        let saved = SavedOutputs::default();
        let trainer = DpSgd::new(training, 1).unwrap().with_sink(Box::new(saved.clone()));
        trainer.train_on_cpu(UnitRange { first: 0, end: 4 }, &Unattended).unwrap();
        saved.0.lock().unwrap().concat()
    };
    // a model that never changes has a constant mean gradient, so the correction must be constant
    // as well: otherwise it would reveal the target's batch
    for sampler in [
        BatchSampler::Shuffle,
        BatchSampler::Poisson,
        BatchSampler::BallsInBins,
        BatchSampler::RandomAllocation { uses_per_epoch: 3 },
    ] {
        let (plain, debiased) = (outputs(sampler, 0), outputs(sampler, 199));
        let corrections: Vec<f64> =
            plain.iter().zip(&debiased).map(|(plain, debiased)| plain - debiased).collect();
        assert!(corrections[0].abs() > 1e-3, "{}", corrections[0]);
        assert!(
            corrections.iter().all(|other| (other - corrections[0]).abs() < 1e-5),
            "{corrections:?}"
        );
    }
}
