//! How many observations an audit needs.

use dpscope_core::audit::bound::ThresholdRule;
use serde::Serialize;

/// The document of `dpscope plan`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.plan/1")))]
    pub schema: &'static str,
    /// δ of the statement.
    pub delta: f64,
    /// Chance that the bound is wrong.
    pub significance: f64,
    /// How the threshold will be chosen.
    pub threshold_rule: ThresholdRule,
    /// Cuts that share the significance.
    pub cuts: u32,
    /// One-sided tail of each limit of a rate.
    pub tail_per_rate: f64,
    /// The ε to be reached, if one was named.
    pub target: Option<PlanTarget>,
    /// By size.
    pub rows: Vec<PredictedRow>,
    /// Seed of the small simulation, decimal digits; none without one.
    pub seed: Option<String>,
    /// Arguments of `dpscope` for the audit that was planned; none unless mechanism and size are known.
    pub audit: Option<Vec<String>>,
}

/// The ε that a bound should be able to reach.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanTarget {
    /// ε, nats.
    pub epsilon: f64,
    /// Fewest observations in both worlds together whose ceiling reaches epsilon.
    pub observations_for_ceiling: u64,
    /// Predicted for an audit of the mechanism; none if no number up to 10¹⁰ suffices.
    pub observations_predicted: Option<u64>,
    /// ε that the mechanism leaks at most, proven; none if it is unknown.
    pub proven_maximum: Option<f64>,
    /// Whether epsilon exceeds that: no number of observations suffices.
    pub is_impossible: bool,
}

/// One size of an audit.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictedRow {
    /// Observations of both worlds together.
    pub observations: u64,
    /// ε of an attack that never errs, nats.
    pub ceiling: f64,
    /// An estimate; none without a simulation.
    pub predicted_epsilon: Option<f64>,
}
