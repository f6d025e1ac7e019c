//! Known-answer tests that a pipeline must pass before it counts.

use std::sync::Arc;

use dpscope_core::adjacency::World;
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_core::mechanism::{ScoreDistribution, ScoreDistributionKind, SlotWeights};
use dpscope_engine::{GpuError, UnitRange};
use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::{Phase, Program, ScoreKernel, Variant};

use super::device::{Build, Gpu};
use super::device_program::DeviceProgram;
use super::record::Pass;

/// A seed whose observation 23 of D′ has a radius word below 2¹² at position 52: the deep tail, one
/// in 2²⁰ words.
const SEED: u64 = 36;

/// Observations with the one of the deep tail; odd at the start, more than three workgroups.
const RANGE: UnitRange = UnitRange { first: 5, end: 5 + 257 };

/// Maximum normals per observation for which observations of the run itself are compared.
const MAX_NORMALS: u64 = 1 << 14;

/// The pipeline of a program's variant, after comparing its scores with the CPU twin's.
pub(super) async fn load(gpu: &Arc<Gpu>, program: &Program) -> Result<DeviceProgram, GpuError> {
    let variant = program.variant();
    if let Some(tested) = gpu.tested(variant.into()) {
        return DeviceProgram::new(gpu, program, tested.map_err(GpuError::Unfit)?);
    }
    let mut reason = String::new();
    for build in Build::ALL {
        let Some(pipeline) = gpu.compiled(variant.into(), build).await? else { continue };
        match known_answers(gpu, variant, &pipeline).await {
            Ok(()) => {
                gpu.set_tested(variant.into(), Ok(pipeline.clone()));
                return DeviceProgram::new(gpu, program, pipeline);
            }
            Err(GpuError::Unfit(wrong)) => reason = wrong,
            Err(failure) => return Err(failure),
        }
    }
    gpu.set_tested(variant.into(), Err(reason.clone()));
    Err(GpuError::Unfit(reason))
}

/// Compares the scores of distributions with this variant.
async fn known_answers(
    gpu: &Arc<Gpu>,
    variant: Variant,
    pipeline: &wgpu::ComputePipeline,
) -> Result<(), GpuError> {
    for distribution in distributions() {
        let Ok(kernel) = ScoreKernel::new(&distribution, SEED, Phase::Audit) else { continue };
        let canonical = kernel.program(variant.mode());
        if canonical.variant() != variant {
            continue;
        }
        let loaded = DeviceProgram::new(gpu, &canonical, pipeline.clone())?;
        for most_blocks in [u64::MAX, 2] {
            let pass = Pass { loaded: &loaded, program: &canonical, most_blocks };
            compare(pass, &kernel, RANGE, None).await?;
        }
    }
    Ok(())
}

/// Compares the first observations of a run if they are cheap.
pub(super) async fn check_own(
    loaded: &DeviceProgram,
    program: &Program,
    kernel: &ScoreKernel,
    bins: &ScoreBins,
) -> Result<(), GpuError> {
    let range = UnitRange { first: 0, end: 256 };
    let pass = Pass { loaded, program, most_blocks: u64::MAX };
    match kernel.entries_per_observation() {
        0..=MAX_NORMALS => compare(pass, kernel, range, Some(bins)).await,
        _ => Ok(()),
    }
}

/// Compares scores with the CPU's, and counts with the scores; `None` selects suitable bins.
async fn compare(
    pass: Pass<'_>,
    kernel: &ScoreKernel,
    range: UnitRange,
    bins: Option<&ScoreBins>,
) -> Result<(), GpuError> {
    let variant = pass.program.variant();
    let found = pass.scores(range).await?;
    for (world, found) in World::BOTH.into_iter().zip(&found) {
        let mut expected = vec![0; range.len() as usize];
        let twin = kernel.scores(world, range.first, &mut expected, &|| true);
        twin.map_err(|_| GpuError::Stopped)?;
        if let Some(difference) = difference(variant, kernel, &expected, found) {
            return Err(GpuError::Unfit(format!("self-test: {difference}")));
        }
    }
    let [target, zero_out] = &found;
    let of_scores = || ScoreBins::from_pilot(kernel.score_unit(), target, zero_out).ok();
    let Some(bins) = bins.copied().or_else(of_scores) else { return Ok(()) };
    match miscount(&bins, range.first, &found, &pass.counts(range, &bins).await?) {
        Some(wrong) => Err(GpuError::Unfit(format!("self-test: {} {wrong}", variant.name()))),
        None => Ok(()),
    }
}

/// The first bin with a wrong count.
fn miscount(
    bins: &ScoreBins,
    first: u64,
    scores: &[Vec<i64>; 2],
    counts: &[u32],
) -> Option<String> {
    let mut expected = vec![0; 4 * bins.len()];
    for (world, scores) in scores.iter().enumerate() {
        for (observation, &score) in (first..).zip(scores) {
            let half = 2 * world + (observation & 1) as usize;
            expected[half * bins.len() + bins.bin(score)] += 1;
        }
    }
    if counts.len() != expected.len() {
        return Some(format!("has {} counts instead of {}", counts.len(), expected.len()));
    }
    let at = expected.iter().zip(counts).position(|(expected, found)| expected != found)?;
    let (expected, found) = (expected[at], counts[at]);
    Some(format!("bin {at} of the histograms has {found} scores instead of {expected}"))
}

