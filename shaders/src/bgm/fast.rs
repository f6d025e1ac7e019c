//! Error bound for scores of a GPU in fast mode.
//!
//! Assumptions about a device, with U = 2⁻²³: sums, products and conversions are within one unit in
//! the last place (U relative, to either neighbour), alone or fused; polynomials, sums and products
//! may be rewritten in any way that is equal in exact arithmetic; square roots have the accuracy of
//! WGSL. Three things are evaluated as written: differences to a centre, the rounding to an
//! integer in `power_of_two` (to nearest), and that each normal is one value.
//!
//! A rewritten sum of products differs from its exact value by at most nU·Σ|terms|, with n the
//! operations between an operand and the result: those of the expanded polynomial, degree + terms.

use super::scores::ScoreKernel;
use super::setup::Scoring;
use dpscope_core::math::{exp, ln, ln_1p};
use dpscope_core::mechanism::{ScoreDistribution, ScoreDistributionKind};
use std::ops::RangeInclusive;

/// One unit in the last place.
const U: f64 = 1.192_092_895_507_812_5e-7;

/// Relative error of 2^t: 11 operations, Σ|terms| ≤ √2 beside a value ≥ √½, and the polynomial's
/// own 1.1e-7.
const EXP2: f64 = 24.0 * U;

/// Number of record values among 2²⁰ independent segments: larger with probability below 10⁻¹⁹ (14
/// on average; Chernoff bound).
const MAX_MOVES: f64 = 64.0;

/// Error bound for a normal of a GPU in fast mode, relative to the twin, for radii √(z₀² + z₁²) in
/// a range.
///
/// With r the radius: r² has the errors of its number v (3U relative, hence 6U), of the logarithm
/// (16 operations on terms of r² + 1.8 where the exponent is not 0, r ≥ 0.8; constants; the
/// polynomial's 1.1e-6·0.7), the root 6U·r, cosine and sine 14 operations on terms of 2.51, their
/// argument 1.6U, their polynomials 0.7U and a product: together
///
/// 61U·r + 36U + 1e-6 + min(6U/r, √(6U)),
///
/// plus the error of the twin stated by [`stream_normals`](crate::random::stream_normals).
#[must_use]
pub fn fast_normal_error(radii: &RangeInclusive<f64>) -> f64 {
    let (least, most) = (*radii.start(), *radii.end());
    let device = U * (61.0 * most + 36.0) + 1e-6 + (6.0 * U / least).min((6.0 * U).sqrt());
    let twin = 5e-7 + 1.7e-7 * most + (7e-8 / least).min((2.0 * U).sqrt());
    device + twin
}

impl ScoreKernel {
    /// How far a score of a fast GPU may be from the formula of [`ScoreDistributionKind`] on the
    /// twin's draws, in nats, where all radii √(z₀² + z₁²) are within `radii`; 0 to
    /// [`NORMAL_LIMIT`](crate::random::NORMAL_LIMIT) holds for all.
    ///
    /// A normal's error A moves the score of one slot with gap g by at most K·A/σ,
    ///
    /// K = min(2g − 1, 1 + V),  V = √(¼ ln² T + 1) + ½ ln(max w/min w):
    ///
    /// the score's gradient is (g·p − (g − 1)·q)/σ with p and q softmax distributions of x at the
    /// exponents g and g − 1, Σ|p − q| ≤ V/(g − 1) since dp/ds = p·(x − Ex), and V bounds the
    /// standard deviation of −ln p. A Poisson step moves by at most the slope q·e^a/(1 − q +
    /// q·e^a). The rest is rounding: of exponents, exponentials, sums, logarithms and of the score
    /// to its unit.
    ///
    /// # Guarantee
    /// Satisfied by the twin (`unit::the_twin_satisfies_the_bound`) and by GPUs
    /// (`tests/gpu/fast.rs::fast_scores_are_within_the_derived_error`).
    ///
    /// # Numerics
    /// An upper bound, below a tenth of a bin at σ = 1, T = 100 and radii from 0.02 to 6
    /// (`unit::the_bound_is_small_compared_with_a_bin`); for radii below 0.02 (one observation in
    /// 100) up to a bin.
    ///
    /// # Reference
    /// Variance of −ln p: D. Reeb and M. M. Wolf, "Tight bound on relative entropy by entropy
    /// difference" (2015), IEEE Trans. Inf. Theory 61.
    #[must_use]
    pub fn fast_error(&self, radii: &RangeInclusive<f64>) -> f64 {
        let distribution = &self.distribution;
        let draws = Draws { error: fast_normal_error(radii), largest: *radii.end() };
        let epoch = match &self.setup.scoring {
            Scoring::Fixed(scoring) => {
                let (two_sums, _) = scoring.shape();
                fixed_error(distribution, &draws, if two_sums { 2.0 } else { 1.0 })
            }
            Scoring::Moving(_) => moving_error(distribution, &draws),
            Scoring::Linear(_) => {
                let step = step_error(distribution, &draws);
                f64::from(distribution.entries)
                    * (step + additions(distribution.entries) * U * reach(distribution, &draws))
            }
            Scoring::Poisson(_) | Scoring::Allocated(_) => poisson_error(distribution, &draws),
            Scoring::FixedSize(_) => fixed_size_error(distribution, &draws),
        };
        // Second order, and the score's unit.
        f64::from(distribution.epochs) * (1.001 * epoch + self.score_unit())
    }
}

