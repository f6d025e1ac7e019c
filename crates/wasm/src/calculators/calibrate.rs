//! Noise, steps or epochs for a target ε and δ.

use dpscope_core::accounting::{Accountant, BallsInBins, Calibration, Deterministic, Poisson};
use dpscope_core::mechanism::SamplerKind;
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
    let accountant: &dyn Accountant = match calibration.sampler {
        SamplerKind::Poisson => &Poisson,
        SamplerKind::BallsInBins => &BallsInBins,
        sampler if sampler.limits_batch_size() || sampler.has_uses() => {
            let advice = "draws uniform subsets; call calibrate_subsets";
            return Err(Failure::input("sampler", &[advice]));
        }
        _ => &Deterministic,
    };
    to_js(&calibration.run_with(accountant)?)
}
