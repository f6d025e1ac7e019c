//! What a wave of models is planned from.

use std::fmt;

use super::plan::GpuPlan;
use crate::TrainError;

/// What is trained.
pub struct Subject<'a> {
    /// What the CPU alone supports, if the training has it.
    pub(super) unsupported: Option<&'static str>,
    /// Largest number of records processed together.
    pub(super) max_rows: usize,
    /// Number of vectors of parameters that are read at a time.
    pub(super) read_models: u64,
    /// The kernels, with at most so many rows per pass.
    pub(super) plan: PlanOfRows<'a>,
}

impl fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("max_rows", &self.max_rows).finish_non_exhaustive()
    }
}

/// The kernels of a training, with at most so many rows per pass.
pub(super) type PlanOfRows<'a> = Box<dyn Fn(usize) -> Result<GpuPlan, TrainError> + 'a>;
