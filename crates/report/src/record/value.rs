//! Values with coverage, values without, and findings.

use dpscope_core::adjacency::{Adjacency, Direction, Scope};
use dpscope_core::audit::bound::{Assumes, ThresholdRule};
use dpscope_core::audit::{AuditResult, Finding};
use serde::{Deserialize, Serialize};

use crate::words::finding_sentence;

/// What is bounded or estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// ε at δ, nats.
    Epsilon,
    /// μ of Gaussian differential privacy.
    GdpMu,
}

/// Whose participation two neighbouring data sets differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PrivacyUnit {
    /// One record.
    Record,
    /// One client, with all of its records.
    User,
}

/// A lower bound with coverage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundRecord {
    /// What is bounded.
    pub quantity: Quantity,
    /// The quantity is at least this.
    pub value: f64,
    /// δ; none for μ.
    pub delta: Option<f64>,
    /// Chance that the bound is wrong.
    pub significance: f64,
    /// What it assumes beyond independent runs; only `nothing` decides a verdict.
    pub assumes: Assumes,
    /// Whose participation is protected.
    pub unit: PrivacyUnit,
    /// Neighbouring relation of the audited pair.
    pub adjacency: Adjacency,
    /// Which pairs it holds for.
    pub scope: Scope,
    /// Which world plays P; none for μ.
    pub direction: Option<Direction>,
    /// How the cut was chosen.
    pub threshold_rule: ThresholdRule,
}

/// A value without coverage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EstimateRecord {
    /// What is estimated.
    pub quantity: Quantity,
    /// Near the quantity, on either side.
    pub value: f64,
    /// Privacy parameter δ.
    pub delta: f64,
    /// How the cut was chosen.
    pub threshold_rule: ThresholdRule,
}

/// Something that the data indicate about the code or the protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingRecord {
    /// Its code and its numbers.
    #[serde(flatten)]
    pub finding: Finding,
    /// Whether only an estimate is left.
    pub costs_coverage: bool,
    /// What was found and what to do about it.
    pub sentence: String,
}

impl From<Finding> for FindingRecord {
    fn from(finding: Finding) -> Self {
        FindingRecord {
            finding,
            costs_coverage: finding.costs_coverage(),
            sentence: finding_sentence(&finding),
        }
    }
}

/// All bounds of a result.
pub(crate) fn bound_records(result: &AuditResult) -> Vec<BoundRecord> {
    let Some(bound) = result.bound() else { return Vec::new() };
    let evidence = bound.evidence();
    let epsilon = BoundRecord {
        quantity: Quantity::Epsilon,
        value: bound.value(),
        delta: Some(evidence.delta),
        significance: result.significance(),
        assumes: bound.assumes(),
        unit: PrivacyUnit::Record,
        adjacency: Adjacency::ZeroOut,
        scope: Scope::Pair,
        direction: Some(evidence.direction),
        threshold_rule: evidence.threshold_rule,
    };
    let mu = result.gdp_mu().map(|value| BoundRecord {
        quantity: Quantity::GdpMu,
        value,
        delta: None,
        direction: None,
        ..epsilon.clone()
    });
    [epsilon].into_iter().chain(mu).collect()
}

/// All estimates of a result.
pub(super) fn estimates(result: &AuditResult) -> Vec<EstimateRecord> {
    let estimates = [result.estimate(), result.uncorrected_maximum()];
    let record = |estimate: &dpscope_core::audit::bound::EpsilonEstimate| EstimateRecord {
        quantity: Quantity::Epsilon,
        value: estimate.value(),
        delta: estimate.evidence().delta,
        threshold_rule: estimate.evidence().threshold_rule,
    };
    let mut estimates: Vec<EstimateRecord> = estimates.into_iter().flatten().map(record).collect();
    estimates.dedup();
    estimates
}
