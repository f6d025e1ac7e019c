//! Sums of gradients that were kept: the kernel of `kept.wgsl`.

use super::kernel::{Kernel, WORKGROUP};
use super::memory::{Common, Stage};
use crate::wgsl::wgsl;

/// Σ factor·gradient of a layer with `own` parameters.
pub(super) fn sums(stage: &Stage, common: &Common, own: u64) -> Kernel {
    stage
        .draft(common, "kept sums", own.div_ceil(WORKGROUP.into()))
        .constant("OWN", own as u32)
        .part(wgsl!("kept.wgsl"))
        .finish(2 * own * u64::from(common.rows))
}
