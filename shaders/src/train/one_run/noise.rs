//! Noise of a step: the kernel of `noise.wgsl`.

use super::super::kernel::Kernel;
use super::super::memory::Common;
use super::super::output;
use super::super::streams::Streams;
use crate::wgsl::wgsl;
use dpscope_core::random::Purpose;

/// The kernel that adds noise of standard deviation `noise` to the sum of a step.
#[must_use]
pub fn add_noise(common: &Common, noise: f32) -> Kernel {
    common
        .draft("noise", output::tiles(common.parameters).into())
        .random(Purpose::TrainNoise as u32, Streams::Units)
        .float("NOISE", noise)
        .part(wgsl!("noise.wgsl"))
        .finish(80 * u64::from(common.parameters))
}
