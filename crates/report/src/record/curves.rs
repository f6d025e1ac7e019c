//! Trade-off curves as data.

use dpscope_core::audit::trade_off::RateIntervals;
use dpscope_core::curve::TradeOffPoint;
use serde::Serialize;

/// The document of `--curves FILE.json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurvesReport<'a> {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.curves/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// The result as a short formula.
    pub title: &'a str,
    /// What was audited, and how.
    pub caption: &'a [String],
    /// δ of the statement.
    pub delta: f64,
    /// ε of the audit, nats; none without one.
    pub epsilon: Option<f64>,
    /// Chance that the bound is wrong; none without an audit.
    pub significance: Option<f64>,
    /// Seed of the audit, decimal digits.
    pub seed: Option<&'a str>,
    /// What is missing, and why.
    pub notes: &'a [String],
    /// The curves, and the cut that decided as a curve of one point.
    pub curves: Vec<CurveRecord<'a>>,
}

/// A curve.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurveRecord<'a> {
    /// Its name.
    pub curve: &'static str,
    /// How it relates to the true curve.
    pub kind: CurveKind,
    /// What it shows, as a sentence.
    pub legend: &'a str,
    /// By rising fpr.
    pub points: &'a [CurvePoint],
}

/// How a curve relates to the true one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CurveKind {
    /// Observed, without coverage of its own.
    Estimate,
    /// Holds with the stated confidence.
    Bound,
    /// Claimed, not measured.
    Claim,
    /// Proven: no attack does better.
    Upper,
    /// Proven: an attack does this well.
    Lower,
}

impl CurveKind {
    /// As in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            CurveKind::Estimate => "estimate",
            CurveKind::Bound => "bound",
            CurveKind::Claim => "claim",
            CurveKind::Upper => "upper",
            CurveKind::Lower => "lower",
        }
    }
}

/// A point with the limits that hold there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurvePoint {
    /// False positive rate.
    pub fpr: f64,
    /// False negative rate.
    pub fnr: f64,
    /// Lower limit of the false positive rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fpr_lower: Option<f64>,
    /// Upper limit of the false positive rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fpr_upper: Option<f64>,
    /// Lower limit of the false negative rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fnr_lower: Option<f64>,
    /// Upper limit of the false negative rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fnr_upper: Option<f64>,
}

impl From<&TradeOffPoint> for CurvePoint {
    fn from(point: &TradeOffPoint) -> Self {
        CurvePoint { fpr: point.fpr, fnr: point.fnr, ..CurvePoint::default() }
    }
}

impl CurvePoint {
    /// Adds limits to the point.
    pub(crate) fn with(self, limits: Option<RateIntervals>) -> Self {
        CurvePoint {
            fpr_lower: limits.map(|at| at.fpr_lower),
            fpr_upper: limits.map(|at| at.fpr_upper),
            fnr_lower: limits.map(|at| at.fnr_lower),
            fnr_upper: limits.map(|at| at.fnr_upper),
            ..self
        }
    }
}
