//! Update of the parameters: the kernel of `descend.wgsl`.

use super::super::kernel::{Kernel, WORKGROUP};
use super::super::memory::Common;
use crate::wgsl::wgsl;

/// The kernel v ← μv + sum, θ ← θ − rate·v; without momentum there is no velocity.
#[must_use]
pub fn descend(common: &Common, rate: f32, momentum: f32) -> Kernel {
    common
        .draft("descend", common.parameters.div_ceil(WORKGROUP).into())
        .flag("HAS_MOMENTUM", momentum > 0.0)
        .float("RATE", rate)
        .float("MOMENTUM", momentum)
        .part(wgsl!("descend.wgsl"))
        .finish(4 * u64::from(common.parameters))
}
