//! The loss: the kernel of `loss.wgsl`.

use super::kernel::Kernel;
use super::logits::{of_logits, operations};
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
        of_logits(common, "loss", &self.stage)
            .constant("LABELS", self.labels)
            .part(wgsl!("loss.wgsl"))
            .finish(operations(common, &self.stage))
    }
}
