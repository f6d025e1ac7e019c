//! What pages ask about: a training, at a δ or an ε.

use dpscope_core::accounting::{Given, Training};
use dpscope_core::audit::bound::ThresholdRule;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::failure::Failure;
use crate::record::Record;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = dpscope_report::TYPES;

/// Rules of audits.
#[cfg(any(feature = "audits", feature = "calculators", feature = "studies"))]
pub(crate) const RULES: [(&str, ThresholdRule); 3] = [
    ("max-uncorrected", ThresholdRule::MaxUncorrected),
    ("split", ThresholdRule::Split),
    ("simultaneous", ThresholdRule::Simultaneous),
];

/// Reads a training.
///
/// # Errors
/// A field that is missing, or no number.
pub fn setting(value: &JsValue) -> Result<Training, Failure> {
    let record = Record::read(value, "setting", &["noise_multiplier", "steps", "epochs"])?;
    Ok(Training {
        noise_multiplier: record.needed_number("noise_multiplier")?,
        steps_per_epoch: record.needed_whole("steps", 1)?,
        epochs: record.needed_whole("epochs", 1)?,
        sampling_rate: None,
    })
}

/// Reads which of ε and δ is given.
///
/// # Errors
/// Both or neither.
pub fn at(value: &JsValue) -> Result<Given, Failure> {
    let record = Record::read(value, "at", &["delta", "epsilon"])?;
    match (record.number("delta")?, record.number("epsilon")?) {
        (Some(delta), None) => Ok(Given::Delta(delta)),
        (None, Some(epsilon)) => Ok(Given::Epsilon(epsilon)),
        _ => Err(Failure::input("at", &["needs delta or epsilon, one of them"])),
    }
}

/// What has this name.
///
/// # Errors
/// Nothing has.
pub fn named<T: Copy>(field: &'static str, names: &[(&str, T)], name: &str) -> Result<T, Failure> {
    let found = names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let mut failure = Failure::input(field, &["must be one of"]);
        for (known, _) in names {
            failure.message.push(' ');
            failure.message.push_str(known);
        }
        failure
    })
}
