//! A complete audit beside a claim.

use dpscope_core::accounting::{Accountant, Given, Poisson, Query};
use dpscope_report::words::{AuditBound, AuditConclusion, Claimant};
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::conclusion::checked;
use crate::input::read;
use crate::output::{JsResult, to_js};

/// The fields of a lower bound that its conclusion rests on.
#[derive(Debug, Deserialize)]
struct LowerBound {
    epsilon: f64,
    delta: f64,
    gain_at_10x: f64,
    ceiling: f64,
}

/// Whether the lower bound of a simulated audit refutes the reader's claim or, without one, that of
/// Poisson accounting.
///
/// # Errors
/// A `Failure` that names the input, or says why Poisson accounting has no value.
#[wasm_bindgen(unchecked_return_type = "AuditConclusion")]
pub fn audit_conclusion(
    #[wasm_bindgen(unchecked_param_type = "Training")] training: &JsValue,
    #[wasm_bindgen(
        unchecked_param_type = "{ epsilon: number; delta: number; gain_at_10x: number; ceiling: number }"
    )]
    bound: &JsValue,
    claim: Option<f64>,
) -> JsResult {
    let LowerBound { epsilon, delta, gain_at_10x, ceiling } = read(bound, "bound")?;
    let (claimant, claimed) = match checked(claim)? {
        Some(claim) => (Claimant::Reader, claim),
        None => {
            let query = Query::upper(read(training, "training")?, Given::Delta(delta));
            (Claimant::PoissonAccounting, Poisson.account(&query)?.epsilon)
        }
    };
    let bound = AuditBound { epsilon, gain_at_10x, ceiling };
    to_js(&AuditConclusion::new(bound, claimant, claimed))
}
