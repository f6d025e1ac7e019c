//! Products of canary directions on a GPU in exact mode: equal to those of the CPU.

use std::ops::Range;
use std::sync::Arc;

use dpscope_core::random::Purpose;
use dpscope_engine::gpu::SubmissionPace;
use dpscope_engine::{Control, GpuError};
use dpscope_shaders::directions::{BLOCK, DirectionProgram, SUMS, running_sums};
use dpscope_shaders::random::VectorNormals;

use super::GpuBackend;
use super::device::{Build, Gpu};
use super::device_program::DeviceProgram;
use super::pair::at_once;
use super::source::Source;
use crate::directions::Products;

/// A seed under which a radius word of the tested coordinates is below 2¹²: the deep tail.
const SEED: u64 = 6;

/// Canaries of the self-test, of which the second carries into the high word.
const TESTED: Range<u64> = (1 << 32) - 1..(1 << 32) + 2;

/// Blocks of the self-test.
const TESTED_BLOCKS: Range<u64> = 1..3;

/// Blocks of a change that are on the device at once.
const MAX_BLOCKS: u64 = 1 << 11;

/// Maximum number of running sums per dispatch, which the host stores.
const MAX_SUMS: u64 = 1 << 21;

/// Multiplies directions of one seed on a GPU.
pub(crate) struct GpuDirections<'a> {
    backend: &'a GpuBackend,
    seed: u64,
    pace: SubmissionPace,
}

impl GpuBackend {
    /// Prepares to multiply directions of a seed.
    pub(crate) fn directions(&self, seed: u64) -> GpuDirections<'_> {
        GpuDirections { backend: self, seed, pace: SubmissionPace::of_blocks() }
    }
}

impl GpuDirections<'_> {
    /// Adds the products of the directions of canaries with the whole blocks of a change to `products`,
    /// in the order of blocks.
    ///
    /// # Errors
    /// The reason for the failure.
    pub(crate) fn add(
        &mut self,
        canaries: Range<u64>,
        change: &[f32],
        products: &mut [Products],
        control: &dyn Control,
    ) -> Result<(), String> {
        at_once(self.added(canaries, change, products, control))
    }

    async fn added(
        &mut self,
        canaries: Range<u64>,
        change: &[f32],
        products: &mut [Products],
        control: &dyn Control,
    ) -> Result<(), GpuError> {
        let gpu = self.backend.gpu();
        let pipeline = load(&gpu).await?;
        let limits = gpu.limits();
        let most_blocks = (limits.binding_bytes / (4 * BLOCK as u64)).min(MAX_BLOCKS);
        let most_sums = (limits.binding_bytes / 8).min(limits.observations()).min(MAX_SUMS);
        let mut first_block = 0;
        for part in change.chunks(BLOCK * most_blocks.max(1) as usize) {
            let blocks = (part.len() / BLOCK) as u64;
            let loaded = loaded(&gpu, self.seed, part, pipeline.clone())?;
            let sums_each = SUMS as u64 * blocks;
            let mut done = 0;
            while done < canaries.end - canaries.start {
                if !control.keep_going() {
                    return Err(GpuError::Stopped);
                }
                let wanted = self.pace.budget() / DirectionProgram::WORD_BLOCKS_PER_SUM;
                let fitting = (wanted.min(most_sums) / sums_each).max(1);
                let end = (canaries.start + done + fitting).min(canaries.end);
                let range = canaries.start + done..end;
                let started_ms = control.now_ms();
                let found =
                    values(&loaded, range.clone(), first_block..first_block + blocks).await?;
                let spent_ms = control.now_ms() - started_ms;
                let count = range.end - range.start;
                let work = count * sums_each * DirectionProgram::WORD_BLOCKS_PER_SUM;
                self.pace.learn(work, spent_ms);
                let each = found.chunks(DirectionProgram::VALUES * blocks as usize);
                for (products, values) in products[done as usize..].iter_mut().zip(each) {
                    for block in values.chunks(DirectionProgram::VALUES) {
                        products.add_sums(block);
                    }
                }
                done += count;
            }
            first_block += blocks;
        }
        Ok(())
    }
}

