//! Exact mode: the bits of the CPU twin, over distributions, sizes and numbers of observations.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::{ScoreDistribution, ScoreDistributionKind, SlotWeights};
use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::ScoreKernel;
use dpscope_simulation::Backend;
use libtest_mimic::{Failed, Trial};

use crate::audits;
use crate::comparison::exact;
use crate::device::{Gpu, Work, gpu};
use crate::kernels::{
    Observations, bins, cpu_counts, cpu_scores, distribution, gpu_counts, gpu_scores, kernel,
    one_slot, pieces, poisson, recorded, truncated_poisson, weighted,
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("exact_scores_equal_the_twin_for_every_distribution", || {
            check_distributions(&ways())
        }),
        Trial::test("exact_scores_equal_the_twin_at_block_edges", || {
            check_distributions(&lengths())
        }),
        Trial::test("exact_scores_equal_the_twin_at_extreme_noise", || {
            check_distributions(&extremes())
        }),
        Trial::test("exact_scores_of_the_engine_equal_the_twin", through_the_engine),
        Trial::test("exact_scores_of_high_indices_equal_the_twin", far_observations),
        Trial::test("exact_counts_equal_the_twin_at_every_size", sizes),
        Trial::test("counts_beyond_one_workgroup_row_equal_the_twin", beyond_one_row),
        Trial::test("splitting_into_dispatches_changes_no_score", split_observations),
    ]
}

/// Every way to score: gaps, weights of total 1 and less, inclusion, known slots.
fn ways() -> Vec<ScoreDistribution> {
    let mut distributions = vec![truncated_poisson()];
    for sigma in [0.3, 1.0, 4.0] {
        for (epochs, entries) in [(1, 100), (3, 37), (40, 2)] {
            for gap in [1.0, 2.0, 3.0, 200.0, 20_000.0] {
                distributions.push(distribution(sigma, epochs, entries, one_slot(gap)));
            }
            for (gap, total) in [(1.0, 1.0), (1.0, 0.5), (2.0, 1.0), (2.0, 0.7), (20.0, 0.9)] {
                distributions.push(distribution(
                    sigma,
                    epochs,
                    entries,
                    weighted(gap, entries, total),
                ));
            }
            for rate in [1e-9, 1e-4, 0.01, 0.5, 0.999, 1.0] {
                distributions.push(distribution(sigma, epochs, entries, poisson(rate)));
            }
        }
        distributions.push(distribution(sigma, 100, 1, one_slot(2.0)));
    }
    distributions
}

/// Lengths of epochs at the edges of blocks (16), levels of the sums (512) and in between.
fn lengths() -> Vec<ScoreDistribution> {
    let mut distributions = Vec::new();
    for entries in [1, 2, 3, 15, 16, 17, 31, 32, 33, 511, 512, 513] {
        for kind in [
            one_slot(2.0),
            one_slot(20.0),
            weighted(2.0, entries, 0.8),
            poisson(0.1),
            ScoreDistributionKind::FixedSize { sampling_rate: 0.1 },
            ScoreDistributionKind::SeveralSlots { uses_per_epoch: entries.div_ceil(3) },
        ] {
            distributions.push(distribution(1.0, 5, entries, kind));
        }
    }
    for kind in [one_slot(1.0), one_slot(200.0), poisson(1e-3)] {
        distributions.push(distribution(1.0, 1, 16_400, kind)); // beyond the third level
    }
    distributions
}

fn extremes() -> Vec<ScoreDistribution> {
    let mut distributions = Vec::new();
    for sigma in [1e-3, 0.01, 0.1, 30.0, 1e4] {
        let kinds = [one_slot(1.0), one_slot(2.0), one_slot(1e6), weighted(2.0, 37, 0.6)];
        distributions.extend(kinds.map(|kind| distribution(sigma, 2, 37, kind)));
        distributions.extend([1e-9, 0.3].map(|rate| distribution(sigma, 2, 37, poisson(rate))));
        let kind = ScoreDistributionKind::FixedSize { sampling_rate: 0.3 };
        distributions.push(distribution(sigma, 2, 37, kind));
        let kind = ScoreDistributionKind::SeveralSlots { uses_per_epoch: 30 };
        distributions.push(distribution(sigma, 2, 37, kind));
    }
    // A slope so near 0 that the weights alone determine the largest term.
    let kind = ScoreDistributionKind::OneSlot {
        gap: 1.000_000_000_000_000_2,
        weights: SlotWeights::Weighted(vec![1.0 / 21.0; 21]),
    };
    distributions.push(distribution(1e4, 3, 21, kind));
    distributions
}

fn named(distribution: &ScoreDistribution) -> String {
    let kind = match &distribution.kind {
        ScoreDistributionKind::OneSlot { gap, weights } => {
            let weights = weights.as_slice().map_or(String::new(), |w| format!(" w[0] {}", w[0]));
            format!("gap {gap}{weights}")
        }
        ScoreDistributionKind::Poisson { sampling_rate } => format!("rate {sampling_rate}"),
        other => format!("{other:?}"),
    };
    format!(
        "σ {} E {} T {} {kind}",
        distribution.noise_multiplier, distribution.epochs, distribution.entries
    )
}

fn same_scores(
    gpu: &Gpu,
    kernel: &ScoreKernel,
    observations: Observations,
    what: &str,
) -> Result<(), Failed> {
    let found = gpu_scores(gpu, kernel, FloatMode::Exact, observations)?;
    exact(&found, &cpu_scores(kernel, observations)).agrees(what)
}

