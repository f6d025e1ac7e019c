//! Scores themselves instead of their counts.

use dpscope_core::adjacency::World;
use dpscope_shaders::bgm::Program;

use super::device::Failure;
use super::loaded::Loaded;
use super::pieces::Cut;
use crate::ObservationRange;

/// Bytes of a score of both worlds.
const SCORE_BYTES: u64 = 2 * 8;

/// Blocks of both worlds in a dispatch: milliseconds on the slowest device.
const PIECE: u64 = 1 << 18;

/// Scores of D and of D′ of some observations, at most `most_blocks` blocks a dispatch.
pub(super) async fn record(
    loaded: &Loaded,
    program: &Program,
    range: ObservationRange,
    most_blocks: u64,
) -> Result<[Vec<i64>; 2], Failure> {
    let limits = loaded.gpu.limits();
    let most = limits.batch().min(limits.binding_bytes / SCORE_BYTES).max(1);
    let most_blocks = most_blocks.min(limits.blocks(program)).max(1);
    let mut scores = [Vec::new(), Vec::new()];
    let mut first = range.first;
    while first < range.end {
        let observations = most.min(range.end - first);
        let take = (PIECE / (2 * observations)).clamp(1, most_blocks);
        let state_bytes = limits.state_bytes(program, observations);
        let output = loaded.output(observations * SCORE_BYTES / 4, state_bytes);
        let mut block = 0;
        while block < program.blocks() {
            let blocks = block..(block + take).min(program.blocks());
            block = blocks.end;
            let cut = Cut { first, observations: observations as u32, blocks };
            let submission = loaded.run(program, &cut, None, &output);
            loaded.gpu.arrival(&submission, &mut loaded.gpu.completion()).await?;
            loaded.gpu.check()?;
        }
        let values = loaded.read(&output).values().await?;
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
