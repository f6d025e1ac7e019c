//! Drawings: trade-off curves of a result, also as data, and rows of reproductions.

mod audit;
mod canary_optimization;
mod chart;
mod data;
mod drawing;
mod generator;
mod labels;
mod one_run;
mod one_shot;
mod pategan;
mod picture;
mod row_chart;
mod scores;
mod svg;
mod theory;
mod utility;
mod writer;

pub use audit::curves_of_report;
pub use canary_optimization::{CanaryPictures, canary_optimization_svg};
pub use data::{CSV_MARK, JSON_MARK, to_csv, to_json};
pub use drawing::to_svg;
pub use generator::generator_svg;
pub use one_run::{OneRunFigure, canary_score_bins, one_run_svg, score_range};
pub use one_shot::{normal_score_bins, normal_score_range, one_shot_svg};
pub use pategan::pategan_svg;
pub use row_chart::row_chart_svg;
pub use scores::{expected_score_bins, score_bins};
pub use svg::SVG_MARK;
pub(crate) use svg::escaped;
pub use theory::{Sampled, curves_of_sampled};
pub use utility::utility_svg;

use dpscope_core::audit::curve::RateBand;

use crate::record::{CurveKind, CurvePoint};

/// A curve or a single point, and how it is named.
#[derive(Debug)]
pub struct Curve {
    /// Its name in data.
    pub name: &'static str,
    /// How it relates to the true curve.
    pub kind: CurveKind,
    /// A few words beside the line.
    pub short: String,
    /// A line of the legend.
    pub legend: String,
    /// By rising fpr.
    pub points: Vec<CurvePoint>,
    /// Whether it is drawn, or data only.
    pub is_drawn: bool,
}

/// All curves of a result, with the words around them.
#[derive(Debug, Default)]
pub struct Curves {
    /// The result as a short formula.
    pub title: String,
    /// Lines under the drawing.
    pub caption: Vec<String>,
    /// The curves, in the order of the legend.
    pub curves: Vec<Curve>,
    /// Simultaneous confidence band of the audit, where it has one.
    pub band: Option<RateBand>,
    /// The cut that decided, with its upper limits.
    pub deciding: Option<Curve>,
    /// What is missing, and why.
    pub notes: Vec<String>,
    /// Observations of the world without the target; none without an audit.
    pub zero_out_trials: Option<u64>,
    /// δ of the statement.
    pub delta: f64,
    /// Chance that the bound is wrong; none without an audit.
    pub significance: Option<f64>,
    /// ε of the audit, nats; none without one.
    pub epsilon: Option<f64>,
    /// Seed of the audit.
    pub seed: Option<String>,
}
