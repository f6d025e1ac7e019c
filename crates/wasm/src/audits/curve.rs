//! Curves as columns.

use dpscope_core::curve::{AuditCurve, TradeOffPoint};
use js_sys::{Float64Array, Object, Reflect};
use wasm_bindgen::JsValue;

/// The columns of a curve.
pub(super) fn columns(curve: &AuditCurve) -> Result<Object, JsValue> {
    let whole = points(&curve.points())?;
    if let Some(band) = curve.band() {
        let staircases = Object::new();
        set(&staircases, "most", &points(&band.most)?)?;
        set(&staircases, "least", &points(&band.least)?)?;
        set(&whole, "band", &staircases)?;
    }
    Ok(whole)
}

fn points(points: &[TradeOffPoint]) -> Result<Object, JsValue> {
    let column = |value: fn(&TradeOffPoint) -> f64| -> Float64Array {
        points.iter().map(value).collect::<Vec<f64>>().as_slice().into()
    };
    let record = Object::new();
    set(&record, "fpr", &column(|point| point.fpr))?;
    set(&record, "fnr", &column(|point| point.fnr))?;
    Ok(record)
}

/// Sets a field.
pub(super) fn set(record: &Object, name: &str, value: impl AsRef<JsValue>) -> Result<(), JsValue> {
    Reflect::set(record, &name.into(), value.as_ref()).map(drop)
}
