//! Noise, steps or epochs for a target ε and δ.

use dpscope_core::accounting::{Calibrated, Kind, Parameter};
use dpscope_core::adjacency::Adjacency;
use dpscope_core::mechanism::SamplerKind;
use serde::Serialize;

/// The document of `dpscope calibrate`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CalibrationReport {
    /// Name and version of this document.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "dpscope.calibrate/1")))]
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// What is calibrated.
    pub wanted: Parameter,
    /// How batches are drawn.
    pub sampler: SamplerKind,
    /// The value and its ε.
    #[serde(flatten)]
    pub result: CalibratedValue,
    /// δ of both ε.
    pub delta: f64,
    /// The ε that is not exceeded.
    pub target_epsilon: f64,
    /// On which side of the truth ε lies: an upper bound.
    pub kind: Kind,
    /// The accountant, in words.
    pub accountant: String,
    /// The other parameters.
    pub settings: CalibrationSettings,
    /// The result of Poisson accounting, for another sampler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<CalibratedValue>,
}

/// The value under its name, and its ε.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CalibratedValue {
    /// σ, if it is calibrated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_multiplier: Option<f64>,
    /// Steps, if they are calibrated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Epochs, if they are calibrated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epochs: Option<u64>,
    /// ε of this value, nats.
    pub epsilon: f64,
    /// Whether every value that was tried satisfies the target.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub is_end_of_range: bool,
}

/// The parameters that are given; none for the calibrated one.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CalibrationSettings {
    /// Noise multiplier σ.
    pub noise_multiplier: Option<f64>,
    /// Steps per epoch.
    pub steps: Option<u64>,
    /// Passes over the data.
    pub epochs: Option<u64>,
    /// Steps of a further, incomplete epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_epoch_steps: Option<u64>,
    /// q of Poisson sampling.
    pub sampling_rate: Option<f64>,
    /// What neighbouring data sets differ in, if that is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adjacency: Option<Adjacency>,
}

impl CalibratedValue {
    /// A calibrated value of a parameter.
    #[must_use]
    pub fn new(wanted: Parameter, found: Calibrated) -> Self {
        let whole = |is_wanted: bool| is_wanted.then_some(found.value as u64);
        CalibratedValue {
            noise_multiplier: (wanted == Parameter::Noise).then_some(found.value),
            steps: whole(wanted == Parameter::Steps),
            epochs: whole(wanted == Parameter::Epochs),
            epsilon: found.epsilon,
            is_end_of_range: found.is_end_of_range,
        }
    }
}
