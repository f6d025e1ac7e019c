//! Update of the parameters: the kernel of `descend.wgsl`.

use super::super::kernel::{Kernel, WORKGROUP};
use super::super::memory::Common;
use crate::wgsl::wgsl;

/// The kernel v ← μv + sum, θ ← θ − rate·v; without momentum there is no velocity.
#[must_use]
pub fn descend(common: &Common, rate: f32, momentum: f32) -> Kernel {
    kernel(common, Some(rate), momentum)
}

/// The kernel θ ← θ − rate·sum, where the last word of the rows of each model is its rate.
#[must_use]
pub fn descend_at_own_rate(common: &Common) -> Kernel {
    kernel(common, None, 0.0)
}

fn kernel(common: &Common, rate: Option<f32>, momentum: f32) -> Kernel {
    common
        .draft("descend", common.parameters.div_ceil(WORKGROUP).into())
        .flag("HAS_MOMENTUM", momentum > 0.0)
        .flag("HAS_OWN_RATE", rate.is_none())
        .float("RATE", rate.unwrap_or(0.0))
        .float("MOMENTUM", momentum)
        .part(wgsl!("descend.wgsl"))
        .finish(4 * u64::from(common.parameters))
}
