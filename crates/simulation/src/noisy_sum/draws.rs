//! Cosines of a noisy sum by their joint distribution.

use dpscope_core::math;
use dpscope_core::random::{Purpose, WideNormals, Words};
use dpscope_shaders::random::VectorNormals;

use super::{SCALARS, SCORES, stream};

/// Draws of the cosines between a noisy sum of k unit directions and each of them.
///
/// With z standard normal, √d cos_i = M + z_i − z̄, where M is independent of z:
///
/// M = √d (U A/√d + √k H)/(√k r), r² = U² + 2√k U A/√d + kH
///
/// A ~ N(0, 1), U² ~ σ²χ² with d degrees of freedom, H = 1 + √((k − 1)/k)(H₀ − 1) and
/// dH₀ ~ A² + χ² with d − 1. A draw costs k normals, whatever d is.
///
/// # Numerics
/// For Gaussian directions with H₀ in place of H it is exact. For unit directions the spread of the
/// cosines is larger than theirs by a factor of about 1 + 3/N², N² = σ²d + k − 1, which a plan keeps
/// below 1 %.
///
/// # Guarantee
/// Mean and spread have the distribution of those in full dimension
/// (`unit::cosines_have_the_distribution_of_those_in_full_dimension`).
#[derive(Debug)]
pub struct CosineDraws {
    dimension: f64,
    noise_multiplier: f64,
    seed: u64,
    normals: VectorNormals,
    scores: Vec<f32>,
}

impl CosineDraws {
    /// Draws for canaries of norm 1 in R^d and noise of standard deviation σ per coordinate.
    #[must_use]
    pub fn new(dimension: u64, noise_multiplier: f64, seed: u64) -> Self {
        CosineDraws {
            dimension: dimension as f64,
            noise_multiplier,
            seed,
            normals: VectorNormals::new(seed, Purpose::NoisySum, 0),
            scores: Vec::new(),
        }
    }

    /// The cosines of all canaries of a run, a function of seed and run alone.
    pub fn cosines(&mut self, run: u64, canaries: usize, out: &mut Vec<f64>) {
        out.clear();
        if canaries == 0 {
            return;
        }
        self.scores.clear();
        self.scores.resize(canaries, 0.0);
        self.normals.set_stream(stream(run, SCORES));
        self.normals.add(0, 1.0, &mut self.scores);
        let count = canaries as f64;
        let mean = self.scores.iter().map(|&z| f64::from(z)).sum::<f64>() / count;
        let shift = self.mean_score(run, count) - mean;
        let scale = self.dimension.sqrt().recip();
        let cosine = |z: &f32| math::clamp(scale * (f64::from(*z) + shift), -1.0, 1.0);
        out.extend(self.scores.iter().map(cosine));
    }

    /// M, the mean of √d cos over the canaries of a run.
    fn mean_score(&self, run: u64, count: f64) -> f64 {
        let Self { dimension, noise_multiplier, seed, .. } = *self;
        let mut draws = GammaDraws {
            words: Words::new(seed, Purpose::NoisySum, stream(run, SCALARS)),
            normals: WideNormals::new(seed, Purpose::NoisySumNoise, stream(run, SCALARS)),
        };
        let along = draws.normal();
        let gaussian = (along * along + draws.chi_square(dimension - 1.0)) / dimension;
        let square = 1.0 + ((count - 1.0) / count).sqrt() * (gaussian - 1.0);
        let noise = noise_multiplier * draws.chi_square(dimension).sqrt();
        let cross = noise * along / dimension.sqrt();
        let root = count.sqrt();
        let norm = (noise * noise + 2.0 * root * cross + count * square).sqrt();
        dimension.sqrt() * (cross + root * square) / (root * norm)
    }
}

/// Gamma variables from one stream.
struct GammaDraws {
    words: Words,
    normals: WideNormals,
}

impl GammaDraws {
    fn normal(&mut self) -> f64 {
        let mut normal = [0.0];
        self.normals.fill(&mut normal);
        normal[0]
    }

