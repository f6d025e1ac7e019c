//! Fast mode: within the error that is derived for it, and no more bins moved than that allows.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::RangeInclusive;

use dpscope_core::adjacency::World;
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_core::mechanism::{ScoreDistribution, ScoreDistributionKind};
use dpscope_shaders::FloatMode;
use dpscope_shaders::bgm::{Draws, ScoreKernel, fast_normal_error};
use dpscope_shaders::random::{NORMAL_LIMIT, normals_of_words};
use libtest_mimic::{Failed, Trial};

use crate::comparison::{exact, within};
use crate::device::{Work, gpu};
use crate::kernels::{
    Observations, bins, cpu_counts, cpu_scores, distribution, edited, gpu_counts, gpu_scores,
    kernel, one_slot, pieces, poisson, recorded, truncated_poisson, weighted,
};
use crate::stages::{chosen, normals_of_chosen};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("fast_normals_are_within_the_derived_error", normals),
        Trial::test("fast_scores_are_within_the_derived_error", scores),
        Trial::test("scores_with_one_ulp_errors_are_within_the_derived_error", scores_a_unit_off),
        Trial::test("fast_scores_of_broken_kernels_exceed_the_derived_error", broken_scores),
        Trial::test("fast_counts_differ_no_more_than_the_error_allows", moves),
    ]
}

const ALL: RangeInclusive<f64> = 0.0..=NORMAL_LIMIT;

fn radius_of(z0: f64, z1: f64) -> f64 {
    (z0 * z0 + z1 * z1).sqrt()
}

fn normals() -> Result<(), Failed> {
    let (words, extensions) = chosen();
    let found = normals_of_chosen(gpu()?, FloatMode::Fast)?;
    let expected = normals_of_words(&words, &extensions);
    let [found, expected] =
        [found, expected].map(|z| z.into_iter().map(f64::from).collect::<Vec<_>>());
    let tolerance = |pair: &[f64]| {
        let radius = radius_of(pair[0], pair[1]);
        [fast_normal_error(&(radius..=radius)); 2]
    };
    let tolerances: Vec<f64> = expected.chunks_exact(2).flat_map(tolerance).collect();
    let class = fast_normal_error(&ALL);
    within(&found, &expected, &tolerances, class).agrees("normals")?;
    let quieter: Vec<f64> = found.iter().map(|z| 0.9999 * z).collect();
    within(&quieter, &expected, &tolerances, class).differs("noise x 0.9999")
}

/// The score of the formula, in f64, and the radii of the draws.
fn formula(
    distribution: &ScoreDistribution,
    world: World,
    draws: &Draws,
) -> Result<(f64, RangeInclusive<f64>), String> {
    let other = match distribution.kind {
        ScoreDistributionKind::OneSlot { gap, .. } => -gap,
        ScoreDistributionKind::FixedSize { .. } => -2.0,
        ScoreDistributionKind::Poisson { .. } | ScoreDistributionKind::SeveralSlots { .. } => -1.0,
    };
    let mean = |target: bool| match (target, world) {
        (true, World::Target) => 0.0,
        (true, World::ZeroOut) => -1.0,
        (false, _) => other,
    };
    let entry =
        |(&z, &target): (&f32, &bool)| distribution.noise_multiplier * f64::from(z) + mean(target);
    let entries: Vec<f64> = draws.normals.iter().zip(&draws.target).map(entry).collect();
    // The last normal of an odd number has no partner, and determines no radius.
    let radius = |pair: &[f32]| match pair {
        &[z0, z1] => [radius_of(z0.into(), z1.into()); 2],
        _ => [0.0, NORMAL_LIMIT],
    };
    let mut radii = [NORMAL_LIMIT, 0.0];
    for [least, most] in draws.normals.chunks(2).map(radius) {
        radii = [radii[0].min(least), radii[1].max(most)];
    }
    let score = distribution.score(&entries).map_err(|error| error.to_string())?;
    Ok((score, radii[0]..=radii[1]))
}

