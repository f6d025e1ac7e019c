//! What audits found, as pages get it: the curve as columns; and the rules that they share.

use dpscope_core::audit::bound::ThresholdRule;
use dpscope_core::audit::curve::AuditCurve;

use dpscope_core::curve::TradeOffPoint;
use js_sys::Object;
use wasm_bindgen::JsValue;

use crate::failure::Failure;
use crate::plain::{object, with};
use crate::question::{RULES, named};
use crate::record::Record;

/// The rule that is asked for, else the simultaneous one.
pub(crate) fn rule_of(given: &Record) -> Result<ThresholdRule, Failure> {
    let rule = given.text("threshold_rule")?;
    rule.map_or(Ok(ThresholdRule::Simultaneous), |name| named("threshold_rule", &RULES, name))
}

/// The columns of a curve.
pub(crate) fn columns(curve: &AuditCurve) -> Result<Object, Failure> {
    let whole = points(&curve.points())?;
    let Some(band) = curve.band() else { return Ok(whole) };
    let (most, least) = (points(&band.most)?, points(&band.least)?);
    let band = object([("most", most.into()), ("least", least.into())])?;
    with(whole, [("band", band.into())])
}

fn points(points: &[TradeOffPoint]) -> Result<Object, Failure> {
    let column = |value: fn(&TradeOffPoint) -> f64| -> JsValue {
        points.iter().map(value).collect::<Vec<f64>>().into()
    };
    object([("fpr", column(|point| point.fpr)), ("fnr", column(|point| point.fnr))])
}
