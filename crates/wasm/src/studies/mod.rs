//! One training looked at closely: curves, a check of its description, the exact pair, one epoch,
//! scores.

mod check;
mod curves;
mod epoch;
mod pair;
mod scores;

pub use check::check;
pub use curves::curve;
pub use epoch::epoch;
pub use pair::pair;
pub use scores::scores;

#[cfg(test)]
pub(crate) use {check::FIELDS as TRAINING, check::tests::example, pair::drawn as drawn_pair};

use wasm_bindgen::prelude::*;

use crate::js::{self, Object};

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");

/// A record of columns and numbers.
fn object<const FIELDS: usize>(fields: [(&str, JsValue); FIELDS]) -> Object {
    let object = Object::new();
    for (name, value) in fields {
        js::set(&object, name, &value);
    }
    object
}
