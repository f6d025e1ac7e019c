//! Accountants, calibration, bounds from counts, sizes of audits: small, since a page needs it at once.

mod bounds;
mod calibrate;
mod counts;

pub use bounds::{bound, bound_columns};
pub use calibrate::calibrate;
pub use counts::{counts, plan};

#[cfg(test)]
pub(crate) use counts::{from_counts, planned};

use wasm_bindgen::prelude::*;

/// Version of the program that computes these numbers.
#[wasm_bindgen]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
