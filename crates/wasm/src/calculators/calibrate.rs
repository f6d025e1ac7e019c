//! Noise, steps or epochs for a target ε and δ.

use dpscope_core::accounting::{Calibration, CalibrationError};
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::input::read;
use crate::output::{JsResult, to_js};

/// The least noise, or the most steps or epochs, that reach a target. Shuffles are calibrated by the
/// only upper bound that is proven for them, that of deterministic batches.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Calibrated")]
pub fn calibrate(
    #[wasm_bindgen(unchecked_param_type = "Calibration")] calibration: &JsValue,
) -> JsResult {
    let calibration: Calibration = read(calibration, "calibration")?;
    to_js(&calibration.run().map_err(failure_of)?)
}

fn failure_of(error: CalibrationError) -> Failure {
    match error {
        CalibrationError::Accounting(error) => error.into(),
        CalibrationError::Missing { name } => Failure::missing(name),
        CalibrationError::Unused { name } => {
            Failure::input(name, &["has no effect here; leave it out"])
        }
        CalibrationError::StepsOfEpoch => {
            Failure::input("parameter", &["cannot be steps, except for poisson; use epochs"])
        }
        _ => Failure::input("sampler", &["has no proven accountant; use another"]),
    }
}
