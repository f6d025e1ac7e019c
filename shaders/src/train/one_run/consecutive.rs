//! Records that are evaluated one after the other: the kernel of `consecutive.wgsl`.

use super::super::kernel::{Kernel, WORKGROUP};
use super::super::memory::Common;
use crate::wgsl::wgsl;

/// Records that are evaluated one after the other, without a sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvaluatedRecords {
    /// The first record: the first canary.
    pub first: u32,
    /// Their number.
    pub count: u32,
    /// Offset of the labels in `data`.
    pub labels: u32,
    /// Words of `outputs` per model.
    pub outputs: u32,
}

impl EvaluatedRecords {
    pub(super) fn constants(&self) -> [(&'static str, u32); 4] {
        [
            ("FIRST_RECORD", self.first),
            ("COUNT", self.count),
            ("LABELS", self.labels),
            ("OUTPUTS_PER_MODEL", self.outputs),
        ]
    }

    /// The kernel that selects the records of a pass.
    #[must_use]
    pub fn rows(&self, common: &Common) -> Kernel {
        common
            .draft("consecutive", common.rows.div_ceil(WORKGROUP).into())
            .constants(&self.constants())
            .part(wgsl!("consecutive.wgsl"))
            .finish(common.rows.into())
    }
}
