//! The records of a pass, drawn on the device: the kernel of `batches.wgsl` and `order.wgsl`.

use super::kernel::{Kernel, WORKGROUP};
use super::memory::Common;
use crate::wgsl::wgsl;
use dpscope_core::random::Purpose;

/// A sampler whose batches a device draws record by record, as [`Batches`](super::Batches) does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// B.
    pub batch_size: u32,
    /// T·B.
    pub records: u32,
    /// Records of a block that is shuffled by itself: all of them, or those of a buffer; none where
    /// the records stay in order.
    pub block: Option<u32>,
    /// Whether the last record of a batch without the target is replaced by −ĝ.
    pub is_informed: bool,
}

impl Choice {
    /// The records of a pass, and the multiple of the canary in the step's sum.
    #[must_use]
    pub fn kernel(&self, common: &Common, clip_norm: f32) -> Kernel {
        let groups = common.rows.div_ceil(WORKGROUP);
        common
            .draft("choose", groups.into())
            .random(Purpose::TrainOrder as u32)
            .flag("SHUFFLES", self.block.is_some())
            .float("CLIP_NORM", clip_norm)
            .constants(&[
                ("BATCH_SIZE", self.batch_size),
                ("RECORDS", self.records),
                ("BLOCK", self.block.unwrap_or(self.records)),
                ("LEFT_OUT", u32::from(self.is_informed)),
            ])
            .part(wgsl!("order.wgsl"))
            .part(wgsl!("batches.wgsl"))
            .finish(1_000 * u64::from(common.rows))
    }
}
