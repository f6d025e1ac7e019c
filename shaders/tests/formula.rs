//! The kernel's scores against the f64 formula of `ScoreDistributionKind` on the same draws.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::{ScoreDistribution, ScoreDistributionKind};
use dpscope_shaders::{Phase, ScoreKernel};

use crate::reference::{
    Twist, allocated, cases, distribution, fixed_size, one_slot, poisson, reference, weighted,
};

/// Tolerance per epoch in nats: rounding of f32 values of the size of the score
/// (1 + 1/σ²), and of means gap/σ that are added to the normals and multiplied by gap/σ.
fn tolerance(distribution: &ScoreDistribution) -> f64 {
    let variance = distribution.noise_multiplier * distribution.noise_multiplier;
    let gap =
        if let ScoreDistributionKind::OneSlot { gap, .. } = distribution.kind { gap } else { 1.0 };
    let lost = if gap > 2.0 { (2e-7 * gap * gap / variance).min(2e-5) } else { 0.0 };
    let steps = match distribution.kind {
        ScoreDistributionKind::Poisson { sampling_rate } => {
            5e-8 * sampling_rate * f64::from(distribution.entries)
        }
        // both logarithms of a step, and terms of both signs
        ScoreDistributionKind::FixedSize { sampling_rate } => {
            let steps = sampling_rate * f64::from(distribution.entries);
            (2e-7 * steps + 1e-6) * (1.0 + 1.0 / variance)
        }
        // all large terms come first, so that the others are added to a large sum
        ScoreDistributionKind::SeveralSlots { uses_per_epoch } => {
            4e-7 * f64::from(uses_per_epoch) * (1.0 + 0.5 / variance)
        }
        _ => 0.0,
    };
    2e-6 * (1.0 + 1.0 / variance) + lost + steps
}

/// Largest |kernel − reference| ÷ tolerance over some observations of both worlds.
fn worst(distribution: &ScoreDistribution, twist: Twist) -> f64 {
    let kernel = ScoreKernel::new(distribution, 31, Phase::Audit).unwrap();
    let count = if kernel.entries_per_observation() > 20_000 { 3 } else { 70 };
    let mut worst = 0.0_f64;
    for world in World::BOTH {
        let mut scores = vec![0; count];
        kernel.scores(world, 61, &mut scores, &|| true).unwrap();
        for (observation, &score) in (61..).zip(&scores) {
            let draws = kernel.draws(world, observation);
            let expected = reference(distribution, world, &draws, twist);
            let error = (score as f64 * kernel.score_unit() - expected).abs();
            let epochs = f64::from(distribution.epochs);
            let limit =
                epochs * (tolerance(distribution) + kernel.score_unit()) + 2e-7 * expected.abs();
            let ratio = error / limit;
            worst = if ratio <= worst { worst } else { ratio }; // NaN stays
        }
    }
    worst
}

#[test]
fn equals_the_formula() {
    for distribution in cases() {
        let good = worst(&distribution, Twist::None);
        assert!(good < 1.0, "{:.200}: {good}", format!("{distribution:?}"));
    }
}

#[test]
fn the_formula_rejects_broken_twins() {
    for distribution in [
        distribution(1.0, 1, 100, one_slot(2.0)),
        distribution(0.2, 2, 50, one_slot(2.0)),
        distribution(20.0, 1, 1000, one_slot(2.0)),
        distribution(1.0, 3, 100, one_slot(1.0)),
        distribution(2.0, 1, 40, one_slot(4.0)),
        distribution(1.0, 1, 10, weighted(2.0, 10, 0.6)),
        distribution(1.0, 1, 100, poisson(0.01)),
        distribution(1.0, 1, 100, fixed_size(0.01)),
        distribution(1.0, 1, 100, allocated(5)),
    ] {
        for twist in [Twist::Offset, Twist::Noise, Twist::DroppedRow] {
            let bad = worst(&distribution, twist);
            assert!(bad > 1.0, "{distribution:?} {twist:?}: {bad}");
        }
    }
}