    /// χ² with at least 2 degrees of freedom, by the method of G. Marsaglia and W. W. Tsang (2000).
    ///
    /// By hand: the draws of a plan must not change with a version of `rand_distr`.
    fn chi_square(&mut self, degrees: f64) -> f64 {
        let shape = 0.5 * degrees - 1.0 / 3.0;
        let step = (9.0 * shape).sqrt().recip();
        loop {
            let normal = self.normal();
            let root = step * normal;
            // (1 + root)³ − 1, without cancellation for many degrees
            let excess = root * (3.0 + root * (3.0 + root));
            if root > -1.0 {
                let ln_ratio = 0.5 * normal * normal + shape * (math::ln_1p(excess) - excess);
                if math::ln(self.words.uniform()) < ln_ratio {
                    return 2.0 * shape * (1.0 + excess);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backend;
    use crate::backend::CpuBackend;
    use crate::noisy_sum::CoordinateDraws;
    use dpscope_engine::Unattended;

    #[test]
    fn chi_squares_have_their_moments() {
        for degrees in [2.0, 3.0, 50.0, 1e6, 1e14] {
            let mut draws = GammaDraws {
                words: Words::new(3, Purpose::Test, 1),
                normals: WideNormals::new(3, Purpose::Test, 2),
            };
            let standard: Vec<f64> = (0..20_000)
                .map(|_| (draws.chi_square(degrees) - degrees) / (2.0 * degrees).sqrt())
                .collect();
            let mean = standard.iter().sum::<f64>() / 2e4;
            let square = standard.iter().map(|x| x * x).sum::<f64>() / 2e4;
            assert!(mean.abs() < 0.03, "{degrees}: {mean}");
            let kurtosis = 3.0 + 12.0 / degrees;
            let error = 4.0 * ((kurtosis - 1.0) / 2e4).sqrt();
            assert!((square - 1.0).abs() < error, "{degrees}: {square}");
        }
    }

    /// Mean and standard deviation of √d cos.
    fn moments(cosines: &[f64], dimension: u64) -> [f64; 2] {
        let count = cosines.len() as f64;
        let mean = cosines.iter().sum::<f64>() / count;
        let square = cosines.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / count;
        [mean, square.sqrt()].map(|moment| moment * (dimension as f64).sqrt())
    }

    /// The distance of Kolmogorov and Smirnov, over its 0.1 % point.
    fn distance(mut one: Vec<f64>, mut other: Vec<f64>) -> f64 {
        one.sort_by(f64::total_cmp);
        other.sort_by(f64::total_cmp);
        let share = |sorted: &[f64], at: f64| {
            sorted.partition_point(|&x| x <= at) as f64 / sorted.len() as f64
        };
        let points = one.iter().chain(&other);
        let most = points.map(|&at| (share(&one, at) - share(&other, at)).abs());
        let (n, m) = (one.len() as f64, other.len() as f64);
        most.fold(0.0, f64::max) / (1.95 * ((n + m) / (n * m)).sqrt())
    }

    #[test]
    fn cosines_have_the_distribution_of_those_in_full_dimension() {
        const DIMENSION: u64 = 2_500;
        const CANARIES: usize = 60;
        let sigma = 0.5;
        let cpu = Backend::Cpu(CpuBackend::new(0).unwrap());
        let full: Vec<[f64; 2]> = (0..300)
            .map(|run| {
                let (dimension, noise_multiplier, seed) = (DIMENSION, sigma, 11);
                let draws = CoordinateDraws { dimension, noise_multiplier, seed };
                let cosines = draws.cosines(run, CANARIES, &cpu, &Unattended).unwrap();
                moments(&cosines, DIMENSION)
            })
            .collect();
        let by_draws = |dimension: u64, sigma: f64| -> Vec<[f64; 2]> {
            let mut draws = CosineDraws::new(dimension, sigma, 12);
            let mut cosines = Vec::new();
            (0..3_000)
                .map(|run| {
                    draws.cosines(run, CANARIES, &mut cosines);
                    moments(&cosines, dimension)
                })
                .collect()
        };
        let of = |moment: usize, drawn: &[[f64; 2]]| {
            let column = |runs: &[[f64; 2]]| runs.iter().map(|run| run[moment]).collect();
            distance(column(&full), column(drawn))
        };
        let sound = by_draws(DIMENSION, sigma);
        assert!(of(0, &sound) < 1.0 && of(1, &sound) < 1.0, "{} {}", of(0, &sound), of(1, &sound));
        // mutant: the other canaries do not hide a canary
        let alone: Vec<[f64; 2]> =
            sound.iter().map(|[mean, sd]| [mean * 1.09f64.sqrt(), *sd]).collect();
        assert!(of(0, &alone) > 1.0, "{}", of(0, &alone));
        // mutant: 10 % more noise
        assert!(of(0, &by_draws(DIMENSION, 1.1 * sigma)) > 1.0);
        // mutant: scores that are a tenth too wide
        let wide: Vec<[f64; 2]> = sound.iter().map(|[mean, sd]| [*mean, 1.1 * sd]).collect();
        assert!(of(1, &wide) > 1.0, "{}", of(1, &wide));
    }

    #[test]
    fn extreme_sums_have_finite_cosines() {
        let mut out = Vec::new();
        for (dimension, sigma) in [(1_000, 0.0), (1_000, 1e6), (1_000_000_000_000_000, 1.0)] {
            let mut draws = CosineDraws::new(dimension, sigma, 5);
            for canaries in [0, 1, 2, 500] {
                draws.cosines(7, canaries, &mut out);
                assert_eq!(out.len(), canaries);
                assert!(
                    out.iter().all(|c| (-1.0..=1.0).contains(c)),
                    "{dimension} {sigma} {out:?}"
                );
            }
        }
        // one canary without noise is the sum
        let mut draws = CosineDraws::new(1_000, 0.0, 5);
        draws.cosines(0, 1, &mut out);
        assert!((out[0] - 1.0).abs() < 1e-12, "{out:?}");
    }

    #[test]
    fn values_are_stable() {
        let mut out = Vec::new();
        CosineDraws::new(10_000, 1.0, 20_261_123).cosines(3, 2, &mut out);
        assert_eq!(
            out.iter().map(|c| c.to_bits()).collect::<Vec<u64>>(),
            [4_581_758_090_575_738_693, 4_578_017_018_476_049_976]
        );
    }
}
