//! From error counts to a lower bound on ε.

use crate::format::given;
mod ceiling;
mod cuts;
mod joint;
mod maximum;
mod pilot;
mod rates;
mod rules;
mod setting;

pub use ceiling::ceiling;
pub use cuts::{PredictedErrors, choose_cuts};
pub use maximum::max_uncorrected;
pub use rates::{EpsilonFromRates, ExpectedRates, epsilon_from_rates};
pub use rules::{
    at_expected_rates, at_fixed_cut, ceiling_of_regions, simultaneous, split, split_at_midpoint,
    split_by_pilot,
};

use crate::adjacency::Direction;
use crate::audit::trade_off::{ErrorCounts, TradeOffError, Trials};
use crate::interval::IntervalError;

/// How the threshold is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum ThresholdRule {
    /// The threshold is chosen and evaluated on the same data: an estimate, not a bound.
    MaxUncorrected,
    /// One part of the data chooses thresholds, the rest evaluates them: the default for scores.
    Split,
    /// A few thresholds, fixed without the evaluated data, share the significance.
    Simultaneous,
    /// One threshold, fixed without the evaluated data.
    Fixed,
}

impl ThresholdRule {
    /// The name in messages and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ThresholdRule::MaxUncorrected => "max-uncorrected",
            ThresholdRule::Split => "split",
            ThresholdRule::Simultaneous => "simultaneous",
            ThresholdRule::Fixed => "fixed",
        }
    }
}

/// δ and significance of a statement about ε.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statement {
    /// δ of the statement, in [0, 1).
    pub delta: f64,
    /// Chance that the bound is wrong, in (0, 1).
    pub significance: f64,
}

impl Default for Statement {
    /// δ = 10⁻⁵ at 95 % confidence.
    fn default() -> Self {
        Statement { delta: 1e-5, significance: 0.05 }
    }
}

/// The threshold behind a value of ε, with its error counts and limits. Rates are shares of a
/// world's observations; ε and thresholds of likelihood ratios are in nats.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Evidence {
    /// The δ of the statement.
    pub delta: f64,
    /// One-sided tail of each of the two limits.
    pub tail_per_rate: f64,
    /// How the threshold was chosen.
    pub threshold_rule: ThresholdRule,
    /// Number of thresholds that share the significance.
    pub cuts: u32,
    /// τ: decide D where the score exceeds it.
    pub threshold: f64,
    /// Observations that were evaluated.
    pub trials: Trials,
    /// Errors at τ.
    pub errors: ErrorCounts,
    /// Rates at τ that a pilot predicted, where a region of both rates decides.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub expected_rates: Option<ExpectedRates>,
    /// Clopper–Pearson upper limit of the false positive rate. Where a region of both rates decides
    /// ([`at_expected_rates`]), ε can exceed what this limit and the next permit.
    pub fpr_upper: f64,
    /// Clopper–Pearson upper limit of the false negative rate.
    pub fnr_upper: f64,
    /// Which world is P in the inequality behind the value.
    pub direction: Direction,
    /// The value for an attack without errors on the same number of observations.
    pub ceiling: f64,
    /// Number of errors of the rarer kind at τ, min(FP, FN).
    pub events_at_threshold: u64,
    /// Gain in ε if ten times the observations showed the same rates at τ.
    pub gain_at_10x: f64,
    /// Whether more observations would raise the value: the gain exceeds 0.1, or there are fewer
    /// than 30 errors.
    pub limited_by_observations: bool,
}

/// What a bound assumes in addition to independent runs whose number was fixed beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
pub enum Assumes {
    /// Nothing: only such a bound decides a verdict.
    Nothing,
    /// The canaries of one run do not influence each other's scores.
    IndependentCanaries,
    /// The trade-off curve is that of two Gaussians.
    GaussianCurve,
}

/// A lower bound on ε: the value exceeds the true ε with probability at most `significance`.
///
/// Only the rules of this module that have coverage construct it. `value` is 0 without evidence.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[must_use]
pub struct EpsilonLowerBound {
    value: f64,
    significance: f64,
    assumes: Assumes,
    evidence: Evidence,
}

impl EpsilonLowerBound {
    /// The bound, in nats, ≥ 0.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Largest probability that the bound exceeds the true ε.
    #[must_use]
    pub fn significance(&self) -> f64 {
        self.significance
    }

    /// The deciding cut.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// What the bound assumes.
    #[must_use]
    pub fn assumes(&self) -> Assumes {
        self.assumes
    }

    /// This bound under a stronger assumption.
    pub fn assuming(self, assumes: Assumes) -> Self {
        EpsilonLowerBound { assumes, ..self }
    }

    /// The largest of several bounds on one ε, at the sum of their significances (a union bound), with
    /// the largest ceiling.
    ///
    /// `None` for an empty list, for bounds at different δ or under different assumptions, or where
    /// the sum reaches 1.
    #[must_use]
    pub fn best_of(bounds: &[EpsilonLowerBound]) -> Option<EpsilonLowerBound> {
        let significance = bounds.iter().map(|bound| bound.significance).sum::<f64>();
        let cuts = bounds.iter().map(|bound| bound.evidence.cuts).sum();
        let best = bounds.iter().max_by(|a, b| a.value.total_cmp(&b.value))?;
        let ceiling = bounds.iter().map(|bound| bound.evidence.ceiling).fold(0.0, f64::max);
        let evidence = Evidence { cuts, ceiling, ..best.evidence };
        let same_delta = bounds.iter().all(|bound| bound.evidence.delta == evidence.delta);
        let same_assumption = bounds.iter().all(|bound| bound.assumes == best.assumes);
        (significance < 1.0 && same_delta && same_assumption).then_some(EpsilonLowerBound {
            significance,
            evidence,
            ..*best
        })
    }

    /// The value of this bound without coverage, for a run that is not of the planned size.
    pub fn into_estimate(self) -> EpsilonEstimate {
        EpsilonEstimate { value: self.value, evidence: self.evidence }
    }
}

/// A value of ε without coverage.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[must_use]
pub struct EpsilonEstimate {
    value: f64,
    evidence: Evidence,
}

impl EpsilonEstimate {
    /// The estimate, in nats, ≥ 0.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The deciding cut.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }
}

/// Errors of the threshold rules.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BoundError {
    /// δ outside [0, 1).
    #[error("delta is {}; it must lie in [0, 1)", given(*.delta))]
    Delta {
        /// The value.
        delta: f64,
    },
    /// The significance outside (0, 1).
    #[error("significance is {}; it must lie in (0, 1)", given(*.significance))]
    Significance {
        /// The value.
        significance: f64,
    },
    /// A rule without thresholds.
    #[error("the rule needs at least one threshold")]
    NoCuts,
    /// A NaN threshold.
    #[error("threshold is NaN")]
    Threshold,
    /// An invalid interval.
    #[error(transparent)]
    Interval(#[from] IntervalError),
    /// Invalid scores.
    #[error(transparent)]
    TradeOff(#[from] TradeOffError),
}

fn check(delta: f64, significance: f64) -> Result<(), BoundError> {
    if !(0.0..1.0).contains(&delta) {
        return Err(BoundError::Delta { delta });
    }
    if !(significance > 0.0 && significance < 1.0) {
        return Err(BoundError::Significance { significance });
    }
    Ok(())
}
