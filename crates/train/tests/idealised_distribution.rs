//! Compares scores of trained models with the idealised batched Gaussian mechanism.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::{BatchSampler, BatchedGaussian, ThreatModel};
use dpscope_engine::{Unattended, UnitRange};
use dpscope_shaders::bgm::{Phase, ScoreKernel};
use dpscope_simulation::TrainingTally;
use dpscope_simulation::backend::CpuBackend;
use dpscope_train::data::SyntheticData;
use dpscope_train::{
    Canary, CanaryDirection, DpSgd, ModelSpec, Training, TrainingSettings, WaveScores,
};

/// 100 shuffled batches; with Poisson sampling, this σ means ε = 1 at δ = 1e-5.
fn mechanism(threat_model: ThreatModel) -> BatchedGaussian {
    BatchedGaussian {
        noise_multiplier: 0.902_029_285_562_524_8,
        steps_per_epoch: 100,
        epochs: 1,
        sampler: BatchSampler::Shuffle,
        threat_model,
        batch_size: Some(100),
        dataset_size: None,
    }
}

/// Trains the MLP on synthetic purchases.
fn trained(mechanism: BatchedGaussian, runs: u64) -> WaveScores {
    let settings = TrainingSettings {
        clip_norm: 1.0,
        learning_rate: 1.0,
        canary: Canary { direction: CanaryDirection::Random, is_fresh: true },
        debias_records: 0,
    };
    let examples = SyntheticData::P100Like.generate(10_000, 0).unwrap();
    let training = Training::new(&ModelSpec::mlp(), examples, mechanism, settings, 5).unwrap();
    let trainer = DpSgd::new(training, 0).unwrap();
    trainer.train_on_cpu(UnitRange { first: 0, end: runs }, &Unattended).unwrap()
}

/// Scores of the idealised mechanism in nats, both worlds.
fn idealised(mechanism: BatchedGaussian, count: u64) -> [Vec<f64>; 2] {
    let distribution = mechanism.distribution().unwrap();
    let kernel = ScoreKernel::new(&distribution, 9, Phase::Audit).unwrap();
    let cpu = CpuBackend::new(0).unwrap();
    World::BOTH.map(|world| {
        let scores = cpu.scores(&kernel, world, count, &|| true).unwrap();
        scores.into_iter().map(|score| score as f64 * kernel.score_unit()).collect()
    })
}

/// AUC: the probability that a score of D exceeds one of D′.
fn auc([target, zero_out]: &[Vec<f64>; 2]) -> f64 {
    let mut sorted = zero_out.clone();
    sorted.sort_by(f64::total_cmp);
    let below = |score: &f64| sorted.partition_point(|other| other < score) as f64;
    target.iter().map(below).sum::<f64>() / (target.len() * zero_out.len()) as f64
}

/// Standard deviation of the AUC with `runs` runs per world, if the worlds are nearly equal.
fn auc_error(runs: u64) -> f64 {
    ((2 * runs + 1) as f64 / (12 * runs * runs) as f64).sqrt()
}

/// Two-sample Kolmogorov–Smirnov statistic times √(nm/(n + m)): above 2.5 with probability 10⁻⁵.
fn kolmogorov(first: &[f64], second: &[f64]) -> f64 {
    let sorted = |scores: &[f64]| {
        let mut sorted = scores.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted
    };
    let (first, second) = (sorted(first), sorted(second));
    let share = |sorted: &[f64], score: f64| {
        sorted.partition_point(|other| *other <= score) as f64 / sorted.len() as f64
    };
    let distances = first.iter().map(|&score| (share(&first, score) - share(&second, score)).abs());
    let (n, m) = (first.len() as f64, second.len() as f64);
    (n * m / (n + m)).sqrt() * distances.fold(0.0, f64::max)
}

/// Tally of all runs.
fn total(trained: &WaveScores) -> TrainingTally {
    let mut total = trained.tallies[0];
    total.add(&trained.tallies[1]);
    total
}

#[test]
fn scores_follow_the_idealised_distribution() {
    const RUNS: u64 = 150;
    let informed = mechanism(ThreatModel::PartiallyInformed);
    let observed = trained(informed, RUNS);
    let reference = idealised(informed, 30_000);
    // 30,000 outputs: the standard error of the variance is 0.8 %
    let variance = total(&observed).residual_variance().unwrap();
    assert!((variance - 1.0).abs() < 0.03, "{variance}");
    for (scores, reference) in observed.scores.iter().zip(&reference) {
        let statistic = kolmogorov(scores, reference);
        assert!(statistic < 2.5, "{statistic}");
    }
    let (change, error) = (auc(&observed.scores) - auc(&reference), auc_error(RUNS));
    assert!(change.abs() < 4.0 * error, "{change} {error}");

    // negative control: 10 % less noise than claimed
    let noise_multiplier = 0.9 * informed.noise_multiplier;
    let quiet = trained(BatchedGaussian { noise_multiplier, ..informed }, RUNS);
    let variance = 0.81 * total(&quiet).residual_variance().unwrap();
    assert!((variance - 1.0).abs() > 0.03, "{variance}");
}

#[test]
#[ignore = "1 min with --release: 4,000 models"]
fn a_thousand_runs_per_world_follow_the_idealised_distribution() {
    const RUNS: u64 = 1000;
    for threat_model in [ThreatModel::PartiallyInformed, ThreatModel::TargetCanary] {
        let (mechanism, error) = (mechanism(threat_model), auc_error(RUNS));
        let observed = trained(mechanism, RUNS);
        let variance = total(&observed).residual_variance().unwrap();
        assert!((variance - 1.0).abs() < 0.03, "{threat_model}: {variance}");
        let reference = idealised(mechanism, 100_000);
        let (found, expected) = (auc(&observed.scores), auc(&reference));
        println!("{threat_model}: AUC {found:.4}, idealised {expected:.4} ± {error:.4}");
        assert!((found - expected).abs() < 4.0 * error, "{found} {expected} {error}");
        for (scores, reference) in observed.scores.iter().zip(&reference) {
            let statistic = kolmogorov(scores, reference);
            assert!(statistic < 2.5, "{threat_model}: {statistic}");
        }
    }
}

#[test]
#[ignore = "15 min with --release: 80,000 models"]
fn partial_and_full_shuffles_are_distinguished() {
    const RUNS: u64 = 20_000;
    // with Poisson sampling, this σ means ε = 0.1 for 100 batches
    let full = BatchedGaussian {
        noise_multiplier: 3.301_627,
        ..mechanism(ThreatModel::PartiallyInformed)
    };
    let sampler = BatchSampler::PartialShuffle { buffer_examples: 1000 };
    let partial = BatchedGaussian { sampler, ..full };
    let error = auc_error(RUNS);
    let [full, partial] = [full, partial].map(|mechanism| {
        let (found, expected) =
            (auc(&trained(mechanism, RUNS).scores), auc(&idealised(mechanism, 1_000_000)));
        println!("{:?}: AUC {found:.4}, idealised {expected:.4} ± {error:.4}", mechanism.sampler);
        assert!((found - expected).abs() < 4.0 * error, "{found} {expected} {error}");
        found
    });
    assert!(partial - full > 4.0 * 2.0_f64.sqrt() * error, "{partial} {full} {error}");
}
