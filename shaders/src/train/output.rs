//! Sums over the tiles of a model: the kernels of `output.wgsl`.

use super::kernel::{Kernel, KernelBuilder};
use super::memory::Common;
use crate::wgsl::wgsl;

/// Parameters of a tile.
const TILE: u32 = 1024;

/// Tiles of a model.
pub(super) const fn tiles(parameters: u32) -> u32 {
    parameters.div_ceil(TILE)
}

/// The kernel of the attacker's output.
pub(super) fn of_step(common: &Common, clip_norm: f32, outputs: u32, tile_sums: u32) -> Kernel {
    let builder = common
        .draft("output", 1)
        .flag("IS_LENGTH", false)
        .float("CLIP_NORM", clip_norm)
        .constant("OUTPUTS_PER_RUN", outputs);
    summed(builder, common, tile_sums)
}

/// The kernel of 1 ÷ the norm of a vector, which replaces the sum of the first tile.
pub(super) fn of_length(common: &Common, tile_sums: u32) -> Kernel {
    let builder = common
        .draft("length", 1)
        .flag("IS_LENGTH", true)
        .float("CLIP_NORM", 1.0)
        .constant("OUTPUTS_PER_RUN", 0);
    summed(builder, common, tile_sums)
}

fn summed(builder: KernelBuilder, common: &Common, tile_sums: u32) -> Kernel {
    let tiles = tiles(common.parameters);
    builder
        .constants(&[("TILE_SUMS", tile_sums), ("TILES", tiles)])
        .part(wgsl!("output.wgsl"))
        .finish(tiles.into())
}
