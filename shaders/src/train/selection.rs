//! Selection of the records of a pass on the device: the kernel of `batches.wgsl` and `order.wgsl`.

use super::kernel::{Kernel, WORKGROUP};
use super::memory::Common;
use super::streams::Streams;
use crate::wgsl::wgsl;
use dpscope_core::random::Purpose;

/// A sampler whose batches a device can draw record by record, like [`Batches`](super::Batches).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSelection {
    /// Batch size, B.
    pub batch_size: u32,
    /// Records per epoch, T·B.
    pub records: u32,
    /// Records per block that is shuffled separately: all of them, or those of a buffer; `None` if
    /// records are not shuffled.
    pub block: Option<u32>,
    /// Whether the last record of a batch without the target is replaced by −ĝ.
    pub is_informed: bool,
}

impl RowSelection {
    /// The kernel that selects the records of a pass and the coefficient of the canary.
    #[must_use]
    pub fn kernel(&self, common: &Common, clip_norm: f32) -> Kernel {
        let groups = common.rows.div_ceil(WORKGROUP);
        common
            .draft("select_rows", groups.into())
            .random(Purpose::TrainOrder as u32, Streams::Worlds)
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
