//! Simulations of the mechanism.

mod count;
mod gpu;
#[cfg(test)]
pub(crate) mod tests;

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_report::record::input::AuditPlan;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Backend, Plan, Simulation, ValidPlan};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub use gpu::GpuCounter;

use crate::failure::Failure;
use crate::input::read;
use crate::seed::seed_or_fresh;
use crate::two_worlds::plan::checked;
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
    let backend = Backend::Cpu(CpuBackend::new(1)?);
    Counted::begin(&Simulation::new(&plan_of(plan)?, &backend)?)
}

/// The plan of a page; defaults are those of the command line.
///
/// # Errors
/// The first field outside its domain; more normals per observation than a page can wait for.
pub(crate) fn plan_of(plan: AuditPlan) -> Result<ValidPlan, Failure> {
    let AuditPlan { mechanism, observations, delta, significance, threshold_rule, cuts, seed } =
        plan;
    checked(Plan {
        mechanism: mechanism.try_into()?,
        observations,
        delta,
        significance,
        threshold_rule: threshold_rule.unwrap_or(ThresholdRule::Simultaneous),
        cuts: cuts.unwrap_or(Plan::DEFAULT_CUTS),
        seed: seed_or_fresh(seed.as_deref().unwrap_or_default())?,
        training: None,
    })
}

/// Counts observations `first..end` of each world; blocks its worker.
///
/// # Errors
/// Bytes that are not a layout.
#[wasm_bindgen]
pub fn count(layout: &[u8], first: f64, end: f64) -> Result<Vec<u8>, Failure> {
    count::count(layout, first, end)
}
