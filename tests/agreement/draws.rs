//! Random draws of the tests: fixed seeds, a published generator, normals by the polar method.

use dpscope_core::math;
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

pub(crate) struct Draws {
    words: ChaCha8Rng,
    spare: Option<f64>,
}

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self { words: ChaCha8Rng::seed_from_u64(seed), spare: None }
    }

    /// Uniform in (0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.words.next_u64() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// Uniform in 0..`bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.words.next_u64()) * bound as u128) >> 64) as usize
    }

    pub(crate) fn normal(&mut self) -> f64 {
        if let Some(normal) = self.spare.take() {
            return normal;
        }
        loop {
            let (u, v) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = u * u + v * v;
            if square < 1.0 && square > 0.0 {
                let radius = (-2.0 * math::ln(square) / square).sqrt();
                self.spare = Some(v * radius);
                return u * radius;
            }
        }
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// z of the mean of `values` against `expected`, by the sample's own spread.
pub(crate) fn z_of_mean(values: &[f64], expected: f64) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean - expected) / (variance / n).sqrt()
}
