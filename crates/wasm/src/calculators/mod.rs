//! Accountants, calibration, bounds from counts, the exact pair.

mod counts;
mod curves;
mod theory;

pub use counts::{counts, plan};
pub use curves::curve;
pub use theory::{bound, bound_columns};

use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;

use crate::failure::{Failure, FailureKind};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");

/// A record for the page.
pub(crate) type Made = Result<JsValue, Failure>;

/// The version of the program that these numbers are from.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

fn to_js(record: &impl Serialize) -> Made {
    let plain = Serializer::json_compatible();
    record.serialize(&plain).map_err(|error| Failure::of(FailureKind::Internal, error.to_string()))
}

/// What has this name.
fn named<T: Copy>(field: &str, names: &[(&str, T)], name: &str) -> Result<T, Failure> {
    let found = names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let known: Vec<&str> = names.iter().map(|(known, _)| *known).collect();
        Failure::input(field, format!("{field} must be one of {}", known.join(", ")))
    })
}
