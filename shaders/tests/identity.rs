//! The scores are log-likelihood ratios: P_D(L ≤ c) = E_{D′}[e^L; L ≤ c] for every c.
//!
//! This holds at any noise, where the tests E_{D′}[e^L] = 1 fail for want of moments.

use dpscope_core::adjacency::World;
use dpscope_core::mechanism::ScoreDistribution;
use dpscope_shaders::{Phase, ScoreKernel};

use crate::reference::{Twist, distribution, fixed_size, one_slot, poisson, reference, weighted};

/// Largest deviation from the identity over nine quantiles, in standard errors.
fn deviation(target: &[f64], zero_out: &[f64]) -> f64 {
    let n = target.len() as f64;
    let mut sorted = target.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut worst = 0.0_f64;
    for decile in 1..10 {
        let c = sorted[target.len() * decile / 10];
        let p = target.iter().filter(|&&l| l <= c).count() as f64 / n;
        let weights =
            zero_out.iter().map(|&l| if l <= c { dpscope_core::math::exp(l) } else { 0.0 });
        let mean = weights.clone().sum::<f64>() / n;
        let square = weights.map(|w| w * w).sum::<f64>() / n;
        let error = ((p * (1.0 - p) + square - mean * mean) / n).sqrt();
        let ratio = (p - mean).abs() / error;
        worst = if ratio <= worst { worst } else { ratio }; // NaN stays
    }
    worst
}

fn distributions() -> Vec<ScoreDistribution> {
    vec![
        distribution(1.0, 1, 10, one_slot(2.0)),
        distribution(1.0, 2, 10, one_slot(1.0)),
        distribution(0.5, 1, 20, one_slot(2.0)),
        distribution(0.3, 1, 5, one_slot(2.0)),
        distribution(4.0, 1, 10, one_slot(20.0)),
        distribution(1.0, 1, 10, weighted(2.0, 10, 1.0)),
        distribution(1.0, 2, 10, weighted(1.0, 10, 1.0)),
        distribution(0.25, 1, 6, weighted(1.0, 6, 1.0)),
        distribution(0.7, 3, 10, poisson(0.2)),
        distribution(1.0, 3, 4, poisson(1.0)),
        distribution(1.0, 5, 1, one_slot(2.0)),
        distribution(0.7, 3, 10, fixed_size(0.2)),
        distribution(1.0, 3, 4, fixed_size(1.0)),
    ]
}

#[test]
fn scores_are_likelihood_ratios() {
    for distribution in distributions() {
        let kernel = ScoreKernel::new(&distribution, 77, Phase::Pilot).unwrap();
        let [target, zero_out] = World::BOTH.map(|world| {
            let mut scores = vec![0; 400_000];
            kernel.scores(world, 0, &mut scores, &|| true).unwrap();
            scores.iter().map(|&s| s as f64 * kernel.score_unit()).collect::<Vec<_>>()
        });
        let good = deviation(&target, &zero_out);
        assert!(good < 4.5, "{distribution:?}: {good}");
    }
}

#[test]
fn the_identity_rejects_broken_twins() {
    for distribution in [0, 8, 11].map(|i| distributions().swap_remove(i)) {
        let kernel = ScoreKernel::new(&distribution, 77, Phase::Pilot).unwrap();
        for twist in [Twist::Noise, Twist::Offset] {
            let [target, zero_out] = World::BOTH.map(|world| {
                let score = |i| reference(&distribution, world, &kernel.draws(world, i), twist);
                (0..60_000).map(score).collect::<Vec<_>>()
            });
            let bad = deviation(&target, &zero_out);
            assert!(bad > 4.5, "{distribution:?} {twist:?}: {bad}");
        }
    }
}
