//! Logits of the rows of a pass: the functions of `logits.wgsl`.

use super::kernel::{KernelBuilder, WORKGROUP};
use super::memory::{Common, LayerMemory};
use crate::wgsl::wgsl;

/// A kernel with several threads per row that read the logits of the last layer.
pub(super) fn of_logits(common: &Common, name: &str, last: &LayerMemory) -> KernelBuilder {
    let lanes = last.outputs.min(WORKGROUP).next_power_of_two();
    let groups = common.rows.div_ceil(WORKGROUP / lanes);
    last.draft(common, name, groups.into()).constant("LANES", lanes).part(wgsl!("logits.wgsl"))
}

/// Approximate operations of such a kernel.
pub(super) fn operations(common: &Common, last: &LayerMemory) -> u64 {
    40 * u64::from(common.rows) * u64::from(last.outputs)
}
