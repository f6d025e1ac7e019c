//! Noise, steps or epochs for a wanted ε and δ.

use dpscope_core::accounting::{Calibration, CalibrationError, Parameter};
use dpscope_core::mechanism::SamplerKind;
use dpscope_report::record::page::Calibrated;
use wasm_bindgen::prelude::*;

use crate::failure::Failure;
use crate::plain::{JsResult, to_js};
use crate::question::named;
use crate::record::Record;

const PARAMETERS: [(&str, Parameter); 3] =
    [("noise", Parameter::Noise), ("steps", Parameter::Steps), ("epochs", Parameter::Epochs)];

/// The least noise, or the most steps or epochs, that keep a target. Shuffles are calibrated by the
/// only upper bound that is proven of them, that of deterministic batches.
///
/// # Errors
/// A `Failure` that names the input.
#[wasm_bindgen(unchecked_return_type = "Calibrated")]
pub fn calibrate(
    #[wasm_bindgen(unchecked_param_type = "Wanted")] wanted: &str,
    #[wasm_bindgen(unchecked_param_type = "SamplerKind")] sampler: &str,
    #[wasm_bindgen(unchecked_param_type = "{ epsilon: number; delta: number }")] target: &JsValue,
    #[wasm_bindgen(unchecked_param_type = "Given")] given: &JsValue,
) -> JsResult {
    let target = Record::read(target, "target", &["epsilon", "delta"])?;
    let known = ["noise_multiplier", "steps", "epochs", "sampling_rate"];
    let given = Record::read(given, "given", &known)?;
    let asked = Calibration {
        parameter: named("wanted", &PARAMETERS, wanted)?,
        sampler: named("sampler", &SamplerKind::ALL.map(|kind| (kind.name(), kind)), sampler)?,
        epsilon: target.needed_number("epsilon")?,
        delta: target.needed_number("delta")?,
        noise_multiplier: given.number("noise_multiplier")?,
        steps: given.whole("steps", 1)?,
        epochs: given.whole("epochs", 1)?,
        sampling_rate: given.number("sampling_rate")?,
    };
    let found = asked.run().map_err(refused)?;
    to_js(&Calibrated { value: found.value, epsilon: found.epsilon })
}

fn refused(error: CalibrationError) -> Failure {
    match error {
        CalibrationError::Accounting(error) => error.into(),
        CalibrationError::Missing { name } => Failure::missing(name),
        CalibrationError::Unused { name } => {
            Failure::input(name, &["has no effect here; leave it out"])
        }
        CalibrationError::StepsOfEpoch => Failure::input(
            "wanted",
            &[
                "cannot be steps but for poisson: elsewhere an epoch costs the same however many steps \
               it has; ask for epochs",
            ],
        ),
        _ => Failure::input("sampler", &["has no proven accountant; use one that has"]),
    }
}
