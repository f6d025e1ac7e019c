//! Trade-off curves of what is claimed or proven.

use dpscope_core::accounting::{AccountingError, Training};
use dpscope_core::curve::{
    TradeOffCurve, claim_curve, deterministic_curve, max_slice_curve, poisson_curve,
};
use dpscope_report::record::input::CurveKind;
use serde::Deserialize;
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::input::{named, read};

/// ε and δ of a claim.
#[derive(Debug, Deserialize)]
struct Claim {
    epsilon: f64,
    delta: f64,
}

/// fpr, fnr, fpr, fnr, … by rising fpr.
fn flat(curve: &TradeOffCurve) -> Vec<f64> {
    curve.points().iter().flat_map(|point| [point.fpr, point.fnr]).collect()
}

fn proven(kind: CurveKind, training: Training) -> Result<Vec<f64>, AccountingError> {
    let curve = match kind {
        CurveKind::Poisson => poisson_curve(&training),
        CurveKind::MaxSlice => max_slice_curve(&training),
        _ => deterministic_curve(&training),
    };
    Ok(flat(&curve?))
}

/// The least false negative rate at each false positive rate: fpr and fnr in turn, by rising fpr.
///
/// The kind `claim` needs a claim, the other kinds a training.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen]
pub fn curve(
    #[wasm_bindgen(unchecked_param_type = "CurveKind")] kind: &str,
    #[wasm_bindgen(unchecked_param_type = "Training | undefined")] training: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "{ epsilon: number; delta: number }")]
    claim: &JsValue,
) -> Result<Vec<f64>, Failure> {
    let kind = named("kind", kind)?;
    if kind != CurveKind::Claim {
        return Ok(proven(kind, read(training, "training")?)?);
    }
    let Claim { epsilon, delta } = read(claim, "claim")?;
    Ok(flat(&claim_curve(epsilon, delta)?))
}
