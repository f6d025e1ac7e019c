//! A complete audit beside the claim of Poisson accounting.

use dpscope_core::accounting::{Accountant, Given, Poisson, Query};
use dpscope_report::words::AuditConclusion;
use wasm_bindgen::prelude::*;

use crate::plain::{JsResult, to_js};
use crate::question;
use crate::record::Record;

/// Whether the lower bound of a simulated audit refutes the claim of Poisson accounting.
///
/// # Errors
/// A `Failure` that names the input, or says why Poisson accounting has no value.
#[wasm_bindgen(unchecked_return_type = "AuditConclusion")]
pub fn audit_conclusion(
    #[wasm_bindgen(unchecked_param_type = "Setting")] setting: &JsValue,
    #[wasm_bindgen(
        unchecked_param_type = "{ epsilon: number; delta: number; gain_at_10x: number }"
    )]
    bound: &JsValue,
) -> JsResult {
    let setting = question::setting(setting)?;
    let bound = Record::read(bound, "bound", &["epsilon", "delta", "gain_at_10x"])?;
    let given = Given::Delta(bound.needed_number("delta")?);
    let claimed = Poisson.account(&Query::upper(setting, given))?.epsilon;
    let (epsilon, gain) = (bound.needed_number("epsilon")?, bound.needed_number("gain_at_10x")?);
    to_js(&AuditConclusion::new(epsilon, gain, claimed))
}
