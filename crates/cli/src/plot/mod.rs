//! Trade-off curves of a result, as data and as a drawing.

mod audit;
mod data;
mod figure;
mod labels;
mod output;
mod panel;
mod svg;
mod theory;

pub(crate) use audit::curves_of_report;
pub(crate) use theory::{Sampled, curves_of_sampled};

use dpscope_core::curve::{RateBand, TradeOffPoint};
use dpscope_core::trade_off::RateIntervals;

/// What a curve says of the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CurveKind {
    /// Observed, without coverage of its own.
    Estimate,
    /// Holds with the stated confidence.
    Bound,
    /// Said, not shown.
    Claim,
    /// Proven: no attack does better.
    Upper,
    /// Proven: an attack does this well.
    Lower,
}

impl CurveKind {
    /// As in JSON.
    fn name(self) -> &'static str {
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
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub(crate) struct PointRow {
    pub(crate) fpr: f64,
    pub(crate) fnr: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fpr_lower: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fpr_upper: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fnr_lower: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fnr_upper: Option<f64>,
}

impl From<&TradeOffPoint> for PointRow {
    fn from(point: &TradeOffPoint) -> Self {
        PointRow { fpr: point.fpr, fnr: point.fnr, ..PointRow::default() }
    }
}

impl PointRow {
    fn with(self, limits: Option<RateIntervals>) -> Self {
        PointRow {
            fpr_lower: limits.map(|at| at.fpr_lower),
            fpr_upper: limits.map(|at| at.fpr_upper),
            fnr_lower: limits.map(|at| at.fnr_lower),
            fnr_upper: limits.map(|at| at.fnr_upper),
            ..self
        }
    }
}

/// A curve or a single point, and how it is named.
#[derive(Debug)]
pub(crate) struct Curve {
    /// Its name in data.
    pub(crate) name: &'static str,
    pub(crate) kind: CurveKind,
    /// A few words beside the line.
    pub(crate) short: String,
    /// A line of the legend.
    pub(crate) legend: String,
    /// By rising fpr.
    pub(crate) points: Vec<PointRow>,
    /// Whether it is drawn, or data only.
    pub(crate) is_drawn: bool,
}

/// All curves of a result, with the words around them.
#[derive(Debug, Default)]
pub(crate) struct Curves {
    pub(crate) title: String,
    /// Lines under the drawing.
    pub(crate) caption: Vec<String>,
    pub(crate) curves: Vec<Curve>,
    pub(crate) band: Option<RateBand>,
    /// The cut that decided, with its upper limits.
    pub(crate) deciding: Option<Curve>,
    /// What is missing, and why.
    pub(crate) notes: Vec<String>,
    /// Observations of the world without the target; none without an audit.
    pub(crate) zero_out_trials: Option<u64>,
    pub(crate) delta: f64,
    pub(crate) significance: Option<f64>,
    pub(crate) epsilon: Option<f64>,
    pub(crate) seed: Option<String>,
}
