//! What an audit found, as a record.

use super::bound::{EpsilonEstimate, Evidence, ThresholdRule};
use super::outcome::Outcome;
use crate::adjacency::{Direction, Scope};
use crate::gdp::gdp_mu_lower_bound;

/// An outcome with what it rests on, as every report tells it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AuditResult {
    /// `bound` or `estimate`.
    pub kind: &'static str,
    /// ε, nats.
    pub epsilon: f64,
    /// δ.
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
    pub target_if_score: &'static str,
    /// Which world plays P.
    pub direction: Direction,
    /// The pair that was observed.
    pub scope: Scope,
    /// FP.
    pub false_positives: u64,
    /// FN.
    pub false_negatives: u64,
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
    /// Whether more observations would say more.
    pub limited_by_observations: bool,
}

impl AuditResult {
    /// The result of an outcome at this significance.
    #[must_use]
    pub fn new(outcome: &Outcome, significance: f64) -> Self {
        let kind = match outcome {
            Outcome::Bound(_) => "bound",
            Outcome::Estimate(_) => "estimate",
        };
        let Evidence {
            delta,
            tail_per_rate,
            threshold_rule,
            cuts,
            threshold,
            trials: _,
            errors,
            fpr_upper,
            fnr_upper,
            direction,
            ceiling,
            events_at_threshold,
            gain_at_10x,
            limited_by_observations,
        } = *outcome.evidence();
        AuditResult {
            kind,
            epsilon: outcome.value(),
            delta,
            significance,
            tail_per_rate,
            threshold_rule,
            cuts,
            threshold: threshold.is_finite().then_some(threshold),
            target_if_score: "above",
            direction,
            scope: Scope::Pair,
            false_positives: errors.false_positives,
            false_negatives: errors.false_negatives,
            fpr_upper,
            fnr_upper,
            gdp_mu: match outcome {
                Outcome::Bound(_) => gdp_mu_lower_bound(fpr_upper, fnr_upper).ok(),
                Outcome::Estimate(_) => None,
            },
            ceiling,
            events_at_threshold,
            gain_at_10x,
            limited_by_observations,
        }
    }

    /// The same result of an attack that was made on negated scores.
    #[must_use]
    pub fn reversed(self) -> Self {
        AuditResult { threshold: negated(self.threshold), target_if_score: "below", ..self }
    }
}

/// Without a negative zero.
fn negated(threshold: Option<f64>) -> Option<f64> {
    threshold.map(|threshold| 0.0 - threshold)
}

/// An estimate and where it was found.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ValueAtCut {
    /// `bound` or `estimate`.
    pub kind: &'static str,
    /// ε, nats.
    pub epsilon: f64,
    /// τ; none where it is not a finite number.
    pub threshold: Option<f64>,
    /// FP.
    pub false_positives: u64,
    /// FN.
    pub false_negatives: u64,
}

impl ValueAtCut {
    /// The same value of an attack that was made on negated scores.
    #[must_use]
    pub fn reversed(self) -> Self {
        ValueAtCut { threshold: negated(self.threshold), ..self }
    }
}

impl From<EpsilonEstimate> for ValueAtCut {
    fn from(estimate: EpsilonEstimate) -> Self {
        let Evidence { threshold, errors, .. } = *estimate.evidence();
        ValueAtCut {
            kind: "estimate",
            epsilon: estimate.value(),
            threshold: threshold.is_finite().then_some(threshold),
            false_positives: errors.false_positives,
            false_negatives: errors.false_negatives,
        }
    }
}
