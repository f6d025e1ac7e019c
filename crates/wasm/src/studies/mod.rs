//! One training looked at closely: curves, a check of its description, the exact pair, one epoch,
//! scores.

mod curves;
mod pair;

pub use curves::curve;
pub use pair::pair;

use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");
