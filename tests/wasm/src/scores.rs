//! Scores: of the kernel in f32 lanes, and of recorded outputs in f64.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::{
    BatchSampler, BatchedGaussian, OutputOptions, OutputScorer, SamplerKind, SamplerParameters,
    ScoreDistribution, ScoreDistributionKind, SlotWeights, partial_shuffle_candidates,
};
use dpscope_core::random::Purpose;
use dpscope_shaders::bgm::{Phase, ScoreKernel};
use dpscope_shaders::random::stream_normals;

use crate::{Fingerprints, bits};

/// Both ends of the domain, and where the kernels change their way of scoring.
const NOISE_MULTIPLIERS: [f64; 7] = [0.2, 0.25, 0.35, 0.5, 1.0, 3.0, 20.0];

/// More than two groups of lanes, and part of a third.
const OBSERVATIONS: usize = 150;

/// A mechanism of each sampler under each of its threat models.
fn every_pair(
    noise_multiplier: f64,
    steps_per_epoch: u32,
    epochs: u32,
    batch_size: u32,
) -> Vec<BatchedGaussian> {
    let mut pairs = Vec::new();
    for kind in SamplerKind::ALL {
        for &threat_model in kind.threat_models() {
            let records = u64::from(steps_per_epoch * batch_size);
            let is_truncated = kind == SamplerKind::TruncatedPoisson;
            let sampler = kind.with_parameters(SamplerParameters {
                buffer_examples: kind.has_buffer().then_some(records * 2 / 3),
                uses_per_epoch: None,
                dataset_size: Some(records),
                max_batch_size: is_truncated.then_some(u64::from(batch_size) + 1),
            });
            pairs.push(BatchedGaussian {
                noise_multiplier,
                steps_per_epoch,
                epochs,
                sampler: sampler.expect("what each sampler needs"),
                threat_model,
                batch_size: Some(batch_size),
                dataset_size: None,
            });
        }
    }
    pairs
}

fn mechanisms() -> impl Iterator<Item = BatchedGaussian> {
    let shapes = [(5, 1, 3), (5, 4, 3), (37, 1, 100), (100, 3, 2)];
    NOISE_MULTIPLIERS.into_iter().flat_map(move |noise_multiplier| {
        shapes.into_iter().flat_map(move |(steps, epochs, batch_size)| {
            every_pair(noise_multiplier, steps, epochs, batch_size)
        })
    })
}

/// Distributions that no small mechanism has.
fn far_distributions() -> Vec<ScoreDistribution> {
    let one_slot = |gap: f64, weights: SlotWeights| -> ScoreDistributionKind {
        ScoreDistributionKind::OneSlot { gap, weights }
    };
    let falling: Vec<f64> = (1..=40).map(|t| 1.0 / f64::from(t * (t + 1))).collect();
    let distribution = |noise_multiplier, epochs, entries, kind| ScoreDistribution {
        noise_multiplier,
        epochs,
        entries,
        kind,
    };
    vec![
        distribution(0.001, 1, 17, one_slot(2.0, SlotWeights::Uniform)),
        distribution(1e4, 1, 17, one_slot(2.0, SlotWeights::Uniform)),
        distribution(0.0063, 3, 500, one_slot(1.0, SlotWeights::Uniform)),
        distribution(1.0, 40, 1, one_slot(2.0, SlotWeights::Uniform)),
        distribution(1.0, 2, 1_000, one_slot(2.0, SlotWeights::Uniform)),
        distribution(4.0, 1, 100, one_slot(1e6, SlotWeights::Uniform)),
        distribution(0.7, 5, 40, one_slot(2.0, SlotWeights::Weighted(falling.clone()))),
        distribution(0.2, 5, 40, one_slot(1.0, SlotWeights::Weighted(falling))),
        distribution(0.2, 1, 1_000, ScoreDistributionKind::Poisson { sampling_rate: 1e-9 }),
        distribution(0.5, 2, 700, ScoreDistributionKind::Poisson { sampling_rate: 0.01 }),
        distribution(20.0, 2, 700, ScoreDistributionKind::Poisson { sampling_rate: 0.5 }),
        distribution(1.0, 3, 50, ScoreDistributionKind::Poisson { sampling_rate: 1.0 }),
    ]
}

pub(crate) fn collect(found: &mut Fingerprints) {
    for (seed, mechanism) in (1..).zip(mechanisms()) {
        let distribution = mechanism.distribution().expect("the mechanism has a distribution");
        simulated(found, &distribution, seed);
        recorded(found, &mechanism, seed);
    }
    for (seed, distribution) in (1 << 40..).zip(far_distributions()) {
        simulated(found, &distribution, seed);
    }
}

/// Scores of the kernel, and its unit.
fn simulated(found: &mut Fingerprints, distribution: &ScoreDistribution, seed: u64) {
    for phase in [Phase::Pilot, Phase::Audit] {
        let kernel =
            ScoreKernel::new(distribution, seed, phase).expect("the kernel takes the distribution");
        for world in World::BOTH {
            let mut scores = vec![0; OBSERVATIONS];
            let first = seed * 1_000_003;
            kernel.scores(world, first, &mut scores, &|| true).expect("nobody stops it");
            let scores = scores.iter().map(|score| score.cast_unsigned());
            let unit = kernel.score_unit().to_bits();
            found.hashed("simulated scores", scores.chain([unit]));
        }
    }
}

/// Scores of outputs that a run of this mechanism might have recorded.
fn recorded(found: &mut Fingerprints, mechanism: &BatchedGaussian, seed: u64) {
    let scorer = OutputScorer::new(mechanism, OutputOptions::default()).expect("it has a scorer");
    let means = mechanism.batch_means().expect("it has means");
    let steps = mechanism.steps_per_epoch as usize;
    let count = scorer.outputs_per_run() as usize;
    for (stream, held) in [(0, means.target), (1, means.zero_out)] {
        let noise = stream_normals(seed, Purpose::Test, stream, count);
        let output = |(i, &z): (usize, &f32)| {
            let mean = if i % steps == 0 { held } else { means.other };
            mean + mechanism.noise_multiplier * f64::from(z)
        };
        let outputs: Vec<f64> = noise.iter().enumerate().map(output).collect();
        let score = scorer.score(&outputs).expect("finite outputs have a score");
        found.float("recorded scores", score);
        if matches!(mechanism.sampler, BatchSampler::Shuffle) {
            let candidates = partial_shuffle_candidates(mechanism.steps_per_epoch);
            let scores = scorer.prefix_scores(&outputs, &candidates);
            let scores = scores.expect("a shuffle has prefixes");
            found.hashed("prefix scores", scores.into_iter().map(bits));
        }
    }
}
