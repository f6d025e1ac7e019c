//! What pages ask about: a training, at a δ or an ε.

use dpscope_core::theory::{At, Setting};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::failure::Failure;
use crate::record::{Record, needed};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("question.d.ts");

/// Reads a training.
///
/// # Errors
/// A field that is missing, or no number.
pub fn setting(value: &JsValue) -> Result<Setting, Failure> {
    let record = Record::read(value, "setting", &["noise_multiplier", "steps", "epochs"])?;
    Ok(Setting {
        noise_multiplier: needed(record.number("noise_multiplier")?, "noise_multiplier")?,
        steps: needed(record.whole("steps", 1)?, "steps")?,
        epochs: needed(record.whole("epochs", 1)?, "epochs")?,
    })
}

/// Reads which of ε and δ is given.
///
/// # Errors
/// Both or neither.
pub fn at(value: &JsValue) -> Result<At, Failure> {
    let record = Record::read(value, "at", &["delta", "epsilon"])?;
    match (record.number("delta")?, record.number("epsilon")?) {
        (Some(delta), None) => Ok(At::Delta(delta)),
        (None, Some(epsilon)) => Ok(At::Epsilon(epsilon)),
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
