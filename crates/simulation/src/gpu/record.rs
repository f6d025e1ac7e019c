//! Scores or counts of selected observations, for comparison with the CPU.

use dpscope_core::adjacency::World;
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_engine::{GpuError, UnitRange};
use dpscope_shaders::bgm::Program;

use super::device_program::{DeviceProgram, Output};
use super::pieces::DispatchRange;

/// Bytes of a score of both worlds.
const SCORE_BYTES: u64 = 2 * 8;

/// Blocks of both worlds in a dispatch: milliseconds on the slowest device.
const PIECE: u64 = 1 << 18;

/// Maximum number of dispatches in flight: in a browser each wait costs milliseconds.
const AHEAD: u64 = 32;

/// Runs a program on observations, from first to last block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pass<'a> {
    pub(super) loaded: &'a DeviceProgram,
    pub(super) program: &'a Program,
    /// Blocks of a dispatch.
    pub(super) most_blocks: u64,
}

impl Pass<'_> {
    /// Runs observations `first`, `first` + 1, …, at most one batch.
    async fn run(
        &self,
        first: u64,
        observations: u64,
        bins: Option<&ScoreBins>,
        output: &Output,
    ) -> Result<(), GpuError> {
        let Pass { loaded, program, most_blocks } = *self;
        let most_blocks = most_blocks.min(loaded.gpu.limits().blocks(program)).max(1);
        let take = (PIECE / (2 * observations)).clamp(1, most_blocks);
        let dispatches = program.blocks().div_ceil(take);
        for dispatch in 0..dispatches {
            let block = dispatch * take;
            let blocks = block..(block + take).min(program.blocks());
            let cut = DispatchRange { first, observations: observations as u32, blocks };
            let submission = loaded.run(program, &cut, bins, output);
            // Reading the output waits for the last ones.
            if (dispatch + 1) % AHEAD == 0 {
                loaded.gpu.arrival(&submission, &mut loaded.gpu.completion()).await?;
                loaded.gpu.check()?;
            }
        }
        Ok(())
    }

    /// Counts of [world][parity of the observation][bin].
    pub(super) async fn counts(
        &self,
        range: UnitRange,
        bins: &ScoreBins,
    ) -> Result<Vec<u32>, GpuError> {
        let limits = self.loaded.gpu.limits();
        let most = limits.batch();
        let state_bytes = limits.state_bytes(self.program, range.len());
        let output = self.loaded.output(4 * bins.len() as u64, state_bytes);
        let mut first = range.first;
        while first < range.end {
            let observations = most.min(range.end - first);
            self.run(first, observations, Some(bins), &output).await?;
            first += observations;
        }
        self.loaded.read(&output).words().await
    }

    /// Scores of D and of D′.
    pub(super) async fn scores(&self, range: UnitRange) -> Result<[Vec<i64>; 2], GpuError> {
        let limits = self.loaded.gpu.limits();
        let most = limits.batch().min(limits.binding_bytes / SCORE_BYTES).max(1);
        let mut scores = [Vec::new(), Vec::new()];
        let mut first = range.first;
        while first < range.end {
            let observations = most.min(range.end - first);
            let state_bytes = limits.state_bytes(self.program, observations);
            let output = self.loaded.output(observations * SCORE_BYTES / 4, state_bytes);
            self.run(first, observations, None, &output).await?;
            let values = self.loaded.read(&output).words().await?;
            let world = 2 * observations as usize;
            for world_index in World::BOTH.map(World::index) {
                let values = values.iter().skip(world_index * world).take(world);
                let values: Vec<u64> = values.map(|&value| u64::from(value)).collect();
                let pairs = values.chunks_exact(2);
                scores[world_index].extend(pairs.map(|pair| (pair[0] | pair[1] << 32) as i64));
            }
            first += observations;
        }
        Ok(scores)
    }
}
