//! Cosines of a noisy sum in full dimension.

use dpscope_core::random::Purpose;
use dpscope_engine::{Control, EngineError};
use dpscope_shaders::random::VectorNormals;

use super::{NOISE, stream};
use crate::Backend;
use crate::directions::{BLOCK, BLOCKS_PER_POLL, CanaryDirections, ModelChange, cosines, products};

/// Canaries of one run; directions of another run have other numbers.
const CANARIES: u64 = 1 << 32;

/// Blocks of the sum that are computed in parallel.
const BLOCKS_AT_ONCE: usize = 256;

/// Draws of the cosines of [`CosineDraws`](super::CosineDraws) from every coordinate of directions,
/// noise and sum.
///
/// Directions are drawn three times, for their norms, their sum and the cosines, and never stored: the
/// memory is that of the sum. The cost of a run is 3kd normals.
#[derive(Debug, Clone, Copy)]
pub struct CoordinateDraws {
    /// d, the dimension of the sum.
    pub dimension: u64,
    /// σ, the standard deviation of the noise per coordinate over the norm of a canary.
    pub noise_multiplier: f64,
    /// Seed of every random word, below 2⁵³.
    pub seed: u64,
}

impl CoordinateDraws {
    /// The cosines of all canaries of a run, a function of seed and run alone; run and number of canaries
    /// are below 2³².
    ///
    /// # Errors
    /// [`EngineError::Stopped`].
    pub fn cosines(
        &self,
        run: u64,
        canaries: usize,
        backend: &Backend,
        control: &dyn Control,
    ) -> Result<Vec<f64>, EngineError> {
        let &Self { dimension, noise_multiplier, seed } = self;
        let first = CANARIES * run;
        let canaries = first..first + canaries as u64;
        let mut sum = vec![0.0; dimension as usize];
        let norms = products(backend, seed, canaries.clone(), &sum, control)?;
        let scales: Vec<f32> =
            norms.iter().map(|found| found.square.sqrt().recip() as f32).collect();
        let mut blocks: Vec<(u64, &mut [f32])> = (0..).zip(sum.chunks_mut(BLOCK)).collect();
        for part in blocks.chunks_mut(BLOCKS_AT_ONCE) {
            backend.cpu().update(part, |(vector, out)| {
                let mut block = vec![0.0; BLOCK];
                let mut noise =
                    VectorNormals::new(seed, Purpose::NoisySumNoise, stream(run, NOISE));
                noise.add(*vector, noise_multiplier as f32, &mut block);
                let mut directions = CanaryDirections::new(seed, BLOCK);
                for (at, (canary, &scale)) in canaries.clone().zip(&scales).enumerate() {
                    if at % BLOCKS_PER_POLL == 0 && !control.keep_going() {
                        return; // asked again below
                    }
                    directions.add_block(canary, *vector, scale, &mut block);
                }
                out.copy_from_slice(&block[..out.len()]);
            });
            if !control.keep_going() {
                return Err(EngineError::Stopped);
            }
        }
        cosines(backend, seed, canaries, &ModelChange::of_sum(sum), control)
    }
}
