//! The loss: the kernel of `loss.wgsl`.

use super::kernel::{Kernel, WORKGROUP};
use super::memory::{Common, Stage};
use crate::wgsl::wgsl;

/// Softmax cross-entropy of the outputs of the last layer.
///
/// Its slopes may lie where the logits do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// The last layer.
    pub stage: Stage,
    /// The first label in `data`.
    pub labels: u32,
}

impl Loss {
    /// Slopes by the logits.
    #[must_use]
    pub fn slopes(&self, common: &Common) -> Kernel {
        let lanes = self.stage.outputs.min(WORKGROUP).next_power_of_two();
        let groups = common.rows.div_ceil(WORKGROUP / lanes);
        let operations = 40 * u64::from(common.rows) * u64::from(self.stage.outputs);
        self.stage
            .draft(common, "loss", groups.into())
            .constants(&[("LANES", lanes), ("LABELS", self.labels)])
            .part(wgsl!("loss.wgsl"))
            .finish(operations)
    }
}
