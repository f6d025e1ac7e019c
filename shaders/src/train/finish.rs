//! The end of a step: the kernels of `finish.wgsl` and, with [`output`], `output.wgsl`.

use super::kernel::Kernel;
use super::memory::Common;
use super::output;
use crate::wgsl::wgsl;
use dpscope_core::random::Purpose;

/// Operations a parameter, about: those of a normal and what follows.
const OPERATIONS: u64 = 80;

/// What happens to a sum of clipped gradients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finish {
    /// C.
    pub clip_norm: f32,
    /// σ·C.
    pub noise: f32,
    /// η ÷ B.
    pub rate: f32,
    /// Whether each run has a canary of its own.
    pub is_fresh: bool,
    /// Outputs of a run.
    pub outputs: u32,
    /// Where a model's sums over tiles are in `values`.
    pub tile_sums: u32,
}

impl Finish {
    /// Words of the sums over tiles.
    #[must_use]
    pub const fn tiles(parameters: u32) -> u32 {
        output::tiles(parameters)
    }

    /// Canary, noise, parameters and output.
    #[must_use]
    pub fn kernels(&self, common: &Common) -> Vec<Kernel> {
        let parameters = common.parameters;
        let finish = common
            .draft("finish", Finish::tiles(parameters).into())
            .random(Purpose::TrainNoise as u32)
            .flag("IS_FRESH", self.is_fresh)
            .float("NOISE", self.noise)
            .float("RATE", self.rate)
            .constant("TILE_SUMS", self.tile_sums)
            .part(wgsl!("finish.wgsl"))
            .finish(OPERATIONS * u64::from(parameters));
        vec![finish, output::of_step(common, self.clip_norm, self.outputs, self.tile_sums)]
    }
}
