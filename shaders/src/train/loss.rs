//! The loss: the kernel of `loss.wgsl`.

use super::kernel::{Kernel, WORKGROUP};
use super::memory::{Common, LayerMemory};
use crate::wgsl::wgsl;

/// Softmax cross-entropy of the outputs of the last layer.
///
/// Its gradient may overwrite the logits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// The last layer.
    pub stage: LayerMemory,
    /// Offset of the labels in `data`.
    pub labels: u32,
}

impl Loss {
    /// Gradient with respect to the logits.
    #[must_use]
    pub fn gradient(&self, common: &Common) -> Kernel {
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
