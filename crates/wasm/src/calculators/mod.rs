//! Accountants, calibration, bounds from counts, the exact pair.

mod counts;
mod curves;
#[cfg(feature = "draws")]
mod pair;
mod theory;

pub use counts::{counts, plan};
pub use curves::curve;
#[cfg(feature = "draws")]
pub use pair::pair;
pub use theory::{bound, bound_columns};

use wasm_bindgen::prelude::*;

use crate::record::{Made, named, to_js};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");

/// The version of the program that these numbers are from.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
