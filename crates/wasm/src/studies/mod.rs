//! One training looked at closely: curves, a check of its description, the exact pair, one epoch,
//! scores; and scores that the reader recorded.

mod curves;
mod pair;
mod recorded;

pub use curves::curve;
pub use pair::pair;
pub use recorded::{audit_scores, describe_file};

use wasm_bindgen::prelude::*;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");
