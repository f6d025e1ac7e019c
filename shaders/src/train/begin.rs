//! Where runs begin: the kernels of `begin.wgsl`.

use super::finish::Finish;
use super::kernel::Kernel;
use super::memory::Common;
use super::output;
use crate::wgsl::wgsl;
use dpscope_core::random::Purpose;

/// The canary of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// One for all runs: nothing is drawn.
    Fixed,
    /// Uniform on the sphere, a run each.
    Random,
    /// One parameter, a run each.
    Dirac,
}

impl Beginning {
    /// Parameters, which stand first in `data`, and canaries; sums over tiles are at `tile_sums`.
    #[must_use]
    pub fn kernels(self, common: &Common, tile_sums: u32) -> Vec<Kernel> {
        let part = |name: &str, part: u32| {
            let parameters = common.parameters;
            common
                .draft(name, Finish::tiles(parameters).into())
                .random(Purpose::TrainCanary as u32)
                .constants(&[("TILE_SUMS", tile_sums), ("PART", part)])
                .part(wgsl!("begin.wgsl"))
                .finish(60 * u64::from(parameters))
        };
        match self {
            Beginning::Fixed => vec![part("begin", 0)],
            Beginning::Dirac => vec![part("begin", 2)],
            Beginning::Random => {
                let length = output::of_length(common, tile_sums);
                vec![part("begin", 1), length, part("normalise", 3)]
            }
        }
    }
}
