//! Trade-off curves of what is claimed or proven.

use dpscope_core::accounting::{AccountingError, Training};
use dpscope_core::curve::{
    TradeOffCurve, claim_curve, deterministic_curve, max_slice_curve, poisson_curve,
};
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::question::{self, named};
use crate::record::Record;

/// Whose curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CurveKind {
    Claim,
    Poisson,
    Deterministic,
    MaxSlice,
}

pub(crate) const KINDS: [(&str, CurveKind); 4] = [
    ("claim", CurveKind::Claim),
    ("poisson", CurveKind::Poisson),
    ("deterministic", CurveKind::Deterministic),
    ("max-slice", CurveKind::MaxSlice),
];

/// fpr, fnr, fpr, fnr, … by rising fpr.
pub(crate) fn flat(curve: &TradeOffCurve) -> Vec<f64> {
    curve.points().iter().flat_map(|point| [point.fpr, point.fnr]).collect()
}

pub(crate) fn of_setting(kind: CurveKind, setting: Training) -> Result<Vec<f64>, AccountingError> {
    let curve = match kind {
        CurveKind::Poisson => poisson_curve(&setting),
        CurveKind::MaxSlice => max_slice_curve(&setting),
        _ => deterministic_curve(&setting),
    };
    Ok(flat(&curve?))
}

/// The least rate of false negatives at each rate of false positives: fpr and fnr in turn, by rising
/// fpr.
///
/// A claim has its curve without a setting, the rest have theirs without a claim.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen]
pub fn curve(
    #[wasm_bindgen(unchecked_param_type = "CurveKind")] kind: &str,
    #[wasm_bindgen(unchecked_param_type = "Setting | undefined")] setting: &JsValue,
    #[wasm_bindgen(unchecked_optional_param_type = "{ epsilon: number; delta: number }")]
    claim: &JsValue,
) -> Result<Vec<f64>, Failure> {
    let kind = named("kind", &KINDS, kind)?;
    if kind != CurveKind::Claim {
        return Ok(of_setting(kind, question::setting(setting)?)?);
    }
    let claim = Record::read(claim, "claim", &["epsilon", "delta"])?;
    Ok(flat(&claim_curve(claim.needed_number("epsilon")?, claim.needed_number("delta")?)?))
}
