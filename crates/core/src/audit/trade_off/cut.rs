//! One threshold: its error counts, and the limits of its error rates.

use crate::interval::{IntervalError, clopper_pearson_lower, clopper_pearson_upper};

/// Observations of each world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trials {
    /// Observations of D.
    pub target: u64,
    /// Observations of D′.
    pub zero_out: u64,
}

/// Errors of the test "D if and only if the score exceeds τ".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ErrorCounts {
    /// Scores of D′ above τ, FP.
    pub false_positives: u64,
    /// Scores of D at or below τ, FN.
    pub false_negatives: u64,
}

/// A threshold and its error counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cut {
    /// τ, in the scores' own unit (nats for likelihood ratios); −∞ where every score is above.
    pub threshold: f64,
    /// Errors at τ.
    pub errors: ErrorCounts,
}

impl Cut {
    /// Intervals of both rates among `trials` observations, each limit at the one-sided `tail`.
    ///
    /// # Errors
    /// More errors than trials, or a `tail` outside its domain.
    pub(crate) fn limits(&self, trials: Trials, tail: f64) -> Result<RateIntervals, IntervalError> {
        let ErrorCounts { false_positives: fp, false_negatives: fn_ } = self.errors;
        Ok(RateIntervals {
            threshold: self.threshold,
            fpr_lower: clopper_pearson_lower(fp, trials.zero_out, tail)?,
            fpr_upper: clopper_pearson_upper(fp, trials.zero_out, tail)?,
            fnr_lower: clopper_pearson_lower(fn_, trials.target, tail)?,
            fnr_upper: clopper_pearson_upper(fn_, trials.target, tail)?,
        })
    }
}

/// Confidence limits of both error rates at one threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RateIntervals {
    /// Threshold τ.
    pub threshold: f64,
    /// Lower limit of the false positive rate.
    pub fpr_lower: f64,
    /// Upper limit of the false positive rate.
    pub fpr_upper: f64,
    /// Lower limit of the false negative rate.
    pub fnr_lower: f64,
    /// Upper limit of the false negative rate.
    pub fnr_upper: f64,
}