/// The first wrong score: in exact mode any difference; in fast mode more than 1e-3 nats and 1e-4
/// of its value, which detects a broken kernel.
fn difference(
    variant: Variant,
    kernel: &ScoreKernel,
    expected: &[i64],
    found: &[i64],
) -> Option<String> {
    let unit = kernel.score_unit();
    let differs = |(expected, found): &(&i64, &i64)| match variant.mode() {
        FloatMode::Exact => expected != found,
        FloatMode::Fast => {
            let nats = expected.abs_diff(**found) as f64 * unit;
            nats > 1e-3 + 1e-4 * (expected.unsigned_abs() as f64 * unit)
        }
    };
    if expected.len() != found.len() {
        return Some(format!("{} scores instead of {}", found.len(), expected.len()));
    }
    let at = expected.iter().zip(found).position(|pair| differs(&pair))?;
    let (name, expected, found) = (variant.name(), expected[at], found[at]);
    Some(format!("{name} scores {found} instead of {expected} as on the CPU, in units of {unit:?}"))
}

/// Distributions of every variant: one epoch with one partial block, and three epochs that share
/// blocks.
fn distributions() -> Vec<ScoreDistribution> {
    let uniform = |gap| ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Uniform };
    let weighted = |gap, entries: u32| {
        // A total below 1: some observations have no slot.
        let weights = (0..entries).map(|entry| f64::from(1 + entry % 7) / 8.0 / f64::from(entries));
        ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Weighted(weights.collect()) }
    };
    let distribution = |noise_multiplier, epochs, entries, kind| ScoreDistribution {
        noise_multiplier,
        epochs,
        entries,
        kind,
    };
    let mut all =
        vec![distribution(1.0, 100, 1, uniform(2.0)), distribution(0.5, 70, 1, uniform(1.0))];
    for (epochs, entries) in [(1, 530), (3, 37)] {
        for noise_multiplier in [1.0, 0.7, 0.2, 0.1] {
            for gap in [1.0, 2.0, 200.0] {
                all.push(distribution(noise_multiplier, epochs, entries, uniform(gap)));
                all.push(distribution(noise_multiplier, epochs, entries, weighted(gap, entries)));
            }
        }
        for (noise_multiplier, sampling_rate) in [(1.0, 0.01), (0.3, 0.4), (1.0, 1.0)] {
            all.push(distribution(
                noise_multiplier,
                epochs,
                entries,
                ScoreDistributionKind::Poisson { sampling_rate },
            ));
            let kind = ScoreDistributionKind::FixedSize { sampling_rate };
            all.push(distribution(noise_multiplier, epochs, entries, kind));
        }
        let kind = ScoreDistributionKind::SeveralSlots { uses_per_epoch: entries / 3 };
        all.push(distribution(0.7, epochs, entries, kind));
    }
    all
}

#[cfg(test)]
mod tests {
    use dpscope_core::random::{Purpose, stream_words};

    use super::*;

    fn kernel(distribution: &ScoreDistribution) -> ScoreKernel {
        ScoreKernel::new(distribution, SEED, Phase::Audit).unwrap()
    }

    #[test]
    fn every_variant_has_distributions() {
        for variant in Variant::all() {
            let of_variant = |distribution: &&ScoreDistribution| {
                kernel(distribution).program(variant.mode()).variant() == variant
            };
            let all = distributions();
            let found = all.iter().filter(of_variant).count();
            assert!(found >= 2, "{}: {found}", variant.name());
        }
    }

    #[test]
    fn every_distribution_reaches_the_deep_tail_within_the_range() {
        let (observation, position) = (23, 52);
        let mut word = [0];
        stream_words(SEED, Purpose::AuditNoise, 2 * observation + 1, position, &mut word);
        assert!(word[0] < 1 << 12, "{}", word[0]);
        assert!((RANGE.first..RANGE.end).contains(&observation));
        for distribution in distributions() {
            assert!(
                kernel(&distribution).entries_per_observation() > position + 1,
                "{distribution:?}"
            );
        }
    }

    #[test]
    fn differences_are_detected() {
        let distribution = &distributions()[2];
        let kernel = kernel(distribution);
        let [exact, fast] =
            [FloatMode::Exact, FloatMode::Fast].map(|mode| kernel.program(mode).variant());
        let mut scores = vec![0; 100];
        kernel.scores(World::Target, 0, &mut scores, &|| true).unwrap();
        let mut changed = scores.clone();
        assert_eq!(difference(exact, &kernel, &scores, &changed), None);
        changed[99] += 1;
        assert!(difference(exact, &kernel, &scores, &changed).is_some());
        assert_eq!(difference(fast, &kernel, &scores, &changed), None);
        changed[99] += (0.01 / kernel.score_unit()) as i64;
        assert!(difference(fast, &kernel, &scores, &changed).is_some());
        assert!(difference(fast, &kernel, &scores, &scores[..99]).is_some());
    }

    #[test]
    fn miscounts_are_detected() {
        let bins = ScoreBins::new(1.0, -4, 1, 6).unwrap();
        let scores = [vec![-9, -4, -3, 0, 5], vec![3, 3, 3, -1, i64::MAX]];
        let mut counts = vec![0; 24];
        for at in [6, 1, 7, 3, 11, 22, 16, 22, 14, 23] {
            counts[at] += 1;
        }
        assert_eq!(miscount(&bins, 7, &scores, &counts), None);
        assert!(miscount(&bins, 8, &scores, &counts).is_some(), "the other halves");
        counts.swap(11, 10);
        assert!(miscount(&bins, 7, &scores, &counts).is_some(), "a bin too low");
        assert!(miscount(&bins, 7, &scores, &counts[..23]).is_some());
    }
}
