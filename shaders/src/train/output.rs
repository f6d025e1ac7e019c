//! Sums over the tiles of a model: the kernels of `output.wgsl`.

use super::finish::Finish;
use super::kernel::{Draft, Kernel};
use super::memory::Common;
use crate::wgsl::wgsl;

/// The attacker's output of a step.
pub(super) fn of_step(common: &Common, finish: &Finish) -> Kernel {
    let draft = common
        .draft("output", 1)
        .flag("IS_LENGTH", false)
        .float("CLIP_NORM", finish.clip_norm)
        .constant("OUTPUTS_PER_RUN", finish.outputs);
    summed(draft, common, finish.tile_sums)
}

/// 1 ÷ the length of a vector, which replaces the sum of the first tile.
pub(super) fn of_length(common: &Common, tile_sums: u32) -> Kernel {
    let draft = common
        .draft("length", 1)
        .flag("IS_LENGTH", true)
        .float("CLIP_NORM", 1.0)
        .constant("OUTPUTS_PER_RUN", 0);
    summed(draft, common, tile_sums)
}

fn summed(draft: Draft, common: &Common, tile_sums: u32) -> Kernel {
    let tiles = Finish::tiles(common.parameters);
    draft
        .constants(&[("TILE_SUMS", tile_sums), ("TILES", tiles)])
        .part(wgsl!("output.wgsl"))
        .finish(tiles.into())
}
