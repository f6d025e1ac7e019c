//! Distributions, and the scores and counts that kernels make of them on the GPU and on the CPU.

use dpscope_core::adjacency::World;
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_core::mechanism::{
    BatchSampler, BatchedGaussian, ScoreDistribution, ThreatModel, Truncation,
};
use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::{Phase, Piece, Program, ScoreKernel};

use crate::device::{Gpu, Work};

pub(crate) use crate::reference::{distribution, one_slot, poisson, weighted};

/// Truncated Poisson batches, as an audit has them.
pub(crate) fn truncated_poisson() -> ScoreDistribution {
    let truncation = Truncation { dataset_size: 200, max_batch_size: 22 };
    let mechanism = BatchedGaussian {
        noise_multiplier: 0.8,
        steps_per_epoch: 10,
        epochs: 3,
        sampler: BatchSampler::TruncatedPoisson(truncation),
        threat_model: ThreatModel::TargetCanary,
        batch_size: None,
        dataset_size: None,
    };
    mechanism.distribution().expect("from the mean to all records")
}

/// The kernel of a distribution under a seed.
pub(crate) fn kernel(distribution: &ScoreDistribution, seed: u64) -> Result<ScoreKernel, String> {
    let kernel = ScoreKernel::new(distribution, seed, Phase::Audit);
    kernel.map_err(|error| format!("{distribution:?}: {error}"))
}

/// Observations of both worlds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Observations {
    pub(crate) first: u64,
    pub(crate) count: u32,
}

/// Turns of loops that an invocation may take in one dispatch; some drivers end at 65,536.
const MOST_TURNS: u64 = 50_000;

/// The observations in as few pieces as every driver can do, none of more than `most` blocks.
pub(crate) fn pieces<'a>(
    program: &Program,
    observations: Observations,
    bins: Option<&'a ScoreBins>,
    most: u64,
) -> Vec<Piece<'a>> {
    let Observations { first, count } = observations;
    let most = most.min(MOST_TURNS / u64::from(program.iterations_per_block())).max(1);
    let piece = |start: u64| {
        let blocks = start..(start + most).min(program.blocks());
        Piece { first, observations: count, blocks, bins }
    };
    (0..program.blocks()).step_by(most as usize).map(piece).collect()
}

/// Scores as the GPU records them: those of D, then those of D′.
pub(crate) fn gpu_scores(
    gpu: &Gpu,
    kernel: &ScoreKernel,
    mode: FloatMode,
    observations: Observations,
) -> Result<Vec<i64>, String> {
    let program = kernel.program(mode);
    let work = Work::of(&program, &pieces(&program, observations, None, u64::MAX));
    recorded(&gpu.run(&gpu.kernel(program.variant())?, &work)?)
}

/// Recorded words as scores.
pub(crate) fn recorded(words: &[u32]) -> Result<Vec<i64>, String> {
    let score = |pair: &[u32]| (u64::from(pair[0]) | u64::from(pair[1]) << 32) as i64;
    Ok(words.chunks_exact(2).map(score).collect())
}

/// Scores of the CPU twin: those of D, then those of D′.
pub(crate) fn cpu_scores(kernel: &ScoreKernel, observations: Observations) -> Vec<i64> {
    let mut scores = vec![0; 2 * observations.count as usize];
    let (target, zero_out) = scores.split_at_mut(observations.count as usize);
    for (world, part) in World::BOTH.into_iter().zip([target, zero_out]) {
        // Never cancelled.
        let _ = kernel.scores(world, observations.first, part, &|| true);
    }
    scores
}

/// Bins placed by the first scores of a kernel.
pub(crate) fn bins(kernel: &ScoreKernel) -> Result<ScoreBins, String> {
    let pilot = cpu_scores(kernel, Observations { first: 0, count: 512 });
    let (target, zero_out) = pilot.split_at(512);
    let bins = ScoreBins::from_pilot(kernel.score_unit(), target, zero_out);
    bins.map_err(|error| error.to_string())
}

/// Counts as the GPU makes them: [world][parity of the observation][bin].
pub(crate) fn gpu_counts(
    gpu: &Gpu,
    kernel: &ScoreKernel,
    mode: FloatMode,
    bins: &ScoreBins,
    observations: Observations,
) -> Result<Vec<u32>, String> {
    let program = kernel.program(mode);
    let work = Work::of(&program, &pieces(&program, observations, Some(bins), u64::MAX));
    gpu.run(&gpu.kernel(program.variant())?, &work)
}

/// Counts of scores that the CPU made: [world][parity of the observation][bin].
pub(crate) fn cpu_counts(scores: &[i64], bins: &ScoreBins, first: u64) -> Vec<u32> {
    let mut counts = vec![0; 4 * bins.len()];
    let each = (scores.len() / 2).max(1);
    for (index, &score) in scores.iter().enumerate() {
        let (world, observation) = (index / each, first + (index % each) as u64);
        let half = (observation % 2) as usize;
        counts[(world * 2 + half) * bins.len() + bins.bin(score)] += 1;
    }
    counts
}

/// The source with one place changed.
pub(crate) fn edited(source: &str, from: &str, to: &str) -> Result<String, String> {
    match source.matches(from).count() {
        1 => Ok(source.replace(from, to)),
        n => Err(format!("`{from}` occurs {n} times in the kernel: change the broken twin")),
    }
}