struct Draws {
    error: f64,
    largest: f64,
}

/// Additions between a term and the total of an epoch: 16 rows, three levels of 32, and the rest.
pub(crate) fn additions(entries: u32) -> f64 {
    let segments = entries.div_ceil(16) + 1;
    let levels = [segments, segments / 32, segments / 1024].map(|terms| terms.min(32));
    f64::from(entries.min(16) + levels.iter().sum::<u32>() + segments / 32_768 + 3)
}

fn gap(distribution: &ScoreDistribution) -> f64 {
    match distribution.kind {
        ScoreDistributionKind::OneSlot { gap, .. } => gap,
        ScoreDistributionKind::FixedSize { .. } => 2.0,
        _ => 1.0,
    }
}

/// −ln(smallest weight ÷ sum) and ln(largest ÷ smallest weight); 0 for uniform slots.
fn weight_range(distribution: &ScoreDistribution) -> (f64, f64) {
    let ScoreDistributionKind::OneSlot { weights, .. } = &distribution.kind else {
        return (0.0, 0.0);
    };
    let Some(weights) = weights.as_slice() else { return (0.0, 0.0) };
    let total: f64 = weights.iter().sum();
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    let most = weights.iter().copied().fold(0.0, f64::max);
    (ln(total / least), ln(most / least))
}

/// K: change of a score, in units of 1/σ, if each entry changes by at most 1.
fn gain(distribution: &ScoreDistribution) -> f64 {
    let (_, range) = weight_range(distribution);
    let ln_entries = ln(f64::from(distribution.entries));
    let deviation = (0.25 * ln_entries * ln_entries + 1.0).sqrt() + 0.5 * range;
    (2.0 * gap(distribution) - 1.0).min(1.0 + deviation)
}

/// y = 2^(slope·z): 4 operations and constants before, then 24U of y itself; two products with
/// weights and y; sums; logarithms (10 operations on the exponent's term, 18 on the others', 0.54
/// in size) and 3 operations with the offset.
fn fixed_error(distribution: &ScoreDistribution, draws: &Draws, sums: f64) -> f64 {
    let (sigma, gap) = (distribution.noise_multiplier, gap(distribution));
    let powers = 2.0 * gap - 1.0;
    let reach = draws.largest + gap / sigma;
    let exponents = gain(distribution) * (draws.error + 4.0 * U * reach) / sigma;
    let logarithms = powers * reach / sigma;
    let offset = (gap - 0.5) / (sigma * sigma);
    exponents
        + powers * EXP2
        + sums * U * (3.0 + additions(distribution.entries) + 33.0)
        + 11.0 * U * logarithms
        + 3.0 * U * (offset + logarithms)
}

/// The entry v = z + mean in 2 operations; exponents slope·(v − c) + (l − l′), of which the mean of
/// |t| under the softmax distribution is at most ln T; moves of the centre; logarithms of 1 to T; and 8
/// operations on the terms of the score.
fn moving_error(distribution: &ScoreDistribution, draws: &Draws) -> f64 {
    let (sigma, gap) = (distribution.noise_multiplier, gap(distribution));
    let (lightest, _) = weight_range(distribution);
    let reach = draws.largest + gap / sigma;
    let entries = gain(distribution) * (draws.error + 2.0 * U * reach) / sigma;
    let ln_entries = ln(f64::from(distribution.entries));
    let moves = f64::from(distribution.entries.div_ceil(16)).min(MAX_MOVES);
    let sum = EXP2
        + 5.0 * U * (ln_entries + 2.0 * lightest)
        + moves * U * (27.0 + 10.0 * lightest)
        + additions(distribution.entries) * U
        + 11.0 * U * (ln_entries + 3.0);
    let terms = reach / sigma + 0.5 / (sigma * sigma) + 3.0 * (ln_entries + lightest);
    entries + 2.0 * sum + 8.0 * U * terms
}

