//! Sums of saved per-example gradients: the kernel of `saved.wgsl`.

use super::kernel::{Kernel, WORKGROUP};
use super::memory::{Common, LayerMemory};
use crate::wgsl::wgsl;

/// Σ factor·gradient for a layer with `own` parameters.
pub(super) fn sums(stage: &LayerMemory, common: &Common, own: u64) -> Kernel {
    stage
        .draft(common, "saved sums", own.div_ceil(WORKGROUP.into()))
        .constant("OWN", own as u32)
        .part(wgsl!("saved.wgsl"))
        .finish(2 * own * u64::from(common.rows))
}
