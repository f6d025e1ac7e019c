//! What a benchmark measures.

use dpscope_simulation::{Layout, ValidPlan};

/// What is measured.
pub(super) struct BenchPlan {
    pub(super) plan: ValidPlan,
    pub(super) layout: Layout,
    pub(super) seconds: f64,
}
