//! Score distributions, and the score formula in f64 by naive sums: the reference of the kernel.

#![allow(dead_code, reason = "tests on devices use a part")]

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::{ScoreDistribution, ScoreDistributionKind, SlotWeights};
use dpscope_shaders::bgm::Draws;

/// Faults of the formula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Twist {
    /// None.
    None,
    /// 1.4 instead of 1.5 (at gap 2).
    Offset,
    /// Scored with 0.9·σ.
    Noise,
    /// The last row of each epoch is omitted.
    DroppedRow,
}

/// A distribution.
pub(crate) fn distribution(
    noise_multiplier: f64,
    epochs: u32,
    entries: u32,
    kind: ScoreDistributionKind,
) -> ScoreDistribution {
    ScoreDistribution { noise_multiplier, epochs, entries, kind }
}

/// Uniform slots.
pub(crate) fn one_slot(gap: f64) -> ScoreDistributionKind {
    ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Uniform }
}

/// Weights 1, ½, ⅓, …, scaled to a sum.
pub(crate) fn weighted(gap: f64, entries: u32, total: f64) -> ScoreDistributionKind {
    let raw = (1..=entries).map(|t| 1.0 / f64::from(t));
    let sum: f64 = raw.clone().sum();
    ScoreDistributionKind::OneSlot {
        gap,
        weights: SlotWeights::Weighted(raw.map(|w| w * total / sum).collect()),
    }
}

/// Poisson sampling.
pub(crate) fn poisson(sampling_rate: f64) -> ScoreDistributionKind {
    ScoreDistributionKind::Poisson { sampling_rate }
}

/// Batches of fixed size.
pub(crate) fn fixed_size(sampling_rate: f64) -> ScoreDistributionKind {
    ScoreDistributionKind::FixedSize { sampling_rate }
}

/// Random allocation.
pub(crate) fn allocated(uses_per_epoch: u32) -> ScoreDistributionKind {
    ScoreDistributionKind::SeveralSlots { uses_per_epoch }
}

/// Geometric weights, with almost no probability for the last slots.
pub(crate) fn geometric(gap: f64, entries: u32) -> ScoreDistributionKind {
    let weights = (0..entries).map(|t| dpscope_core::math::exp2(-f64::from(t + 1))).collect();
    ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Weighted(weights) }
}

/// A grid over noise, epochs, entries, gaps, weights and sampling rates.
pub(crate) fn cases() -> Vec<ScoreDistribution> {
    let mut distributions = Vec::new();
    for sigma in [0.0063, 0.05, 0.2, 0.34, 0.36, 0.4, 0.7, 1.0, 3.0, 20.0] {
        for (epochs, entries) in [(1, 1), (5, 1), (1, 2), (7, 3), (1, 100), (3, 33), (2, 1000)] {
            for gap in [1.0, 2.0, 4.0, 200.0, 20_000.0] {
                distributions.push(distribution(sigma, epochs, entries, one_slot(gap)));
            }
            for gap in [1.0, 2.0, 20.0] {
                distributions.push(distribution(
                    sigma,
                    epochs,
                    entries,
                    weighted(gap, entries, 1.0),
                ));
                distributions.push(distribution(
                    sigma,
                    epochs,
                    entries,
                    weighted(gap, entries, 0.6),
                ));
            }
            for rate in [1e-9, 1e-5, 0.01, 0.5, 0.999, 1.0] {
                distributions.push(distribution(sigma, epochs, entries, poisson(rate)));
                // never reduced to one epoch of less noise
                if sigma >= 0.2 {
                    distributions.push(distribution(sigma, epochs, entries, fixed_size(rate)));
                }
            }
            if sigma >= 0.2 {
                for uses in [1, entries.div_ceil(3), entries] {
                    distributions.push(distribution(sigma, epochs, entries, allocated(uses)));
                }
            }
        }
        distributions.push(distribution(sigma, 2, 200, geometric(2.0, 200)));
        distributions.push(distribution(sigma, 2, 200, geometric(1.0, 200)));
        distributions.push(distribution(sigma, 1000, 2, one_slot(2.0)));
    }
    for kind in [
        one_slot(2.0),
        one_slot(1.0),
        one_slot(200.0),
        poisson(1e-5),
        fixed_size(1e-5),
        allocated(7),
    ] {
        distributions.push(distribution(20.0, 1, 100_000, kind.clone()));
        distributions.push(distribution(0.2, 1, 100_000, kind));
    }
    distributions
}

