//! Simulations of the mechanism.

mod count;
mod gpu;
#[cfg(test)]
pub(crate) mod tests;

use dpscope_report::record::input::AuditPlan;
use dpscope_simulation::Layout;
use dpscope_simulation::backend::CpuBackend;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub use gpu::GpuCounter;

use crate::failure::Failure;
use crate::input::read;
use crate::two_worlds::plan::plan_of;
use crate::two_worlds::{Audit, Counted};

#[cfg(test)]
pub(crate) use tests::example;

#[wasm_bindgen]
impl Audit {
    /// Draws the pilot of a simulation: up to two seconds of work.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn open(
        #[wasm_bindgen(unchecked_param_type = "AuditPlan")] plan: &JsValue,
    ) -> Result<Audit, Failure> {
        Ok(Audit(opened(read(plan, "plan")?)?))
    }
}

fn opened(plan: AuditPlan) -> Result<Counted, Failure> {
    let plan = plan_of(plan)?;
    let layout = Layout::of(&plan, &CpuBackend::new(1)?, &|| true)?;
    Counted::new(&plan, layout, None)
}

/// Counts observations `first..end` of each world; blocks its worker.
///
/// # Errors
/// Bytes that are not a layout.
#[wasm_bindgen]
pub fn count(layout: &[u8], first: f64, end: f64) -> Result<Vec<u8>, Failure> {
    count::count(layout, first, end)
}
