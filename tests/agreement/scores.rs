//! Scores of recorded outputs against densities, and against what any likelihood ratio must obey.

use dpscope_core::{
    adjacency::World,
    math,
    mechanism::{
        BatchSampler, BatchedGaussian, OutputOptions, OutputReference, OutputScorer, SamplerKind,
        ScoreDistribution, ScoreDistributionKind, SlotWeights, ThreatModel, Truncation,
        partial_shuffle_candidates,
    },
};
use dpscope_tests::{Draws, z_of_mean};

use crate::samplers::{every_pair, run, undivided_pairs};

struct Case {
    mechanism: BatchedGaussian,
    outputs: Vec<f64>,
    score: f64,
}

/// `data/scores.csv`, made by `data/scores.py`.
fn cases() -> Vec<Case> {
    let parse = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let kind: SamplerKind = cells[0].parse().unwrap();
        let mechanism = BatchedGaussian {
            noise_multiplier: cells[2].parse().unwrap(),
            steps_per_epoch: cells[3].parse().unwrap(),
            epochs: cells[4].parse().unwrap(),
            sampler: kind.with_buffer(cells[6].parse().ok()).unwrap(),
            threat_model: cells[1].parse().unwrap(),
            batch_size: Some(cells[5].parse().unwrap()),
            dataset_size: None,
        };
        let outputs = cells[7].split(' ').map(|o| o.parse().unwrap()).collect();
        Case { mechanism, outputs, score: cells[8].parse().unwrap() }
    };
    let cases: Vec<Case> = include_str!("data/scores.csv").lines().skip(1).map(parse).collect();
    assert_eq!(cases.len(), 22 * 16);
    cases
}

fn scorer(mechanism: &BatchedGaussian) -> OutputScorer {
    OutputScorer::new(mechanism, OutputOptions::default()).unwrap()
}

impl Case {
    /// 5e-15·max(1, Σ_epochs (|max x| + ½)/σ²); [`ScoreDistribution::score`] promises 1e-13 at any
    /// length.
    fn tolerance(&self) -> f64 {
        let mean = self.mechanism.batch_means().unwrap().target;
        let variance = self.mechanism.noise_multiplier * self.mechanism.noise_multiplier;
        let largest = |epoch: &[f64]| {
            let top = epoch.iter().fold(f64::NEG_INFINITY, |top, o| top.max(o - mean));
            (top.abs() + 0.5) / variance
        };
        let epochs = self.outputs.chunks(self.mechanism.steps_per_epoch as usize);
        5e-15 * epochs.map(largest).sum::<f64>().max(1.0)
    }

    /// The entries of the distribution, reduced and centred by hand.
    fn centred(&self) -> Vec<f64> {
        let m = &self.mechanism;
        let mean = m.batch_means().unwrap().target;
        let steps = m.steps_per_epoch as usize;
        let epochs: Vec<&[f64]> = self.outputs.chunks(steps).collect();
        let averages = |slots: std::ops::Range<usize>| {
            slots.map(|t| epochs.iter().map(|e| e[t] - mean).sum::<f64>() / epochs.len() as f64)
        };
        match m.sampler {
            BatchSampler::PersistentShuffle => averages(0..steps).collect(),
            BatchSampler::Deterministic => averages(0..1).collect(),
            _ => {
                let entries = m.distribution().unwrap().entries as usize;
                epochs.iter().flat_map(|e| e[..entries].iter().map(|o| o - mean)).collect()
            }
        }
    }
}

#[test]
fn scores_match_the_oracle() {
    let mut worst: f64 = 0.0;
    for case in cases() {
        let found = scorer(&case.mechanism).score(&case.outputs).unwrap();
        let error = (found - case.score).abs();
        worst = worst.max(error / case.tolerance());
        assert!(error <= case.tolerance(), "{}: {found} for {}", case.mechanism, case.score);
        let distribution = case.mechanism.distribution().unwrap();
        let reduced = distribution.score(&case.centred()).unwrap();
        let error = (reduced - case.score).abs();
        assert!(error <= 2.0 * case.tolerance(), "{}: {reduced}", case.mechanism);
    }
    println!("largest error ÷ tolerance: {worst:.3}");
}

