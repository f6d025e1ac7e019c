//! What a wave of models is planned from.

use super::plan::GpuPlan;
use crate::TrainError;
use crate::threads::Threads;

/// What is trained, with the CPU threads beside the device.
pub(super) trait Subject: Sync {
    /// What the CPU alone supports, if the training has it.
    fn unsupported(&self) -> Option<&'static str>;

    /// Largest number of records processed together.
    fn max_rows(&self) -> usize;

    /// Number of vectors of parameters that are read at a time.
    fn read_models(&self) -> u64;

    /// The kernels, with at most `max_rows` rows per pass.
    fn plan(&self, max_rows: usize) -> Result<GpuPlan, TrainError>;

    /// The threads.
    fn threads(&self) -> &Threads;
}
