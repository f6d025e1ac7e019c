//! Simulations.
//!
//! A page that audits has a coordinator, which holds an [`Audit`], and counters in workers of their
//! own, which hold nothing: they are given the coordinator's [`Audit::layout`] and a range, and
//! answer with counts. Whoever counts, in whatever order, the sum is that of the command line for the
//! same plan and seed. A worker that is ended or breaks costs nothing but time: its range is given
//! back.

mod audit;
mod control;
mod count;
mod gpu;
mod plan;

use js_sys::Object;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub use gpu::GpuCounter;

use crate::failure::Failure;
use crate::found::columns;
use crate::plain::{JsResult, to_js};
use crate::record::Record;
use audit::Simulation;

#[cfg(test)]
pub(crate) use {audit::example, plan::FIELDS as PLAN};

/// A simulation under way: the coordinator's side.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Audit(Simulation);

#[wasm_bindgen]
impl Audit {
    /// Draws the pilot of a plan: up to two seconds of work.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn open(
        #[wasm_bindgen(unchecked_param_type = "AuditPlan")] plan: &JsValue,
    ) -> Result<Audit, Failure> {
        Ok(Audit(Simulation::open(&Record::read(plan, "plan", &plan::FIELDS)?)?))
    }

    /// Goes on with what was counted before, here or by the command line.
    ///
    /// # Errors
    /// Bytes that are no artefact of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Audit, Failure> {
        Ok(Audit(Simulation::from_bytes(bytes)?))
    }

    /// All that is counted, as `dpscope resume` reads it.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.scheduler.state().to_bytes()
    }

    /// What counters need to know.
    ///
    /// # Errors
    /// None that a page can cause.
    pub fn layout(&self) -> Result<Vec<u8>, Failure> {
        self.0.layout()
    }

    /// Deals the next observations of each world, about so many, a multiple of 64; nothing where all
    /// are dealt or counted.
    ///
    /// # Errors
    /// None that a page can cause.
    #[wasm_bindgen(unchecked_return_type = "ObservationRange | undefined")]
    pub fn next(&mut self, observations: f64) -> JsResult {
        let range = self.0.scheduler.assign(observations as u64);
        range.map_or(Ok(JsValue::UNDEFINED), |range| to_js(&range))
    }

    /// Adds what a counter answered.
    ///
    /// # Errors
    /// Counts of other observations than were dealt, or of another plan; damaged bytes. Nothing is
    /// added then: give the range back.
    pub fn add(&mut self, counted: &[u8]) -> Result<(), Failure> {
        self.0.add(counted)
    }

    /// Takes dealt observations back, to be dealt again: their counter was ended, or broke.
    pub fn give_back(&mut self, first: f64, end: f64) {
        self.0.scheduler.release(count::range_of(first, end));
    }

    /// How far it is.
    ///
    /// # Errors
    /// None that a page can cause.
    #[wasm_bindgen(unchecked_return_type = "AuditProgress")]
    pub fn progress(&self) -> JsResult {
        to_js(&self.0.progress())
    }

    /// What the counts say: a bound where exactly the planned observations are counted, else an
    /// estimate.
    ///
    /// # Errors
    /// Nothing is counted yet.
    #[wasm_bindgen(unchecked_return_type = "SimulationResult")]
    pub fn result(&self) -> JsResult {
        to_js(&self.0.result()?)
    }

    /// The curve of the counted observations, with a band where there is a bound.
    ///
    /// # Errors
    /// Nothing is counted yet.
    #[wasm_bindgen(unchecked_return_type = "AuditCurve")]
    pub fn curve(&self) -> Result<Object, Failure> {
        columns(&self.0.curve()?)
    }
}

/// Counts observations `first..end` of each world: for a worker, which does nothing else meanwhile.
///
/// # Errors
/// A layout that is none.
#[wasm_bindgen]
pub fn count(layout: &[u8], first: f64, end: f64) -> Result<Vec<u8>, Failure> {
    count::count(layout, first, end)
}
