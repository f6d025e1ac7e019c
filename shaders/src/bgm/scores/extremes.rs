//! Draws at the limit of the normals: no kernel may overflow, underflow or exceed its bound.

use super::tests::{kernel, one_slot, weighted};
use super::*;
use crate::bgm::fixed::Fixed;
use crate::random::NORMAL_LIMIT;
use dpscope_core::mechanism::SlotWeights;

/// Whether the normal of an entry is at the upper limit; each lane has its own pattern.
fn is_up(lane: usize, t: u32, slot: u32, entries: u32) -> bool {
    match lane % 8 {
        0 => true,
        1 => false,
        2 => t == slot,
        3 => t != slot,
        4 => t.is_multiple_of(2),
        5 => t == entries - 1,
        6 => t != entries - 1,
        _ => t * 7 % 13 < 6,
    }
}

/// Slot of each lane: the first, a middle one, or the last possible one.
fn extreme_slot(kernel: &ScoreKernel, lane: usize) -> u32 {
    let last = kernel.setup.slots.as_ref().map_or(0, |table| table.slot(u32::MAX));
    [0, last / 2, last][lane / 8 % 3]
}

/// Scores, in units, of an epoch whose normals are all at the limits.
fn extreme_scores(kernel: &ScoreKernel, world: World) -> Row<i64> {
    let limit = NORMAL_LIMIT as f32;
    let mut scratch = Scratch::new();
    let entries = kernel.distribution.entries;
    scratch.slots = std::array::from_fn(|lane| extreme_slot(kernel, lane));
    for t in (0..entries).step_by(ROWS) {
        let rows = (entries - t).min(ROWS as u32);
        for row in 0..rows {
            for lane in 0..LANES {
                let up = is_up(lane, t + row, scratch.slots[lane], entries);
                let row = row as usize;
                scratch.normals.0[row][lane] = if up { limit } else { -limit };
                scratch.words.0[row][lane] = if lane < 32 { 0 } else { u32::MAX };
            }
        }
        kernel.add(world, t, 0..rows as usize, &mut scratch);
    }
    kernel.finish_epoch(&mut scratch);
    scratch.totals
}

/// The formula of the distribution in f64 for a lane of `extreme_scores`.
fn extreme_formula(kernel: &ScoreKernel, world: World, lane: usize) -> f64 {
    let ScoreDistributionKind::OneSlot { gap, weights } = &kernel.distribution.kind else {
        return f64::NAN;
    };
    let (sigma, slot) = (kernel.distribution.noise_multiplier, extreme_slot(kernel, lane));
    let mean = |t| if t == slot { [0.0, -1.0][world.index()] } else { -gap };
    let limit = f64::from(NORMAL_LIMIT as f32) * sigma;
    let noise = |t| if is_up(lane, t, slot, kernel.distribution.entries) { limit } else { -limit };
    let x: Vec<f64> = (0..kernel.distribution.entries).map(|t| mean(t) + noise(t)).collect();
    let centre = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let ln_sum = |g: f64| {
        let term = |(t, x): (usize, &f64)| {
            let ln_weight = match weights {
                SlotWeights::Uniform => 0.0, // the same in both sums
                SlotWeights::Weighted(w) => dpscope_core::math::ln(w[t]),
            };
            g * (x - centre) / (sigma * sigma) + ln_weight
        };
        let top = x.iter().enumerate().map(term).fold(f64::NEG_INFINITY, f64::max);
        top + dpscope_core::math::ln(
            x.iter().enumerate().map(|x| dpscope_core::math::exp(term(x) - top)).sum(),
        )
    };
    (centre + 0.5) / (sigma * sigma) + ln_sum(*gap) - ln_sum(gap - 1.0)
}

/// Largest |score − formula| relative to the rounding error of f32 values of size x/σ².
fn extreme_error(kernel: &ScoreKernel) -> f64 {
    let sigma = kernel.distribution.noise_multiplier;
    let lanes = if kernel.distribution.entries > 1000 { 8 } else { LANES };
    let mut worst = 0.0;
    for world in World::BOTH {
        for (lane, score) in extreme_scores(kernel, world).into_iter().take(lanes).enumerate() {
            assert!(score.abs() <= (1 << 30) + (1 << 12), "within the bound: {score}");
            let expected = extreme_formula(kernel, world, lane);
            let error = (score as f64 * kernel.score_unit() - expected).abs();
            let scale = 1.0 + 1.0 / sigma + 1.0 / (sigma * sigma) + 0.2 * expected.abs();
            let ratio = error / (3e-6 * scale + kernel.score_unit());
            worst = if ratio <= worst { worst } else { ratio }; // NaN stays
        }
    }
    worst
}

#[test]
fn extremes_stay_finite() {
    for sigma in [1e-3, 0.0063, 0.1, 0.2, 0.33, 0.35, 0.37, 0.4, 1.0, 20.0, 1e4] {
        for entries in [1, 2, 17, 300, 100_000] {
            let many = entries > 1000;
            for gap in [1.0, 2.0, 4.0, 200.0, 20_000.0, 1e6] {
                if many && (gap > 2.0 || !(0.3..1.0).contains(&sigma)) {
                    continue;
                }
                let falling =
                    (0..entries).map(|t| dpscope_core::math::exp2(-1.0 - f64::from(t % 600)));
                let uniform = kernel(sigma, 1, entries, one_slot(gap));
                let error = extreme_error(&uniform);
                assert!(error < 1.0, "{:?}: {error}", uniform.distribution);
                if !many {
                    let error = extreme_error(&kernel(sigma, 1, entries, weighted(gap, falling)));
                    assert!(error < 1.0, "falling weights {sigma} {entries} {gap}: {error}");
                }
            }
        }
    }
}

#[test]
fn a_fixed_centre_outside_its_domain_is_detected() {
    let mut broken = kernel(0.25, 1, 17, one_slot(2.0));
    assert!(matches!(broken.setup.scoring, Scoring::Moving(_)));
    broken.setup.scoring = Scoring::Fixed(Fixed::new(0.25, 2.0, 17, None));
    assert!(extreme_error(&broken) > 1.0);
}

#[test]
fn extreme_steps_stay_finite() {
    for sigma in [1e-3, 0.0063, 0.1, 0.2, 1.0, 20.0, 1e4] {
        for entries in [1, 17_u32] {
            let rates = [1e-9, 1e-5, 0.5, 0.999_999, 1.0];
            let poisson =
                rates.map(|sampling_rate| ScoreDistributionKind::Poisson { sampling_rate });
            let fixed_size =
                rates.map(|sampling_rate| ScoreDistributionKind::FixedSize { sampling_rate });
            let allocated = [1, entries.div_ceil(2), entries]
                .map(|uses_per_epoch| ScoreDistributionKind::SeveralSlots { uses_per_epoch });
            for kind in poisson.into_iter().chain(fixed_size).chain(allocated) {
                for world in World::BOTH {
                    let kernel = kernel(sigma, 1, entries, kind.clone());
                    let scores = extreme_scores(&kernel, world);
                    assert!(scores.iter().all(|s| s.abs() <= 1 << 31), "{:?}", kernel.distribution);
                    assert!(world == World::ZeroOut || scores[0] > 0, "{:?}", kernel.distribution);
                }
            }
        }
    }
}
