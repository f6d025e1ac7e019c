//! Batches without the canaries that are not included: the kernel of `select_included.wgsl`.

use super::super::kernel::{Kernel, WORKGROUP};
use super::super::memory::Common;
use super::super::streams::Streams;
use crate::wgsl::wgsl;
use dpscope_core::random::Purpose;

/// Selection of the batches of a sampler that a device can draw record by record, without the
/// canaries whose coin is OUT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncludedSelection {
    /// Batch size, B.
    pub batch_size: u32,
    /// Records per epoch, T·B: base records, then canaries.
    pub records: u32,
    /// Records per block that is shuffled separately; `None` if records are not shuffled.
    pub block: Option<u32>,
    /// Number of base records.
    pub base: u32,
}

impl IncludedSelection {
    /// The kernel that selects the records of a pass.
    #[must_use]
    pub fn kernel(&self, common: &Common) -> Kernel {
        let groups = common.rows.div_ceil(WORKGROUP);
        common
            .draft("select_included", groups.into())
            .random(Purpose::TrainOrder as u32, Streams::Units)
            .flag("SHUFFLES", self.block.is_some())
            .constants(&[
                ("COINS", Purpose::OneRunCoins as u32),
                ("BATCH_SIZE", self.batch_size),
                ("RECORDS", self.records),
                ("BLOCK", self.block.unwrap_or(self.records)),
                ("BASE", self.base),
            ])
            .part(wgsl!("../order.wgsl"))
            .part(wgsl!("select_included.wgsl"))
            .finish(1_000 * u64::from(common.rows))
    }
}
