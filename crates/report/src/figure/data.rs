//! Curves as JSON and CSV.

use super::{Curve, Curves};
use crate::record::{CurvePoint, CurveRecord, CurvesReport};

/// How such a JSON file begins.
pub const JSON_MARK: &str = r#"{"schema":"dpscope.curves/"#;
/// How such a CSV file begins.
pub const CSV_MARK: &str = "curve,kind,fpr,fnr,";

/// The curves and the deciding cut.
fn all(curves: &Curves) -> impl Iterator<Item = &Curve> {
    curves.curves.iter().chain(&curves.deciding)
}

fn record(curve: &Curve) -> CurveRecord<'_> {
    let Curve { name, kind, legend, points, .. } = curve;
    CurveRecord { curve: name, kind: *kind, legend, points }
}

/// One document in one line.
///
/// # Errors
/// No curve causes an error.
pub fn to_json(curves: &Curves) -> serde_json::Result<String> {
    let document = CurvesReport {
        schema: "dpscope.curves/1",
        version: env!("CARGO_PKG_VERSION"),
        title: &curves.title,
        caption: &curves.caption,
        delta: curves.delta,
        epsilon: curves.epsilon,
        significance: curves.significance,
        seed: curves.seed.as_deref(),
        notes: &curves.notes,
        curves: all(curves).map(record).collect(),
    };
    Ok(serde_json::to_string(&document)? + "\n")
}

/// One line per point; limits that do not exist are empty.
#[must_use]
pub fn to_csv(curves: &Curves) -> String {
    let mut out = format!("{CSV_MARK}fpr_lower,fpr_upper,fnr_lower,fnr_upper\n");
    for curve in all(curves) {
        for point in &curve.points {
            let CurvePoint { fpr, fnr, fpr_lower, fpr_upper, fnr_lower, fnr_upper } = *point;
            out.push_str(&format!("{},{},{fpr},{fnr}", curve.name, curve.kind.name()));
            for limit in [fpr_lower, fpr_upper, fnr_lower, fnr_upper] {
                out.push(',');
                out.push_str(&limit.map_or(String::new(), |limit| limit.to_string()));
            }
            out.push('\n');
        }
    }
    out
}
