//! End of a step: the kernels of `finish.wgsl` and, with [`output`], `output.wgsl`.

use super::kernel::Kernel;
use super::memory::Common;
use super::output;
use super::streams::Streams;
use crate::wgsl::wgsl;
use dpscope_core::random::Purpose;

/// Approximate operations per parameter.
const OPERATIONS: u64 = 80;

/// Processing of the sum of clipped gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finish {
    /// Clipping norm C.
    pub clip_norm: f32,
    /// Noise standard deviation σ·C.
    pub noise: f32,
    /// Learning rate over batch size, η ÷ B.
    pub rate: f32,
    /// Whether each run has its own canary.
    pub is_fresh: bool,
    /// Outputs per run.
    pub outputs: u32,
    /// Offset of the sums over tiles in `values`.
    pub tile_sums: u32,
}

impl Finish {
    /// Number of tiles, and of the sums over tiles.
    #[must_use]
    pub const fn tiles(parameters: u32) -> u32 {
        output::tiles(parameters)
    }

    /// Kernels that add canary and noise, update the parameters and compute the output.
    #[must_use]
    pub fn kernels(&self, common: &Common) -> Vec<Kernel> {
        let parameters = common.parameters;
        let finish = common
            .draft("finish", Finish::tiles(parameters).into())
            .random(Purpose::TrainNoise as u32, Streams::Worlds)
            .flag("IS_FRESH", self.is_fresh)
            .float("NOISE", self.noise)
            .float("RATE", self.rate)
            .constant("TILE_SUMS", self.tile_sums)
            .part(wgsl!("finish.wgsl"))
            .finish(OPERATIONS * u64::from(parameters));
        vec![finish, output::of_step(common, self.clip_norm, self.outputs, self.tile_sums)]
    }
}
