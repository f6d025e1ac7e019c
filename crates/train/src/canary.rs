//! The canary gradient.

use dpscope_core::random::{Purpose, stream_words};
use dpscope_shaders::random::VectorNormals;
use serde::{Deserialize, Serialize};

/// Direction of the canary gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CanaryDirection {
    /// Uniform on the unit sphere.
    Random,
    /// A single parameter: one whose gradient is zero for every record, if any, otherwise a random
    /// one.
    Dirac,
}

/// The canary gradient ĝ, a unit vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Canary {
    /// Its direction.
    pub direction: CanaryDirection,
    /// Whether each run draws its own canary; otherwise all runs share one.
    pub is_fresh: bool,
}

/// The random stream of everything that all runs share; no run uses it.
pub(crate) const SHARED_STREAM: u64 = u64::MAX;

impl Canary {
    /// Draws ĝ for the run with a given stream. `zero_gradient_parameter` has gradient zero for
    /// every record.
    pub(crate) fn draw(
        self,
        seed: u64,
        stream: u64,
        zero_gradient_parameter: Option<usize>,
        out: &mut [f32],
    ) {
        let stream = if self.is_fresh { stream } else { SHARED_STREAM };
        out.fill(0.0);
        match self.direction {
            CanaryDirection::Random => {
                VectorNormals::new(seed, Purpose::TrainCanary, stream).add(0, 1.0, out);
                let length = dot(out, out).sqrt();
                out.iter_mut().for_each(|entry| *entry = (f64::from(*entry) / length) as f32);
            }
            CanaryDirection::Dirac => {
                let mut word = [0];
                stream_words(seed, Purpose::TrainCanary, stream, 0, &mut word);
                let drawn = ((u64::from(word[0]) * out.len() as u64) >> 32) as usize;
                if let Some(entry) = out.get_mut(zero_gradient_parameter.unwrap_or(drawn)) {
                    *entry = 1.0;
                }
            }
        }
    }
}

/// ⟨a, b⟩ in f64, accumulated in sixteen partial sums.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f64 {
    let mut sums = [0.0_f64; 16];
    let (a_chunks, b_chunks) = (a.chunks_exact(16), b.chunks_exact(16));
    let rest = a_chunks.remainder().iter().zip(b_chunks.remainder());
    let rest: f64 = rest.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += f64::from(*a) * f64::from(*b);
        }
    }
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(direction: CanaryDirection, is_fresh: bool, stream: u64) -> Vec<f32> {
        let mut out = vec![7.0; 5000];
        Canary { direction, is_fresh }.draw(3, stream, None, &mut out);
        out
    }

    #[test]
    fn canaries_have_norm_one() {
        for direction in [CanaryDirection::Random, CanaryDirection::Dirac] {
            let canary = drawn(direction, true, 8);
            assert!((dot(&canary, &canary) - 1.0).abs() < 1e-6);
        }
        // uniform on the sphere: no large entry, and the kurtosis of a normal
        let canary = drawn(CanaryDirection::Random, true, 8);
        assert!(canary.iter().all(|entry| entry.abs() < 6.0 / 5000_f32.sqrt()));
        let squares = canary.iter().map(|entry| f64::from(*entry) * f64::from(*entry));
        let fourth: f64 = squares.map(|square| square * square).sum();
        assert!((fourth * 5000.0 - 3.0).abs() < 0.5, "{fourth}");
    }

    #[test]
    fn fresh_canaries_differ_and_fixed_ones_do_not() {
        for direction in [CanaryDirection::Random, CanaryDirection::Dirac] {
            assert_ne!(drawn(direction, true, 8), drawn(direction, true, 9));
            assert_eq!(drawn(direction, false, 8), drawn(direction, false, 9));
        }
    }

    #[test]
    fn dirac_canaries_use_the_zero_gradient_parameter() {
        let mut out = vec![0.0; 10];
        let canary = Canary { direction: CanaryDirection::Dirac, is_fresh: true };
        canary.draw(3, 4, Some(6), &mut out);
        assert_eq!(out[6], 1.0);
        assert_eq!(out.iter().sum::<f32>(), 1.0);
    }
}