/// The score of an observation, in f64.
pub(crate) fn reference(
    distribution: &ScoreDistribution,
    world: World,
    draws: &Draws,
    twist: Twist,
) -> f64 {
    let entries = distribution.entries as usize;
    let epochs = draws.normals.chunks(entries).zip(draws.target.chunks(entries));
    epochs.map(|(z, target)| epoch(distribution, world, z, target, twist)).sum()
}

fn epoch(
    distribution: &ScoreDistribution,
    world: World,
    z: &[f32],
    target: &[bool],
    twist: Twist,
) -> f64 {
    let sigma = distribution.noise_multiplier;
    let scored = if twist == Twist::Noise { 0.9 * sigma } else { sigma };
    let variance = scored * scored;
    let offset = if twist == Twist::Offset { 0.1 } else { 0.0 };
    let rows = if twist == Twist::DroppedRow { z.len() - 1 } else { z.len() };
    let noise = z.iter().map(|&z| sigma * f64::from(z)).take(rows);
    match &distribution.kind {
        ScoreDistributionKind::OneSlot { gap, weights } => {
            let miss = if world == World::Target { 0.0 } else { -1.0 };
            let mean = |&hit: &bool| if hit { miss } else { -gap };
            let x: Vec<f64> = noise.zip(target).map(|(n, hit)| n + mean(hit)).collect();
            let ln_weight = |t: usize| match weights {
                SlotWeights::Uniform => -dpscope_core::math::ln(z.len() as f64),
                SlotWeights::Weighted(w) => dpscope_core::math::ln(w[t]),
            };
            // The centre is the largest x, so that the large parts of the two sums cancel exactly.
            let m = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let part = |g: f64| {
                log_sum_exp(
                    x.iter().enumerate().map(|(t, x)| g * (x - m) / variance + ln_weight(t)),
                )
            };
            (m + 0.5 + offset) / variance + part(*gap) - part(gap - 1.0)
        }
        ScoreDistributionKind::Poisson { sampling_rate: q } => {
            let included = |&hit: &bool| if hit && world == World::Target { 1.0 } else { 0.0 };
            let o = noise.zip(target).map(|(n, hit)| n + included(hit));
            o.map(|o| step(*q, (2.0 * o - 1.0 + 2.0 * offset) / (2.0 * variance))).sum()
        }
        ScoreDistributionKind::SeveralSlots { uses_per_epoch } => {
            let q = f64::from(*uses_per_epoch) / f64::from(distribution.entries);
            let included = |&hit: &bool| if hit && world == World::Target { 1.0 } else { 0.0 };
            let o = noise.zip(target).map(|(n, hit)| n + included(hit));
            o.map(|o| step(q, (2.0 * o - 1.0 + 2.0 * offset) / (2.0 * variance))).sum()
        }
        ScoreDistributionKind::FixedSize { sampling_rate: q } => {
            let mean = if world == World::Target { 2.0 } else { 1.0 };
            let o = noise.zip(target).map(|(n, &hit)| n + if hit { mean } else { 0.0 });
            o.map(|o| {
                let with_target = (2.0 * (o - 1.0) + offset) / variance;
                step(*q, with_target) - step(*q, (2.0 * o - 1.0) / (2.0 * variance))
            })
            .sum()
        }
    }
}

/// ln(1 − q + q·eᵃ).
fn step(q: f64, a: f64) -> f64 {
    match a {
        _ if q == 1.0 => a,
        _ if a > 600.0 => a + dpscope_core::math::ln(q),
        _ if a < -1.0 => dpscope_core::math::ln((1.0 - q) + q * dpscope_core::math::exp(a)),
        _ => dpscope_core::math::ln_1p(q * dpscope_core::math::exp_m1(a)),
    }
}

fn log_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    top + dpscope_core::math::ln(terms.map(|term| dpscope_core::math::exp(term - top)).sum())
}