/// (|z| + ½/σ)/σ: the largest |a| of a step.
fn reach(distribution: &ScoreDistribution, draws: &Draws) -> f64 {
    (draws.largest + 0.5 / distribution.noise_multiplier) / distribution.noise_multiplier
}

/// The error of a step's exponent a = z/σ ± ½/σ²: 3 operations and constants.
fn step_error(distribution: &ScoreDistribution, draws: &Draws) -> f64 {
    draws.error / distribution.noise_multiplier + 4.0 * U * reach(distribution, draws)
}

/// Error and size of ln(1 + q(e^a − 1)) for |a| ≤ `largest`, where a has the error `exponent`.
///
/// It moves by its slope in a; 22 operations on terms of at most 3.6 times the logarithm's size;
/// beyond `LARGE`, a + ln q in 4 operations.
fn ratio_error(q: f64, largest: f64, exponent: f64) -> (f64, f64) {
    let up = q * exp(largest.min(600.0));
    let slope = up / (1.0 - q + up);
    let above = if largest < 600.0 { ln_1p(up - q) } else { largest };
    let size = above.max(-ln_1p(q * (exp(-largest) - 1.0)));
    let large = if largest > 59.0 { 4.0 * U * (largest - ln(q)) } else { 0.0 };
    (slope * (exponent + EXP2) + 80.0 * U * size + large, size)
}

fn poisson_error(distribution: &ScoreDistribution, draws: &Draws) -> f64 {
    let q = distribution.sampling_rate().unwrap_or(f64::NAN);
    let largest = reach(distribution, draws);
    let exponent = step_error(distribution, draws);
    let (step, size) = ratio_error(q, largest, exponent);
    f64::from(distribution.entries) * (step + additions(distribution.entries) * U * size)
}

