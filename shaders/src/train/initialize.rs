//! Initialisation of runs: the kernels of `initialize.wgsl`.

use super::finish::Finish;
use super::kernel::Kernel;
use super::memory::Common;
use super::output;
use super::streams::Streams;
use crate::wgsl::wgsl;
use dpscope_core::random::Purpose;

/// Initialisation of the canary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Initialization {
    /// One canary for all runs; nothing is drawn.
    Fixed,
    /// Uniform on the unit sphere, for each run.
    Random,
    /// One random parameter, for each run.
    Dirac,
}

impl Initialization {
    /// Kernels that copy the initial parameters, which are first in `data`, and draw canaries.
    /// `tile_sums` is the offset of sums over tiles.
    #[must_use]
    pub fn kernels(self, common: &Common, tile_sums: u32) -> Vec<Kernel> {
        let part = |name: &str, part: u32| {
            let parameters = common.parameters;
            common
                .draft(name, Finish::tiles(parameters).into())
                .random(Purpose::TrainCanary as u32, Streams::Worlds)
                .constants(&[("TILE_SUMS", tile_sums), ("PART", part)])
                .part(wgsl!("initialize.wgsl"))
                .finish(60 * u64::from(parameters))
        };
        match self {
            Initialization::Fixed => vec![part("initialize", 0)],
            Initialization::Dirac => vec![part("initialize", 2)],
            Initialization::Random => {
                let length = output::of_length(common, tile_sums);
                vec![part("initialize", 1), length, part("normalize", 3)]
            }
        }
    }
}