fn loaded(
    gpu: &Arc<Gpu>,
    seed: u64,
    change: &[f32],
    pipeline: wgpu::ComputePipeline,
) -> Result<DeviceProgram, GpuError> {
    let bits: Vec<u32> = change.iter().map(|x| x.to_bits()).collect();
    let program = DirectionProgram::new(seed);
    let dispatch = DirectionProgram::dispatch(0, 0, 0, 0);
    DeviceProgram::bound(gpu, [program.params(), &[], &dispatch], [&[], &bits], pipeline)
}

async fn values(
    loaded: &DeviceProgram,
    canaries: Range<u64>,
    blocks: Range<u64>,
) -> Result<Vec<f32>, GpuError> {
    let (count, length) = (canaries.end - canaries.start, blocks.end - blocks.start);
    let sums = SUMS as u64 * count * length;
    let output = loaded.output(2 * sums, 4);
    let dispatch =
        DirectionProgram::dispatch(canaries.start, count as u32, blocks.start, length as u32);
    loaded.dispatch(&dispatch, sums as u32, 1, &output);
    let words = loaded.read(&output).words().await?;
    if words.len() as u64 != 2 * sums {
        return Err(GpuError::Device(format!("it returned {} of {} sums", words.len(), 2 * sums)));
    }
    Ok(words.into_iter().map(f32::from_bits).collect())
}

/// The pipeline, after its self-test.
async fn load(gpu: &Arc<Gpu>) -> Result<wgpu::ComputePipeline, GpuError> {
    if let Some(tested) = gpu.tested(Source::Directions) {
        return tested.map_err(GpuError::Unfit);
    }
    let mut reason = String::new();
    for build in Build::ALL {
        let Some(pipeline) = gpu.compiled(Source::Directions, build).await? else { continue };
        match compare(gpu, &pipeline).await {
            Ok(()) => {
                gpu.set_tested(Source::Directions, Ok(pipeline.clone()));
                return Ok(pipeline);
            }
            Err(GpuError::Unfit(wrong)) => reason = wrong,
            Err(failure) => return Err(failure),
        }
    }
    gpu.set_tested(Source::Directions, Err(reason.clone()));
    Err(GpuError::Unfit(reason))
}

/// Compares running sums with the CPU's, including one of the deep tail.
async fn compare(gpu: &Arc<Gpu>, pipeline: &wgpu::ComputePipeline) -> Result<(), GpuError> {
    let blocks = (TESTED_BLOCKS.end - TESTED_BLOCKS.start) as usize;
    let change: Vec<f32> = (0..blocks * BLOCK).map(|i| (i % 977) as f32 - 488.0).collect();
    let loaded = loaded(gpu, SEED, &change, pipeline.clone())?;
    let found = values(&loaded, TESTED, TESTED_BLOCKS).await?;
    let mut found = found.chunks(DirectionProgram::VALUES);
    for canary in TESTED {
        for (block, change) in TESTED_BLOCKS.zip(change.chunks(BLOCK)) {
            let (found, twin) = (found.next().unwrap_or_default(), twin(canary, block, change));
            if found != twin {
                return Err(GpuError::Unfit(format!(
                    "self-test: the direction of canary {canary} differs from the CPU's in block {block}"
                )));
            }
        }
    }
    Ok(())
}

fn twin(canary: u64, block: u64, change: &[f32]) -> Vec<f32> {
    let mut normals = vec![0.0; BLOCK];
    VectorNormals::new(SEED, Purpose::CanaryDirection, canary).add(block, 1.0, &mut normals);
    let (products, squares) = (running_sums(&normals, change), running_sums(&normals, &normals));
    products.into_iter().zip(squares).flat_map(|(product, square)| [product, square]).collect()
}

#[cfg(test)]
mod tests {
    use dpscope_core::random::stream_words;

    use super::*;

    #[test]
    fn the_self_test_reaches_the_deep_tail() {
        let is_deep = |seed: u64| {
            TESTED.clone().any(|canary| {
                let first = TESTED_BLOCKS.start * BLOCK as u64;
                let mut words = vec![0; BLOCK * (TESTED_BLOCKS.end - TESTED_BLOCKS.start) as usize];
                stream_words(seed, Purpose::CanaryDirection, canary, first, &mut words);
                words.iter().step_by(2).any(|&word| word < 1 << 12)
            })
        };
        let first = (0..).find(|&seed| is_deep(seed));
        assert_eq!(first, Some(SEED));
    }
}