/// Share of the cases, among those that `twin` changes at all, on which it is rejected.
fn rejected(twin: impl Fn(&Case) -> Option<f64>) -> f64 {
    let (mut tried, mut refused) = (0.0, 0.0);
    for case in cases() {
        if let Some(found) = twin(&case) {
            tried += 1.0;
            refused += f64::from(u8::from((found - case.score).abs() > case.tolerance()));
        }
    }
    assert!(tried > 10.0);
    refused / tried
}

#[test]
fn oracle_rejects_broken_twins() {
    // 1.4 for 1.5 in each epoch.
    let offset = rejected(|case| {
        let distribution = case.mechanism.distribution().unwrap();
        let variance = distribution.noise_multiplier * distribution.noise_multiplier;
        Some(
            distribution.score(&case.centred()).unwrap()
                + f64::from(distribution.epochs) * 0.1 / variance,
        )
    });
    assert!(offset > 0.999, "{offset}");

    let narrow = rejected(|case| {
        let distribution = case.mechanism.distribution().unwrap();
        let distribution = ScoreDistribution {
            noise_multiplier: 0.9 * distribution.noise_multiplier,
            ..distribution
        };
        distribution.score(&case.centred()).ok()
    });
    assert!(narrow > 0.999, "{narrow}");

    let unweighted = rejected(|case| {
        let distribution = case.mechanism.distribution().unwrap();
        let ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Weighted(_) } =
            distribution.kind
        else {
            return None;
        };
        let kind = ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Uniform };
        ScoreDistribution { kind, ..distribution }.score(&case.centred()).ok()
    });
    // Where one output towers over the rest, weights move the score by less than its rounding.
    assert!(unweighted > 0.8, "{unweighted}");

    let rate = rejected(|case| {
        let distribution = case.mechanism.distribution().unwrap();
        let ScoreDistributionKind::Poisson { sampling_rate } = distribution.kind else {
            return None;
        };
        let kind = ScoreDistributionKind::Poisson { sampling_rate: 0.999 * sampling_rate };
        ScoreDistribution { kind, ..distribution }.score(&case.centred()).ok()
    });
    assert!(rate > 0.999, "{rate}");
}

/// z of Σ 1{L ≤ c} in D against Σ e^L·1{L ≤ c} in D′ at several cuts, the largest.
///
/// A cut counts where at least 30 scores of D are expected below it, so that its z is near normal.
fn worst_identity(target: &[f64], zero_out: &[f64]) -> f64 {
    let n = zero_out.len() as f64;
    let mut sorted = zero_out.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quantiles = [0.3, 0.6, 0.9, 0.97].map(|q| sorted[(q * n) as usize]);
    let mut worst: f64 = -1.0;
    for cut in quantiles.into_iter().chain([-2.0, -1.0, 0.0, 1.0, 2.0]) {
        let below = |scores: &[f64], value: fn(f64) -> f64| -> Vec<f64> {
            scores.iter().map(|&l| if l <= cut { value(l) } else { 0.0 }).collect()
        };
        let counts = below(target, |_| 1.0);
        let weights = below(zero_out, math::exp);
        let (weighed, found) = (weights.iter().sum::<f64>() / n, counts.iter().sum::<f64>() / n);
        if n * weighed < 30.0 {
            continue;
        }
        let spread = weights.iter().map(|w| (w - weighed) * (w - weighed)).sum::<f64>() / n;
        let spread = spread + (weighed * (1.0 - weighed)).max(found * (1.0 - found));
        worst = worst.max((found - weighed).abs() / (spread / n).sqrt());
    }
    assert!(worst >= 0.0, "no cut had scores enough");
    worst
}

type Score<'a> = &'a dyn Fn(&[f64]) -> f64;

const RUNS: usize = 20_000;

