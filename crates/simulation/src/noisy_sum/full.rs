//! Cosines of a noisy sum in full dimension.

use dpscope_core::random::Purpose;
use dpscope_shaders::random::VectorNormals;

use super::{NOISE, stream};
use crate::cpu::CpuBackend;
use crate::directions::{BLOCK, CanaryDirections, ModelChange};

/// Canaries of one run; directions of another run have other numbers.
const CANARIES: u64 = 1 << 32;

/// Blocks of the sum that are computed in parallel.
const BLOCKS_AT_ONCE: usize = 256;

/// The cosines of all canaries of a run, from every coordinate of directions, noise and sum; `None` if
/// `keep_going` returned `false`.
///
/// `plan` is dimension, noise multiplier and seed. Directions are drawn three times, for their norms,
/// their sum and the cosines, and never stored: the memory is that of the sum.
pub(crate) fn full_cosines(
    plan: (u64, f64, u64),
    run: u64,
    canaries: usize,
    cpu: &CpuBackend,
    keep_going: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<f64>> {
    let (dimension, noise_multiplier, seed) = plan;
    let dimension = usize::try_from(dimension).ok()?;
    let canaries: Vec<u64> = (0..canaries as u64).map(|canary| CANARIES * run + canary).collect();
    let directions = || CanaryDirections::new(seed, dimension);
    let scales: Option<Vec<(u64, f32)>> = cpu
        .map(&canaries, |&canary| {
            keep_going().then(|| (canary, directions().norm(canary).recip() as f32))
        })
        .into_iter()
        .collect();
    let scales = scales?;
    let firsts: Vec<usize> = (0..dimension).step_by(BLOCK).collect();
    let mut sum = Vec::with_capacity(dimension);
    for part in firsts.chunks(BLOCKS_AT_ONCE) {
        let blocks = cpu.map(part, |&first| {
            let vector = (first / BLOCK) as u64;
            let mut block = vec![0.0; BLOCK];
            let mut noise = VectorNormals::new(seed, Purpose::NoisySumNoise, stream(run, NOISE));
            noise.add(vector, noise_multiplier as f32, &mut block);
            let mut directions = directions();
            for &(canary, scale) in &scales {
                directions.add_block(canary, vector, scale, &mut block);
            }
            block.truncate(dimension - first);
            block
        });
        sum.extend(blocks.into_iter().flatten());
        if !keep_going() {
            return None;
        }
    }
    let sum = ModelChange::of_sum(sum);
    cpu.map(&canaries, |&canary| keep_going().then(|| directions().cosine(canary, &sum)))
        .into_iter()
        .collect()
}