fn check_distributions(distributions: &[ScoreDistribution]) -> Result<(), Failed> {
    let gpu = gpu()?;
    for distribution in distributions {
        let count = if distribution.normals_per_observation() > 5_000 { 70 } else { 200 };
        same_scores(
            gpu,
            &kernel(distribution, 7)?,
            Observations { first: 5, count },
            &named(distribution),
        )?;
    }
    Ok(())
}

/// The engine compiles otherwise: without barriers where a driver takes orders not to fuse.
fn through_the_engine() -> Result<(), Failed> {
    let backend = audits::gpu(FloatMode::Exact, audits::OWN)?;
    let Backend::Gpu(device) = &backend else { return Err("not a GPU".into()) };
    let distributions = [ways(), lengths(), extremes()].concat();
    for (distribution, world) in distributions.iter().zip(World::BOTH.into_iter().cycle()) {
        let kernel = kernel(distribution, 7)?;
        let found = pollster::block_on(device.scores(&kernel, world, 5, 70))?;
        let both = cpu_scores(&kernel, Observations { first: 5, count: 70 });
        exact(&found, &both[70 * world.index()..][..70]).agrees(&named(distribution))?;
    }
    Ok(())
}

/// Numbers whose doubles carry into the high word, and seeds that fill theirs.
fn far_observations() -> Result<(), Failed> {
    let gpu = gpu()?;
    let distributions =
        [distribution(1.0, 2, 20, one_slot(2.0)), distribution(1.0, 20, 3, weighted(2.0, 3, 0.5))];
    for distribution in distributions {
        for seed in [0, u64::from(u32::MAX), (1 << 32) + 1, (1 << 53) - 1, u64::MAX] {
            for first in [1 << 31, 1 << 32, 1 << 40, 1 << 62] {
                let observations = Observations { first: first - 70, count: 140 };
                let what = format!("{} seed {seed} from {}", named(&distribution), first - 70);
                same_scores(gpu, &kernel(&distribution, seed)?, observations, &what)?;
            }
        }
    }
    Ok(())
}

fn same_counts(
    gpu: &Gpu,
    kernel: &ScoreKernel,
    observations: Observations,
    what: &str,
) -> Result<(), Failed> {
    let bins = bins(kernel)?;
    let found = gpu_counts(gpu, kernel, FloatMode::Exact, &bins, observations)?;
    let expected = cpu_counts(&cpu_scores(kernel, observations), &bins, observations.first);
    exact(&found, &expected).agrees(what)?;
    let total: u64 = found.iter().map(|&count| u64::from(count)).sum();
    exact(&[total], &[2 * u64::from(observations.count)]).agrees(&format!("total, {what}"))
}

fn sizes() -> Result<(), Failed> {
    let gpu = gpu()?;
    let distributions = [
        distribution(1.0, 1, 20, one_slot(2.0)),
        distribution(0.2, 1, 20, one_slot(2.0)),
        distribution(1.0, 1, 20, poisson(0.1)),
    ];
    for distribution in distributions {
        let kernel = kernel(&distribution, 11)?;
        for count in [0, 1, 63, 64, 65, 255, 256, 257, 65_537] {
            for first in [0, 3] {
                let what = format!("{}, {count} from {first}", named(&distribution));
                same_counts(gpu, &kernel, Observations { first, count }, &what)?;
            }
        }
    }
    Ok(())
}

/// More than 65,535 workgroups, which exceeds one dimension of a dispatch.
fn beyond_one_row() -> Result<(), Failed> {
    let kernel = kernel(&distribution(1.0, 1, 1, one_slot(2.0)), 3)?;
    let observations = Observations { first: 1, count: 65_535 * 64 + 77 };
    same_counts(gpu()?, &kernel, observations, "one entry, 4,194,317 observations")
}

/// State carried between dispatches is complete, wherever they are split.
fn split_observations() -> Result<(), Failed> {
    let gpu = gpu()?;
    let distributions = [
        distribution(1.0, 3, 100, one_slot(2.0)),
        distribution(0.2, 3, 100, one_slot(2.0)),
        distribution(1.0, 9, 20, weighted(2.0, 20, 0.7)),
        distribution(0.2, 9, 20, weighted(2.0, 20, 0.7)),
        distribution(1.0, 2, 700, one_slot(1.0)),
        distribution(1.0, 3, 50, poisson(0.2)),
        distribution(1.0, 100, 1, one_slot(2.0)),
    ];
    for distribution in distributions {
        let kernel = kernel(&distribution, 5)?;
        let program = kernel.program(FloatMode::Exact);
        let observations = Observations { first: 9, count: 100 };
        let expected = cpu_scores(&kernel, observations);
        for most in [1, 2, 5] {
            let work = Work::of(&program, &pieces(&program, observations, None, most));
            let found = recorded(&gpu.run(&gpu.kernel(program.variant())?, &work)?)?;
            exact(&found, &expected).agrees(&format!("{}, {most} blocks", named(&distribution)))?;
        }
        let work = Work::of(&program, &pieces(&program, observations, None, 5));
        let forgetful = work.changed("begins", |_| 1); // the broken twin
        let found = recorded(&gpu.run(&gpu.kernel(program.variant())?, &forgetful)?)?;
        exact(&found, &expected).differs(&format!("{}, state forgotten", named(&distribution)))?;
    }
    Ok(())
}
