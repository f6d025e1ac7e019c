//! Known bounds whose accountants are small: one value, or a curve.

use dpscope_core::accounting::{Accounted, Cost, Given, KnownBound, Setting, Training};
use wasm_bindgen::prelude::*;

use crate::columns::along;
use crate::failure::Failure;
use crate::input::{given, named, read};
use crate::output::{JsResult, to_js};

/// Most values of a curve.
const MAX_ROWS: usize = 100_000;

fn proven(bound: KnownBound, training: Training, given: Given) -> Result<Accounted, Failure> {
    let elsewhere = match bound.row().cost {
        Cost::Draws => "is drawn; call pair",
        _ => "is of uniform subsets; call subset_bound",
    };
    let found = bound.account_first(training, given);
    Ok(found.ok_or_else(|| Failure::input("row", &[elsewhere]))??)
}

/// A known bound: every row but those that are drawn and those of uniform subsets.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Accounted")]
pub fn bound(
    #[wasm_bindgen(unchecked_param_type = "KnownBound")] row: &str,
    #[wasm_bindgen(unchecked_param_type = "Training")] training: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "Given")] at: &JsValue,
) -> JsResult {
    to_js(&proven(named("row", row)?, read(training, "training")?, given(at)?)?)
}

/// ε at each place along a parameter, as [`bound`]; NaN where there is none.
///
/// # Errors
/// An unknown row or parameter; more than 100,000 places.
#[wasm_bindgen]
pub fn bound_columns(
    #[wasm_bindgen(unchecked_param_type = "KnownBound")] row: &str,
    #[wasm_bindgen(unchecked_param_type = "Training")] training: &JsValue,
    delta: f64,
    #[wasm_bindgen(unchecked_param_type = "Axis")] axis: &str,
    places: &[f64],
) -> Result<Vec<f64>, Failure> {
    let (row, setting) = (named("row", row)?, Setting::zero_out(read(training, "training")?));
    along((setting, delta), axis, (places, MAX_ROWS), |setting, given| {
        proven(row, setting.training, given)
    })
}