/// Both logarithms of a step and their difference; the largest exponents are those of an output
/// |z|σ + 2 or −|z|σ, each with the error of 3 operations and constants.
fn fixed_size_error(distribution: &ScoreDistribution, draws: &Draws) -> f64 {
    let sigma = distribution.noise_multiplier;
    let q = distribution.sampling_rate().unwrap_or(f64::NAN);
    let part = |factor: f64, offset: f64| {
        let largest = (factor * draws.largest + offset / sigma) / sigma;
        ratio_error(q, largest, factor * draws.error / sigma + 4.0 * U * largest)
    };
    let [(with_zero, least), (with_target, most)] = [part(1.0, 1.5), part(2.0, 2.0)];
    let size = least + most;
    let step = with_zero + with_target + U * size;
    f64::from(distribution.entries) * (step + additions(distribution.entries) * U * size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bgm::Phase;
    use crate::random::NORMAL_LIMIT;
    use dpscope_core::adjacency::World;
    use dpscope_core::audit::histogram::ScoreBins;
    use dpscope_core::mechanism::SlotWeights;

    const ALL: RangeInclusive<f64> = 0.0..=NORMAL_LIMIT;

    fn one_slot(gap: f64) -> ScoreDistributionKind {
        ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Uniform }
    }

    fn weighted(gap: f64, weights: &[f64]) -> ScoreDistributionKind {
        ScoreDistributionKind::OneSlot { gap, weights: SlotWeights::Weighted(weights.to_vec()) }
    }

    fn kernel(
        noise_multiplier: f64,
        epochs: u32,
        entries: u32,
        kind: ScoreDistributionKind,
    ) -> ScoreKernel {
        let distribution = ScoreDistribution { noise_multiplier, epochs, entries, kind };
        ScoreKernel::new(&distribution, 5, Phase::Audit).unwrap()
    }

    fn kernels() -> Vec<ScoreKernel> {
        let weights = [0.5, 0.2, 0.1, 0.05, 1e-6];
        let mut kernels = Vec::new();
        for sigma in [0.01, 0.3, 1.0, 3.0, 1e3] {
            for gap in [1.0, 2.0, 3.0, 200.0] {
                kernels.push(kernel(sigma, 2, 100, one_slot(gap)));
                kernels.push(kernel(sigma, 1, 1000, one_slot(gap)));
                kernels.push(kernel(sigma, 3, 5, weighted(gap, &weights)));
            }
            for sampling_rate in [1e-6, 0.01, 0.5, 1.0] {
                kernels.push(kernel(
                    sigma,
                    2,
                    100,
                    ScoreDistributionKind::Poisson { sampling_rate },
                ));
                let kind = ScoreDistributionKind::FixedSize { sampling_rate };
                kernels.push(kernel(sigma, 2, 100, kind));
            }
            for uses_per_epoch in [2, 30, 100] {
                let kind = ScoreDistributionKind::SeveralSlots { uses_per_epoch };
                kernels.push(kernel(sigma, 2, 100, kind));
            }
            kernels.push(kernel(sigma, 30, 1, one_slot(2.0)));
        }
        kernels
    }

    /// CentredSums entries of an observation, its normals `noise` times as large.
    fn entries(kernel: &ScoreKernel, world: World, observation: u64, noise: f64) -> Vec<f64> {
        let draws = kernel.draws(world, observation);
        let gap = gap(&kernel.distribution);
        let mean = |target: bool| match (target, world) {
            (true, World::Target) => 0.0,
            (true, World::ZeroOut) => -1.0,
            (false, _) => -gap,
        };
        let sigma = noise * kernel.distribution.noise_multiplier;
        let entry = |(&z, &target): (&f32, &bool)| sigma * f64::from(z) + mean(target);
        draws.normals.iter().zip(&draws.target).map(entry).collect()
    }

    /// Largest |score − formula| ÷ error bound.
    fn worst(kernel: &ScoreKernel, noise: f64) -> f64 {
        let error = kernel.fast_error(&ALL);
        let mut worst = 0.0_f64;
        for world in World::BOTH {
            let mut scores = [0; 64];
            kernel.scores(world, 0, &mut scores, &|| true).unwrap();
            for (observation, &score) in (0..).zip(&scores) {
                let entries = entries(kernel, world, observation, noise);
                let formula = kernel.distribution.score(&entries).unwrap();
                let ratio = (score as f64 * kernel.score_unit() - formula).abs() / error;
                worst = if ratio <= worst { worst } else { ratio };
            }
        }
        worst
    }

    #[test]
    fn the_twin_satisfies_the_bound() {
        for kernel in kernels() {
            let good = worst(&kernel, 1.0);
            assert!(good < 1.0, "{:?}: {good}", kernel.distribution);
        }
        for kernel in [kernel(1.0, 2, 100, one_slot(2.0)), kernel(0.3, 2, 100, one_slot(200.0))] {
            assert!(worst(&kernel, 0.99) > 1.0, "noise x 0.99");
        }
    }

    #[test]
    fn the_bound_is_small_compared_with_a_bin() {
        for (sigma, entries) in [(1.0, 100), (1.0, 30), (0.7, 100)] {
            let kernel = kernel(sigma, 1, entries, one_slot(2.0));
            let [target, zero_out] = World::BOTH.map(|world| {
                let mut scores = vec![0; 4_096];
                kernel.scores(world, 0, &mut scores, &|| true).unwrap();
                scores
            });
            let bins = ScoreBins::from_pilot(kernel.score_unit(), &target, &zero_out).unwrap();
            let error = kernel.fast_error(&(0.02..=6.0));
            assert!(error < bins.width() / 10.0, "σ {sigma}: {error:e} of {:e}", bins.width());
        }
    }

    #[test]
    fn the_bound_grows_with_its_arguments() {
        let of = |sigma, epochs, entries, gap| {
            kernel(sigma, epochs, entries, one_slot(gap)).fast_error(&ALL)
        };
        let least = of(1.0, 1, 100, 2.0);
        for more in [of(0.5, 1, 100, 2.0), of(1.0, 2, 100, 2.0), of(1.0, 1, 1000, 2.0)] {
            assert!(more > least, "{more:e} {least:e}");
        }
        let kernel = kernel(1.0, 1, 100, one_slot(2.0));
        assert!(kernel.fast_error(&(0.0..=4.0)) < least && kernel.fast_error(&(0.1..=9.0)) < least);
        assert!(!(fast_normal_error(&(0.0..=f64::NAN)) < 1.0));
    }
}