/// Scores of the formula and the error allowed for each: those of D, then those of D′.
fn expected(
    kernel: &ScoreKernel,
    distribution: &ScoreDistribution,
    observations: Observations,
) -> Result<(Vec<f64>, Vec<f64>), String> {
    let (mut scores, mut errors) = (Vec::new(), Vec::new());
    for world in World::BOTH {
        for index in 0..u64::from(observations.count) {
            let draws = kernel.draws(world, observations.first + index);
            let (score, radii) = formula(distribution, world, &draws)?;
            scores.push(score);
            errors.push(kernel.fast_error(&radii));
        }
    }
    Ok((scores, errors))
}

fn nats(kernel: &ScoreKernel, scores: &[i64]) -> Vec<f64> {
    scores.iter().map(|&score| score as f64 * kernel.score_unit()).collect()
}

fn distributions() -> Vec<ScoreDistribution> {
    let mut distributions = vec![truncated_poisson()];
    for sigma in [0.01, 0.2, 0.5, 1.0, 4.0, 1e3] {
        for (epochs, entries) in [(1, 100), (3, 37), (20, 2)] {
            distributions.extend(
                [1.0, 2.0, 3.0, 200.0]
                    .map(|gap| distribution(sigma, epochs, entries, one_slot(gap))),
            );
            distributions.push(distribution(sigma, epochs, entries, weighted(1.0, entries, 0.9)));
            distributions.push(distribution(sigma, epochs, entries, weighted(2.0, entries, 0.5)));
            distributions.extend(
                [1e-6, 0.01, 0.5, 1.0].map(|q| distribution(sigma, epochs, entries, poisson(q))),
            );
        }
        distributions.push(distribution(sigma, 50, 1, one_slot(2.0)));
        distributions.push(distribution(sigma, 1, 3_000, one_slot(2.0)));
    }
    distributions
}

fn scores() -> Result<(), Failed> {
    let gpu = gpu()?;
    let observations = Observations { first: 3, count: 150 };
    for distribution in distributions() {
        let kernel = kernel(&distribution, 19)?;
        let found = nats(&kernel, &gpu_scores(gpu, &kernel, FloatMode::Fast, observations)?);
        let (expected, errors) = expected(&kernel, &distribution, observations)?;
        let class = kernel.fast_error(&ALL);
        within(&found, &expected, &errors, class).agrees(&format!("{distribution:.300?}"))?;
    }
    Ok(())
}

/// The source with the last bit flipped in every intermediate result.
fn unit_off(source: &str) -> Result<String, String> {
    let mut source = source.to_owned();
    for (name, float) in [("rounded", "f32"), ("rounded2", "vec2<f32>"), ("rounded4", "vec4<f32>")]
    {
        let head = format!("fn {name}(x: {float}) -> {float} {{\n");
        let bits = float.replace("f32", "u32");
        let flipped = format!("return bitcast<{float}>(bitcast<{bits}>(x) ^ {bits}(1u));");
        source = edited(&source, &head, &format!("{head}    if (true) {{ {flipped} }}\n"))?;
    }
    Ok(source)
}

/// Software rasterisers fuse nothing and score alike in both modes, so they hardly test the error;
/// this device rounds worse than any.
fn scores_a_unit_off() -> Result<(), Failed> {
    let gpu = gpu()?;
    let observations = Observations { first: 3, count: 70 };
    let (distributions, mut differing) = (distributions(), 0);
    let mut pipelines = HashMap::new();
    for distribution in &distributions {
        let kernel = kernel(distribution, 19)?;
        let program = kernel.program(FloatMode::Fast);
        if let Entry::Vacant(place) = pipelines.entry(program.variant()) {
            place.insert(gpu.compiled(&unit_off(&program.variant().source())?, "count")?);
        }
        let work = Work::of(&program, &pieces(&program, observations, None, u64::MAX));
        let found = recorded(&gpu.run(&pipelines[&program.variant()], &work)?)?;
        differing += u32::from(found != cpu_scores(&kernel, observations));
        let (expected, errors) = expected(&kernel, distribution, observations)?;
        let class = kernel.fast_error(&ALL);
        within(&nats(&kernel, &found), &expected, &errors, class)
            .agrees(&format!("{distribution:.300?}"))?;
    }
    match differing as usize > distributions.len() / 2 {
        true => Ok(()),
        false => {
            Err(format!("only {differing} of {} distributions differ", distributions.len()).into())
        }
    }
}

