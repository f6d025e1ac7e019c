//! What audits found, as pages get it: the curve as columns; and the rules that they share.

use dpscope_core::bound::ThresholdRule;
use dpscope_core::curve::{AuditCurve, TradeOffPoint};
use js_sys::{Float64Array, Object, Reflect};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::failure::Failure;
use crate::question::named;
use crate::record::Record;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("found.d.ts");

/// Rules of audits.
const RULES: [(&str, ThresholdRule); 3] = [
    ("max-uncorrected", ThresholdRule::MaxUncorrected),
    ("split", ThresholdRule::Split),
    ("simultaneous", ThresholdRule::Simultaneous),
];

/// The rule that is asked for, else the simultaneous one.
pub(crate) fn rule_of(given: &Record) -> Result<ThresholdRule, Failure> {
    let rule = given.text("threshold_rule")?;
    rule.map_or(Ok(ThresholdRule::Simultaneous), |name| named("threshold_rule", &RULES, name))
}

/// The columns of a curve.
pub(crate) fn columns(curve: &AuditCurve) -> Result<Object, JsValue> {
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
pub(crate) fn set(record: &Object, name: &str, value: impl AsRef<JsValue>) -> Result<(), JsValue> {
    Reflect::set(record, &name.into(), value.as_ref()).map(drop)
}
