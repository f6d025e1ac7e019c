//! The result of an audit as a flat record.

use dpscope_core::adjacency::{Direction, Scope};
use dpscope_core::audit::bound::{Evidence, ExpectedRates, ThresholdRule};
use dpscope_core::audit::{AuditResult, OutcomeKind, TargetSide};
use serde::{Deserialize, Serialize};

/// A result with what it rests on, field by field.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "AuditResult"))]
pub struct ResultRecord {
    /// Whether the value has coverage.
    pub kind: OutcomeKind,
    /// ε, nats.
    pub epsilon: f64,
    /// Privacy parameter δ.
    pub delta: f64,
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// One-sided tail of each limit of a rate.
    pub tail_per_rate: f64,
    /// How the cut was chosen.
    pub threshold_rule: ThresholdRule,
    /// Cuts that share the significance.
    pub cuts: u32,
    /// None where it is not a finite number: unknown, or below every score.
    pub threshold: Option<f64>,
    /// On which side of the threshold the attack decides for the target's world.
    pub target_if_score: TargetSide,
    /// Which world plays P.
    pub direction: Direction,
    /// The pair that was observed.
    pub scope: Scope,
    /// Number of false positives FP.
    pub false_positives: u64,
    /// Number of false negatives FN.
    pub false_negatives: u64,
    /// Rates that a pilot predicted, where a region of both rates decides: a tail of each, of twice
    /// `tail_per_rate` together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_rates: Option<ExpectedRates>,
    /// Upper limit of the false positive rate.
    pub fpr_upper: f64,
    /// Upper limit of the false negative rate.
    pub fnr_upper: f64,
    /// A bound where the result is one; none for an estimate.
    pub gdp_mu: Option<f64>,
    /// Value of an attack without any error on as many observations.
    pub ceiling: f64,
    /// min(FP, FN).
    pub events_at_threshold: u64,
    /// Gain in ε if ten times the observations showed the same rates.
    pub gain_at_10x: f64,
    /// Whether more observations would raise the value.
    pub limited_by_observations: bool,
}

impl From<&AuditResult> for ResultRecord {
    fn from(result: &AuditResult) -> Self {
        let Evidence {
            delta,
            tail_per_rate,
            threshold_rule,
            cuts,
            errors,
            expected_rates,
            fpr_upper,
            fnr_upper,
            direction,
            ceiling,
            events_at_threshold,
            gain_at_10x,
            limited_by_observations,
            ..
        } = *result.evidence();
        ResultRecord {
            kind: result.kind(),
            epsilon: result.epsilon(),
            delta,
            significance: result.significance(),
            tail_per_rate,
            threshold_rule,
            cuts,
            threshold: result.threshold(),
            target_if_score: result.target_side(),
            direction,
            scope: Scope::Pair,
            false_positives: errors.false_positives,
            false_negatives: errors.false_negatives,
            expected_rates,
            fpr_upper,
            fnr_upper,
            gdp_mu: result.gdp_mu(),
            ceiling,
            events_at_threshold,
            gain_at_10x,
            limited_by_observations,
        }
    }
}

/// An estimate and where it was found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ValueAtCut {
    /// Whether the value has coverage.
    pub kind: OutcomeKind,
    /// ε, nats.
    pub epsilon: f64,
    /// τ; none where it is not a finite number.
    pub threshold: Option<f64>,
    /// Number of false positives FP.
    pub false_positives: u64,
    /// Number of false negatives FN.
    pub false_negatives: u64,
}

impl ValueAtCut {
    /// The uncorrected maximum of a result, if it has one.
    #[must_use]
    pub fn of_uncorrected_maximum(result: &AuditResult) -> Option<Self> {
        let estimate = result.uncorrected_maximum()?;
        let Evidence { threshold, errors, .. } = *estimate.evidence();
        Some(ValueAtCut {
            kind: OutcomeKind::Estimate,
            epsilon: estimate.value(),
            threshold: result.target_side().threshold(threshold),
            false_positives: errors.false_positives,
            false_negatives: errors.false_negatives,
        })
    }
}
