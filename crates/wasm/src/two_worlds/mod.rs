//! Audits whose observations are counted by workers.
//!
//! A page has one coordinator, which owns an [`Audit`], and counters in workers: they get the
//! coordinator's [`Audit::layout`] and a range, and return counts. For any counters and any order, the
//! sum is that of the command line for the same plan and seed. A worker that fails costs only time: its
//! range is released.

mod counted;
pub(crate) mod plan;

use js_sys::Object;
use wasm_bindgen::prelude::wasm_bindgen;

pub(crate) use counted::Counted;

use crate::coordinator::{Coordinator, coordinates};
use crate::failure::Failure;
use crate::output::{JsResult, columns, to_js};

/// A running audit, on the coordinator's side.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Audit(pub(crate) Counted);

coordinates!(Audit.0.coordinator);

#[wasm_bindgen]
impl Audit {
    /// Resumes from saved counts, of a page or of the command line.
    ///
    /// # Errors
    /// Bytes that are not an artefact of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Audit, Failure> {
        Ok(Audit(Counted::of(Coordinator::from_bytes(bytes)?)))
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
