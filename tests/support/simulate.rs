//! Simulated audits: whole runs of the engine, scores of the kernel, and scores of broken twins.
//!
//! A run that fails is a broken test, so these panic with the error.

use std::sync::LazyLock;

use dpscope_core::adjacency::World;
use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::mechanism::{
    BatchSampler, BatchedGaussian, SamplerKind, SamplerParameters, ScoreDistribution,
    ScoreDistributionKind, ThreatModel, Truncation,
};
use dpscope_engine::{Shard, Unattended, begin, run};
use dpscope_shaders::bgm::{Phase, ScoreKernel};
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Artefact, Backend, Evaluate, Plan, Simulation};

/// One pool for all tests of a binary: they share the cores instead of competing for them.
static BACKEND: LazyLock<Backend> = LazyLock::new(|| backend(0));

/// A backend of its own with so many threads.
pub fn backend(threads: usize) -> Backend {
    Backend::Cpu(CpuBackend::new(threads).expect("the system gives threads"))
}

/// The batched Gaussian mechanism that is shuffled afresh each epoch, in its worst case.
pub fn shuffled(noise_multiplier: f64, steps_per_epoch: u32, epochs: u32) -> BatchedGaussian {
    BatchedGaussian {
        noise_multiplier,
        steps_per_epoch,
        epochs,
        sampler: BatchSampler::Shuffle,
        threat_model: ThreatModel::WorstCase,
        batch_size: None,
        dataset_size: None,
    }
}

/// A sampler with those of these parameters that it needs.
pub fn sampler_with(
    kind: SamplerKind,
    buffer_examples: u64,
    Truncation { dataset_size, max_batch_size }: Truncation,
) -> BatchSampler {
    kind.with_parameters(SamplerParameters {
        buffer_examples: kind.has_buffer().then_some(buffer_examples),
        uses_per_epoch: None,
        dataset_size: Some(dataset_size),
        max_batch_size: (kind == SamplerKind::TruncatedPoisson).then_some(max_batch_size),
    })
    .expect("the sampler has what it needs")
}

/// An audit by the simultaneous rule at δ = 1e-5 and 95 %.
pub fn planned(mechanism: BatchedGaussian, observations: u64, seed: u64) -> Plan {
    Plan {
        mechanism,
        observations,
        delta: 1e-5,
        significance: 0.05,
        threshold_rule: ThresholdRule::Simultaneous,
        cuts: Plan::DEFAULT_CUTS,
        seed,
        training: None,
    }
}

/// The whole plan, counted.
pub fn counted(plan: &Plan) -> Artefact {
    counted_on(&BACKEND, plan, Shard::WHOLE)
}

/// One shard of the plan, counted on a backend.
pub fn counted_on(backend: &Backend, plan: &Plan, shard: Shard) -> Artefact {
    let valid = plan.validated().expect("the plan is valid");
    let simulation = Simulation::new(&valid, backend).expect("the kernel takes the plan");
    let range = shard.range(plan.observations_per_world()).expect("the shard exists");
    let start = begin(&simulation, range, &Unattended).expect("the pilot has a layout");
    let counting = run(&simulation, start, &Unattended);
    pollster::block_on(counting).expect("the run ends")
}

/// What the plan's rule makes of the whole plan.
pub fn audited(plan: &Plan) -> f64 {
    counted(plan).outcome().expect("a counted plan has an outcome").value()
}

/// Scores in nats of observations 0..n of a world, by the kernel.
pub fn scores(
    distribution: &ScoreDistribution,
    seed: u64,
    phase: Phase,
    world: World,
    n: u64,
) -> Vec<f64> {
    let kernel =
        ScoreKernel::new(distribution, seed, phase).expect("the kernel takes the distribution");
    let units = BACKEND.cpu().scores(&kernel, world, n, &|| true).expect("nobody stops it");
    units.iter().map(|&score| score as f64 * kernel.score_unit()).collect()
}

/// Scores of observations 0..n of a world, by the f64 formula on the kernel's draws, with the noise
/// multiplied by `noise_factor`, of which the score knows nothing: a broken twin unless it is 1.
pub fn rescored(
    distribution: &ScoreDistribution,
    seed: u64,
    world: World,
    n: u64,
    noise_factor: f64,
) -> Vec<f64> {
    redrawn(distribution, seed, (world, world), n, noise_factor)
}

/// Scores of a world that takes its noise and slots from the other world's stream: a broken twin.
pub fn borrowed(distribution: &ScoreDistribution, seed: u64, world: World, n: u64) -> Vec<f64> {
    let other = if world == World::Target { World::ZeroOut } else { World::Target };
    redrawn(distribution, seed, (world, other), n, 1.0)
}

fn redrawn(
    distribution: &ScoreDistribution,
    seed: u64,
    (world, stream): (World, World),
    n: u64,
    noise_factor: f64,
) -> Vec<f64> {
    let kernel = ScoreKernel::new(distribution, seed, Phase::Audit)
        .expect("the kernel takes the distribution");
    let with_target = if world == World::Target { 0.0 } else { -1.0 };
    let without = match distribution.kind {
        ScoreDistributionKind::OneSlot { gap, .. } => -gap,
        ScoreDistributionKind::FixedSize { .. } => -2.0,
        ScoreDistributionKind::Poisson { .. } | ScoreDistributionKind::SeveralSlots { .. } => -1.0,
    };
    let noise = distribution.noise_multiplier * noise_factor;
    let score = |observation| {
        let draws = kernel.draws(stream, observation);
        let entries = draws.normals.iter().zip(&draws.target);
        let centred: Vec<f64> = entries
            .map(|(&z, &held)| noise * f64::from(z) + if held { with_target } else { without })
            .collect();
        distribution.score(&centred).expect("finite entries have a score")
    };
    (0..n).map(score).collect()
}

/// Mean and standard deviation of values that were drawn independently.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// How many.
    pub values: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation, with n − 1.
    pub standard_deviation: f64,
}

impl Spread {
    /// The spread of at least two values.
    pub fn of(values: &[f64]) -> Self {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let square = |v: &f64| (v - mean) * (v - mean);
        let variance = values.iter().map(square).sum::<f64>() / (n - 1.0);
        Spread { values: values.len(), mean, standard_deviation: variance.sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_on_the_draws_is_the_kernel_and_its_twins_are_not() {
        let distribution = shuffled(1.0, 5, 2).distribution().unwrap();
        for world in World::BOTH {
            let kernel = scores(&distribution, 3, Phase::Audit, world, 200);
            let apart = |noise_factor| {
                let other = rescored(&distribution, 3, world, 200, noise_factor);
                kernel.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            assert!(apart(1.0) < 1e-4);
            assert!(apart(0.9) > 0.1);
        }
    }

    #[test]
    fn spread_by_hand() {
        let Spread { values, mean, standard_deviation } = Spread::of(&[1.0, 2.0, 6.0]);
        assert_eq!((values, mean, standard_deviation), (3, 3.0, 7.0_f64.sqrt()));
    }
}
