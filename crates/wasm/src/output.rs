//! What pages get: plain objects with the names of the command line's JSON, and columns.

#[cfg(any(
    feature = "audits",
    feature = "files",
    feature = "studies",
    feature = "synth",
    feature = "training",
    feature = "training_canaries",
))]
use js_sys::{Object, Reflect};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::JsValue;
#[cfg(any(feature = "audits", feature = "training"))]
use {dpscope_core::audit::curve::AuditCurve, dpscope_core::curve::TradeOffPoint};

use crate::failure::{Failure, FailureKind};

/// An object, or why there is none.
pub type JsResult = Result<JsValue, Failure>;

/// A record as a plain object; what is missing is null.
///
/// # Errors
/// An integer from 2⁵³ on, which no record has.
pub fn to_js(record: &impl Serialize) -> JsResult {
    record.serialize(&Serializer::json_compatible()).map_err(|_| unserializable())
}

fn unserializable() -> Failure {
    Failure::of(FailureKind::Internal, "a record is not an object")
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> Self {
        to_js(&failure).unwrap_or(JsValue::NULL)
    }
}

/// An object with these fields: typed arrays, which serde does not know.
///
/// # Errors
/// No input from a page causes an error.
#[cfg(any(
    feature = "audits",
    feature = "files",
    feature = "studies",
    feature = "synth",
    feature = "training",
    feature = "training_canaries",
))]
pub(crate) fn object<const FIELDS: usize>(
    fields: [(&str, JsValue); FIELDS],
) -> Result<Object, Failure> {
    with(Object::new(), fields)
}

/// An object with these fields beside its own.
///
/// # Errors
/// No input from a page causes an error.
#[cfg(any(
    feature = "audits",
    feature = "files",
    feature = "studies",
    feature = "synth",
    feature = "training",
    feature = "training_canaries",
))]
pub(crate) fn with<const FIELDS: usize>(
    object: Object,
    fields: [(&str, JsValue); FIELDS],
) -> Result<Object, Failure> {
    for (name, value) in fields {
        Reflect::set(&object, &name.into(), &value).map_err(|_| unserializable())?;
    }
    Ok(object)
}

/// The columns of a curve.
#[cfg(any(feature = "audits", feature = "training"))]
pub(crate) fn columns(curve: &AuditCurve) -> Result<Object, Failure> {
    let whole = points(&curve.points())?;
    let Some(band) = curve.band() else { return Ok(whole) };
    let (most, least) = (points(&band.most)?, points(&band.least)?);
    let band = object([("most", most.into()), ("least", least.into())])?;
    with(whole, [("band", band.into())])
}

#[cfg(any(feature = "audits", feature = "training"))]
fn points(points: &[TradeOffPoint]) -> Result<Object, Failure> {
    let column = |value: fn(&TradeOffPoint) -> f64| -> JsValue {
        points.iter().map(value).collect::<Vec<f64>>().into()
    };
    object([("fpr", column(|point| point.fpr)), ("fnr", column(|point| point.fnr))])
}
