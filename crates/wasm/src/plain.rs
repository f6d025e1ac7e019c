//! What a page is given: plain objects with the names of the command line's JSON, and columns.

#[cfg(any(feature = "studies", feature = "audits"))]
use js_sys::{Object, Reflect};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::JsValue;

use crate::failure::{Failure, FailureKind};

/// A record for the page.
pub type JsResult = Result<JsValue, Failure>;

/// Turns a record into a plain object; what is missing is null.
///
/// # Errors
/// A whole number from 2⁵³ on, which no record has.
pub fn to_js(record: &impl Serialize) -> JsResult {
    record.serialize(&Serializer::json_compatible()).map_err(|_| unshown())
}

fn unshown() -> Failure {
    Failure::of(FailureKind::Internal, "a record cannot be shown")
}

/// An object with these fields.
///
/// # Errors
/// None that a page can cause.
#[cfg(any(feature = "studies", feature = "audits"))]
pub(crate) fn object<const FIELDS: usize>(
    fields: [(&str, JsValue); FIELDS],
) -> Result<Object, Failure> {
    with(Object::new(), fields)
}

/// An object with these fields beside its own.
///
/// # Errors
/// None that a page can cause.
#[cfg(any(feature = "studies", feature = "audits"))]
pub(crate) fn with<const FIELDS: usize>(
    object: Object,
    fields: [(&str, JsValue); FIELDS],
) -> Result<Object, Failure> {
    for (name, value) in fields {
        Reflect::set(&object, &name.into(), &value).map_err(|_| unshown())?;
    }
    Ok(object)
}