fn scores_of(m: &BatchedGaussian, seed: u64, score: impl Fn(&[f64]) -> f64) -> [Vec<f64>; 2] {
    World::BOTH.map(|world| {
        let mut draws = Draws::new(seed + world.index() as u64);
        (0..RUNS).map(|_| score(&run(m, world, &mut draws))).collect()
    })
}

#[test]
fn score_is_the_likelihood_ratio_of_the_simulated_sampler() {
    for (noise_multiplier, epochs) in [(0.2, 1), (0.6, 2), (1.0, 1), (5.0, 2)] {
        for m in every_pair(noise_multiplier, epochs) {
            let scorer = scorer(&m);
            let [target, zero_out] = scores_of(&m, 40, |o| scorer.score(o).unwrap());
            let z = worst_identity(&target, &zero_out);
            assert!(z < 4.5, "{m}: z = {z}");
        }
    }
}

#[test]
fn likelihood_identity_rejects_broken_twins() {
    for noise_multiplier in [0.5, 1.0] {
        let [m] = every_pair(noise_multiplier, 1)
            .into_iter()
            .filter(|m| {
                m.sampler == BatchSampler::Shuffle && m.threat_model == ThreatModel::WorstCase
            })
            .collect::<Vec<_>>()
            .try_into()
            .unwrap();
        let honest = scorer(&m);
        let narrow = scorer(&BatchedGaussian { noise_multiplier: 0.9 * noise_multiplier, ..m });
        let offset = 0.1 / (noise_multiplier * noise_multiplier);
        let twins: [(&str, Score<'_>); 3] = [
            ("σ × 0.9", &|o| narrow.score(o).unwrap()),
            ("1.4 for 1.5", &|o| honest.score(o).unwrap() + offset),
            ("a step dropped", &|o| {
                let mut outputs = o.to_vec();
                outputs[4] = -1e3;
                honest.score(&outputs).unwrap()
            }),
        ];
        for (name, twin) in twins {
            let [target, zero_out] = scores_of(&m, 40, twin);
            let z = worst_identity(&target, &zero_out);
            assert!(z > 6.0, "{name} at σ = {noise_multiplier} passes: z = {z}");
        }
    }
}

#[test]
fn slot_weights_and_sampling_rate_matter_to_the_identity() {
    let m = BatchedGaussian {
        noise_multiplier: 0.7,
        steps_per_epoch: 5,
        epochs: 1,
        sampler: BatchSampler::PartialShuffle { buffer_examples: 4 },
        threat_model: ThreatModel::TargetCanary,
        batch_size: Some(3),
        dataset_size: None,
    };
    // Weights that are all equal would pass: a score that is blind to the order of steps is the
    // exact ratio of the pair whose order is forgotten.
    let weights = SlotWeights::Weighted(vec![0.25, 0.75]);
    let distribution = m.distribution().unwrap();
    let swapped = ScoreDistribution {
        kind: ScoreDistributionKind::OneSlot { gap: 1.0, weights },
        ..distribution
    };
    let [target, zero_out] = scores_of(&m, 60, |o| {
        let centred: Vec<f64> = o[..2].iter().map(|o| o - 1.0).collect();
        swapped.score(&centred).unwrap()
    });
    assert!(worst_identity(&target, &zero_out) > 6.0);

    let m = BatchedGaussian { sampler: BatchSampler::Poisson, ..m };
    let distribution = m.distribution().unwrap();
    let distribution = ScoreDistribution {
        kind: ScoreDistributionKind::Poisson { sampling_rate: 0.25 },
        ..distribution
    };
    let [target, zero_out] = scores_of(&m, 60, |o| {
        let centred: Vec<f64> = o.iter().map(|o| o - 1.0).collect();
        distribution.score(&centred).unwrap()
    });
    assert!(worst_identity(&target, &zero_out) > 6.0);
}

#[test]
fn scores_of_batches_that_do_not_divide_the_records_use_their_rate() {
    for m in undivided_pairs(0.7) {
        let z = |scored: BatchedGaussian| {
            let scorer = scorer(&scored);
            let [target, zero_out] = scores_of(&m, 40, |o| scorer.score(o).unwrap());
            worst_identity(&target, &zero_out)
        };
        assert!(z(m) < 4.5, "{m}: z = {}", z(m));
        // the mutant: 1/T in place of B/N
        let steps = BatchedGaussian { dataset_size: None, ..m };
        assert!(z(steps) > 6.0, "{m}: z = {} at one over the steps", z(steps));
    }
}

#[test]
fn exponential_moments_are_one_where_they_are_tame() {
    for m in every_pair(2.0, 1) {
        // B = 3 puts the batch that moves 6 clip norms away: tame only above σ ≈ 4.
        let rigid = m.sampler == BatchSampler::BatchThenShuffle;
        let m = BatchedGaussian { noise_multiplier: if rigid { 8.0 } else { 2.0 }, ..m };
        let scorer = scorer(&m);
        let [target, zero_out] = scores_of(&m, 80, |o| scorer.score(o).unwrap());
        let moments = |off: f64| {
            let inverse: Vec<f64> = target.iter().map(|l| math::exp(-l - off)).collect();
            let ratio: Vec<f64> = zero_out.iter().map(|l| math::exp(l + off)).collect();
            [z_of_mean(&inverse, 1.0).abs(), z_of_mean(&ratio, 1.0).abs()]
        };
        assert!(moments(0.0).iter().all(|z| *z < 4.5), "{m}: z = {:?}", moments(0.0));
        assert!(moments(0.1 / 4.0).iter().all(|z| *z > 6.0), "{m}: {:?}", moments(0.025));
    }
}

#[test]
fn a_constant_offset_shifts_a_worst_case_score() {
    for (epochs, noise_multiplier) in [(1, 0.2), (3, 1.0), (4, 6.0)] {
        for m in every_pair(noise_multiplier, epochs) {
            // The distributions that are no differences of two log-sum-exps of neighbouring slope.
            if m.sampler.kind().draws_each_step_anew() {
                continue;
            }
            let outputs = run(&m, World::Target, &mut Draws::new(7));
            let shifted: Vec<f64> = outputs.iter().map(|o| o + 0.375).collect();
            let scorer = scorer(&m);
            let change = scorer.score(&shifted).unwrap() - scorer.score(&outputs).unwrap();
            let expected = f64::from(epochs) * 0.375 / (noise_multiplier * noise_multiplier);
            let wrong = f64::from(epochs) * 0.375 / (0.81 * noise_multiplier * noise_multiplier);
            assert!((change / expected - 1.0).abs() < 1e-10, "{m}: {change} for {expected}");
            assert!((change / wrong - 1.0).abs() > 0.1);
        }
    }
}

#[test]
fn only_uniform_slots_ignore_the_order_of_steps() {
    for m in every_pair(0.8, 1) {
        let scorer = scorer(&m);
        let mut draws = Draws::new(9);
        let outputs = run(&m, World::Target, &mut draws);
        let score = scorer.score(&outputs).unwrap();
        let moves = |outputs: &[f64]| (scorer.score(outputs).unwrap() - score).abs() > 1e-12;
        let mut rotated = outputs.clone();
        rotated.rotate_left(2);
        let mut reversed = outputs;
        reversed.reverse();
        let blind = !matches!(
            m.sampler,
            BatchSampler::Deterministic
                | BatchSampler::PartialShuffle { .. }
                | BatchSampler::SlidingBuffer { .. }
        );
        assert_eq!(moves(&rotated) || moves(&reversed), !blind, "{m}");
    }
}

#[test]
fn every_reference_of_the_outputs_yields_the_same_score() {
    for m in every_pair(1.3, 2) {
        let other = m.batch_means().unwrap().other;
        let outputs = run(&m, World::ZeroOut, &mut Draws::new(3));
        let centred: Vec<f64> = outputs.iter().map(|o| o - other).collect();
        let options =
            OutputOptions { reference: OutputReference::OtherBatches, ..OutputOptions::default() };
        let from_centred = OutputScorer::new(&m, options).unwrap();
        let (left, right) =
            (scorer(&m).score(&outputs).unwrap(), from_centred.score(&centred).unwrap());
        assert!((left - right).abs() < 1e-13, "{m}: {left} {right}");
        // Broken twin: raw outputs read as centred ones.
        let confused = from_centred.score(&outputs).unwrap();
        assert_eq!((confused - left).abs() < 1e-3, other == 0.0, "{m}");
    }
}

#[test]
fn the_prefix_of_the_true_buffer_is_the_score_with_a_known_buffer() {
    let m = BatchedGaussian {
        noise_multiplier: 1.0,
        steps_per_epoch: 25,
        epochs: 3,
        sampler: BatchSampler::Shuffle,
        threat_model: ThreatModel::PartiallyInformed,
        batch_size: Some(4),
        dataset_size: None,
    };
    let outputs = run(&m, World::Target, &mut Draws::new(21));
    let candidates = partial_shuffle_candidates(25);
    let scores = scorer(&m).prefix_scores(&outputs, &candidates).unwrap();
    assert_eq!(scores.len(), candidates.len());
    for (k, score) in candidates.iter().zip(&scores) {
        let sampler = BatchSampler::PartialShuffle { buffer_examples: u64::from(4 * k) };
        let known = scorer(&BatchedGaussian { sampler, ..m });
        assert_eq!(known.score(&outputs), Ok(*score), "k = {k}");
    }
    assert!(scores.is_sorted_by(|a, b| a != b));
}

#[test]
fn the_true_prefix_distinguishes_a_partial_shuffle_best() {
    let m = BatchedGaussian {
        noise_multiplier: 1.0,
        steps_per_epoch: 20,
        epochs: 1,
        sampler: BatchSampler::PartialShuffle { buffer_examples: 12 },
        threat_model: ThreatModel::WorstCase,
        batch_size: Some(3),
        dataset_size: None,
    };
    let candidates = partial_shuffle_candidates(20);
    let scorer = scorer(&m);
    let mut separations = vec![0.0; candidates.len()];
    for world in World::BOTH {
        let mut draws = Draws::new(31);
        for _ in 0..3_000 {
            let outputs = run(&m, world, &mut draws);
            let scores = scorer.prefix_scores(&outputs, &candidates).unwrap();
            for (separation, score) in separations.iter_mut().zip(scores) {
                // The mean of a bounded function of the score, so that no tail decides.
                let vote = 1.0 / (1.0 + math::exp(-score));
                *separation += if world == World::Target { vote } else { -vote };
            }
        }
    }
    let best = (0..candidates.len()).max_by(|&a, &b| separations[a].total_cmp(&separations[b]));
    assert_eq!(best.map(|i| candidates[i]), Some(4), "{separations:?}");
}

#[test]
fn extremes_of_every_distribution_are_finite() {
    for (noise_multiplier, steps_per_epoch, epochs) in
        [(0.2, 1, 1_000), (0.2, 1_000, 10), (20.0, 100_000, 1), (20.0, 1, 1)]
    {
        for m in every_pair(noise_multiplier, epochs) {
            let sampler = match m.sampler {
                // the only batch of an epoch has all records
                BatchSampler::TruncatedPoisson(Truncation { dataset_size, .. })
                    if steps_per_epoch == 1 =>
                {
                    let truncation = Truncation { dataset_size, max_batch_size: dataset_size };
                    BatchSampler::TruncatedPoisson(truncation)
                }
                sampler => sampler,
            };
            let m = BatchedGaussian { steps_per_epoch, batch_size: Some(8), sampler, ..m };
            let scorer = scorer(&m);
            let mut draws = Draws::new(1);
            let means = m.batch_means().unwrap();
            for z in [-6.8, 0.0, 6.8] {
                let outputs: Vec<f64> = (0..scorer.outputs_per_run())
                    .map(|_| means.other + noise_multiplier * (z + 1e-3 * draws.normal()))
                    .collect();
                assert!(scorer.score(&outputs).is_ok(), "{m} at z = {z}");
            }
        }
    }
}
