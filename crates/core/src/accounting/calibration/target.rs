//! Parameters, targets and search ranges of calibration.

use crate::accounting::Training;

/// The calibrated parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Parameter {
    /// The least noise multiplier.
    Noise,
    /// The most steps in all, at one sampling rate (Poisson only).
    Steps,
    /// The most epochs.
    Epochs,
}

impl Parameter {
    /// The name of the argument.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Parameter::Noise => "noise_multiplier",
            Parameter::Steps => "steps",
            Parameter::Epochs => "epochs",
        }
    }

    /// The training at a value of this parameter.
    pub(super) fn at(self, training: &Training, value: f64) -> Training {
        match self {
            Parameter::Noise => Training { noise_multiplier: value, ..*training },
            Parameter::Steps => {
                let sampling_rate = Some(training.sampling_rate());
                Training { steps_per_epoch: value as u64, epochs: 1, sampling_rate, ..*training }
            }
            Parameter::Epochs => Training { epochs: value as u64, ..*training },
        }
    }
}

/// The target ε and δ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivacyTarget {
    /// Target ε, nats, in [1e-6, 1e4].
    pub epsilon: f64,
    /// Target δ, in (0, 1).
    pub delta: f64,
    /// How far below ε the result may be, nats, in [1e-9, 1]; the default of the accountant if
    /// `None`.
    pub error: Option<f64>,
}

/// A value of the calibrated parameter, and the ε at this value.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Calibrated {
    /// A noise multiplier, or a number of steps or epochs.
    pub value: f64,
    /// The upper bound of ε there; at most the target's.
    pub epsilon: f64,
    /// Whether every value that was searched satisfies the target; this one is the last of them.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "std::ops::Not::not"))]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub is_end_of_range: bool,
}

/// Numeric error at which a value near this ε decides whether it satisfies the target.
pub(crate) fn error_near(epsilon: f64) -> f64 {
    (1e-3 * epsilon).clamp(1e-5, 1e-2)
}

/// Search range of a calibration: of 1/σ, or of whole numbers of steps or epochs; ε increases with
/// both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchRange {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// The start of the search.
    pub start: f64,
    /// Default of how far below the target ε the result may be, nats.
    pub error: f64,
    /// Nats for an [error](crate::accounting::Query) of 1, near the target.
    pub nats_per_error: f64,
    /// Least error of a query.
    pub least_error: f64,
}

impl Default for SearchRange {
    /// Whole numbers from 1, to 1e-3 nats.
    fn default() -> Self {
        SearchRange {
            low: 1.0,
            high: 1e6,
            start: 1.0,
            error: 1e-3,
            nats_per_error: 1.0,
            least_error: 0.0,
        }
    }
}

impl SearchRange {
    /// The error of a query for an error in nats.
    pub(super) fn query_error(&self, nats: f64) -> f64 {
        // an error outside the domain stays there
        if nats < self.least_error {
            nats
        } else {
            (nats / self.nats_per_error).max(self.least_error)
        }
    }
}
