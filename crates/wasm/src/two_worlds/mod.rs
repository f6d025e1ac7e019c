//! Audits whose observations are counted by workers.
//!
//! A page has one coordinator, which owns an [`Audit`], and counters in workers: they get the
//! coordinator's [`Audit::layout`] and a range, and return counts. For any counters and any order, the
//! sum is that of the command line for the same plan and seed. A worker that fails costs only time: its
//! range is released.

mod counted;
pub(crate) mod plan;

use dpscope_simulation::Artefact;
use js_sys::Object;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

pub(crate) use counted::Counted;

use crate::failure::Failure;
use crate::output::{JsResult, columns, to_js};
use crate::ranges::range_of;

/// A running audit, on the coordinator's side.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Audit(pub(crate) Counted);

#[wasm_bindgen]
impl Audit {
    /// Resumes from saved counts, of a page or of the command line.
    ///
    /// # Errors
    /// Bytes that are not an artefact of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Audit, Failure> {
        let state = Artefact::from_bytes(bytes)?;
        Ok(Audit(Counted::of(state)))
    }

    /// All counts, as `dpscope resume` reads them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.scheduler.state().to_bytes()
    }

    /// The plan and its layout, for counters.
    #[must_use]
    pub fn layout(&self) -> Vec<u8> {
        self.0.layout()
    }

    /// Assigns about this many further observations of each world, of simulations a multiple of 64;
    /// `undefined` if all are assigned or counted.
    ///
    /// # Errors
    /// No input from a page causes an error.
    #[wasm_bindgen(unchecked_return_type = "ObservationRange | undefined")]
    pub fn assign(&mut self, observations: f64) -> JsResult {
        let range = self.0.scheduler.assign(observations as u64);
        range.map_or(Ok(JsValue::UNDEFINED), |range| to_js(&range))
    }

    /// Adds the counts of a counter.
    ///
    /// # Errors
    /// Counts of observations that are not assigned, or of another plan; damaged bytes. Nothing is added
    /// then: release the range.
    pub fn add(&mut self, counted: &[u8]) -> Result<(), Failure> {
        self.0.add(counted)
    }

    /// Releases assigned observations whose counter stopped or failed, to be assigned again.
    pub fn release(&mut self, first: f64, end: f64) {
        self.0.scheduler.release(range_of(first, end));
    }

    /// Its progress.
    ///
    /// # Errors
    /// No input from a page causes an error.
    #[wasm_bindgen(unchecked_return_type = "AuditProgress")]
    pub fn progress(&self) -> JsResult {
        to_js(&self.0.progress())
    }

    /// The result of the counts: a bound if exactly the planned observations are counted, else an
    /// estimate.
    ///
    /// # Errors
    /// Nothing is counted yet.
    #[wasm_bindgen(unchecked_return_type = "SimulationResult")]
    pub fn result(&self) -> JsResult {
        to_js(&self.0.result()?)
    }

    /// The curve of the counted observations, with a band if there is a bound.
    ///
    /// # Errors
    /// Nothing is counted yet.
    #[wasm_bindgen(unchecked_return_type = "AuditCurve")]
    pub fn curve(&self) -> Result<Object, Failure> {
        columns(&self.0.curve()?)
    }
}