fn broken_scores() -> Result<(), Failed> {
    let gpu = gpu()?;
    let observations = Observations { first: 3, count: 100 };
    let distributions =
        [distribution(1.0, 1, 100, one_slot(2.0)), distribution(2.0, 2, 37, one_slot(3.0))];
    let edits = [
        ("noise x 0.999", "let x = rounded2(signed * c);", "let x = rounded2(signed * c) * 0.999;"),
        ("one world twice", "(low << 1u) | world", "(low << 1u)"),
        (
            "a logarithm with another coefficient",
            "p = rounded4(p * f) + LN_0;",
            "p = rounded4(p * f) + 1.1 * LN_0;",
        ),
        ("an exponential of low degree", "rounded4(p * f) + EXP2_2;", "rounded4(p * f);"),
    ];
    for distribution in distributions {
        let kernel = kernel(&distribution, 19)?;
        let program = kernel.program(FloatMode::Fast);
        let work = Work::of(&program, &pieces(&program, observations, None, u64::MAX));
        let (expected, errors) = expected(&kernel, &distribution, observations)?;
        for (what, from, to) in edits {
            let source = edited(&program.variant().source(), from, to)?;
            let found = recorded(&gpu.run(&gpu.compiled(&source, "count")?, &work)?)?;
            let found = nats(&kernel, &found);
            within(&found, &expected, &errors, kernel.fast_error(&ALL)).differs(what)?;
        }
    }
    Ok(())
}

/// Counts at or below each edge, a histogram after the other.
fn cumulative(counts: &[u32], bins: &ScoreBins) -> Vec<u64> {
    let sums = |histogram: &[u32]| {
        let mut sum = 0;
        histogram
            .iter()
            .map(|&count| {
                sum += u64::from(count);
                sum
            })
            .collect::<Vec<_>>()
    };
    counts.chunks_exact(bins.len()).flat_map(sums).collect()
}

/// Counts at or below each edge, and the nearest that the errors allow: no score reaches beyond an
/// edge from which it is farther than its error.
fn counted_and_allowed(
    counts: &[u32],
    bins: &ScoreBins,
    first: u64,
    (scores, errors): (&[f64], &[f64]),
) -> (Vec<u64>, Vec<u64>) {
    let moved = |sign: f64| {
        let units = |(score, error): (&f64, &f64)| ((score + sign * error) / bins.unit()) as i64;
        let moved: Vec<i64> = scores.iter().zip(errors).map(units).collect();
        cumulative(&cpu_counts(&moved, bins, first), bins)
    };
    let counted = cumulative(counts, bins);
    // Higher scores leave fewer below an edge.
    let limits = moved(1.0).into_iter().zip(moved(-1.0));
    let allowed = counted.iter().zip(limits).map(|(&c, (least, most))| c.clamp(least, most));
    let allowed = allowed.collect();
    (counted, allowed)
}

fn moves() -> Result<(), Failed> {
    let gpu = gpu()?;
    let observations = Observations { first: 8, count: 5_000 };
    let distributions = [
        distribution(1.0, 1, 100, one_slot(2.0)),
        distribution(0.3, 2, 37, one_slot(2.0)),
        distribution(1.0, 1, 50, poisson(0.1)),
    ];
    for distribution in distributions {
        let kernel = kernel(&distribution, 23)?;
        let bins = bins(&kernel)?;
        let (scores, errors) = expected(&kernel, &distribution, observations)?;
        let found = gpu_counts(gpu, &kernel, FloatMode::Fast, &bins, observations)?;
        let total: u64 = found.iter().map(|&count| u64::from(count)).sum();
        exact(&[total], &[10_000]).agrees("total")?;
        let allowed = |counts: &[u32]| {
            let (counted, allowed) =
                counted_and_allowed(counts, &bins, observations.first, (&scores, &errors));
            exact(&counted, &allowed)
        };
        allowed(&found).agrees(&format!("{distribution:?}"))?;
        let quarter = (1 << bins.shift()) / 4;
        let twin = cpu_scores(&kernel, observations);
        let shifted: Vec<i64> = twin.iter().map(|score| score + quarter).collect();
        let shifted = cpu_counts(&shifted, &bins, observations.first);
        allowed(&shifted).differs(&format!("{distribution:?}, a quarter of a bin higher"))?;
    }
    Ok(())
}
