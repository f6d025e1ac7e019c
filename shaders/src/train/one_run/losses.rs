//! Losses of records: the kernel of `losses.wgsl`.

use super::super::kernel::Kernel;
use super::super::logits::{of_logits, operations};
use super::super::memory::{Common, LayerMemory};
use super::consecutive::EvaluatedRecords;
use crate::wgsl::wgsl;

impl EvaluatedRecords {
    /// The kernel of the losses of a pass, from the logits of the last layer: two words per record.
    #[must_use]
    pub fn losses(&self, common: &Common, last: &LayerMemory) -> Kernel {
        of_logits(common, "losses", last)
            .constants(&self.constants())
            .part(wgsl!("losses.wgsl"))
            .finish(operations(common, last))
    }
}
