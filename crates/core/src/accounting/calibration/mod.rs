//! Noise, steps or epochs for a target ε and δ.

mod request;
mod search;

pub use request::{Calibration, CalibrationError};

use search::{EpsilonAt, Search};

use super::error::argument;
use super::{Accountant, AccountingError, Given, Query, Training};

/// What is calibrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
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

    /// The training at a value of this parameter: of 1/σ, of steps, of epochs.
    fn at(self, training: &Training, x: f64) -> Training {
        match self {
            Parameter::Noise => Training { noise_multiplier: 1.0 / x, ..*training },
            Parameter::Steps => {
                let sampling_rate = Some(training.sampling_rate());
                Training { steps_per_epoch: x as u64, epochs: 1, sampling_rate, ..*training }
            }
            Parameter::Epochs => Training { epochs: x as u64, ..*training },
        }
    }
}

/// The privacy to reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivacyTarget {
    /// ε, nats, in [1e-6, 1e4].
    pub epsilon: f64,
    /// δ, in (0, 1).
    pub delta: f64,
    /// How far below ε the result may stay, nats, in [1e-9, 1]; the accountant's usual one if `None`.
    pub error: Option<f64>,
}

/// A value of the calibrated parameter, and the ε at this value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibrated {
    /// A noise multiplier, or a number of steps or epochs.
    pub value: f64,
    /// The upper bound of ε there; at most the target's.
    pub epsilon: f64,
}

/// Values among which an accountant is calibrated: of 1/σ, or whole numbers of steps or epochs; ε grows
/// with both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchRange {
    /// The lowest.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// Where the search starts.
    pub start: f64,
    /// How far below the target ε the result may stay, nats, unless the target says.
    pub error: f64,
    /// Nats for an [error](Query) of 1, near the target.
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
    fn query_error(&self, nats: f64) -> f64 {
        // an error outside the domain stays there
        if nats < self.least_error {
            nats
        } else {
            (nats / self.nats_per_error).max(self.least_error)
        }
    }
}

/// The least noise, or the most steps or epochs, with which a training run is (ε, δ)-DP.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `accountant` | proves ε, from above | any with an upper side |
/// | `parameter` | what is calibrated | – |
/// | `target` | ε, δ, error | see [`PrivacyTarget`] |
/// | `training` | the rest; its value of the parameter is not used | see the accountant |
///
/// An accountant of single steps ([`Poisson`](super::Poisson)) calibrates epochs as whole epochs of the most
/// steps.
///
/// # Guarantee
/// ε at the result, rounded up, is at most the target
/// (`tests/oracles/accounting.rs::calibrated_noise_is_the_golden_one`), and above it less the error, or one
/// step or epoch more would exceed it or come within the error of it
/// (`tests/oracles/accounting.rs::calibrated_steps_use_the_target_up`,
/// `tests/oracles/accounting.rs::calibrated_epochs_use_the_target_up`,
/// `tests/oracles/accounting.rs::calibrated_balls_in_bins_undo_epsilons`).
///
/// # Errors
/// [`AccountingError`] of the accountant; [`AccountingError::Unreachable`] where no value in its range
/// reaches the target; [`AccountingError::NotCalibrated`] for steps, if the accountant has no single steps.
///
/// # Numerics
/// About ten evaluations on coarse grids and five on fine ones.
///
/// # Example
/// ```
/// use dpscope_core::accounting::{Parameter, Poisson, PrivacyTarget, Training, calibrate};
/// let target = PrivacyTarget { epsilon: 4.0, delta: 1e-5, error: None };
/// let training =
///     Training { noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1, sampling_rate: None };
/// let noise = calibrate(&Poisson, Parameter::Noise, &target, &training)?;
/// assert_eq!(format!("{:.3}", noise.value), "0.591");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
pub fn calibrate(
    accountant: &dyn Accountant,
    parameter: Parameter,
    target: &PrivacyTarget,
    training: &Training,
) -> Result<Calibrated, AccountingError> {
    if let Some(range) = accountant.search_range(parameter, target, training)? {
        return in_range(accountant, parameter, range, target, training);
    }
    if parameter == Parameter::Epochs
        && let Some(range) = accountant.search_range(Parameter::Steps, target, training)?
    {
        return whole_epochs(accountant, range, target, training);
    }
    Err(AccountingError::NotCalibrated { name: parameter.name() })
}

fn in_range(
    accountant: &dyn Accountant,
    parameter: Parameter,
    range: SearchRange,
    target: &PrivacyTarget,
    training: &Training,
) -> Result<Calibrated, AccountingError> {
    let is_noise = parameter == Parameter::Noise;
    let search = Search {
        name: parameter.name(),
        target: *target,
        error: target.error.unwrap_or(range.error),
        low: range.low,
        high: range.high,
        whole: !is_noise,
    };
    let epsilon_at: &EpsilonAt<'_> = &|x, error| {
        let given = Given::Delta(target.delta);
        let query = Query::upper(parameter.at(training, x), given);
        match accountant.account(&Query { error: Some(range.query_error(error)), ..query }) {
            Ok(bound) => Ok(bound.epsilon),
            Err(AccountingError::Infinite { .. }) => Ok(f64::INFINITY),
            Err(error) => Err(error),
        }
    };
    let Calibrated { value, epsilon } = search.largest(range.start, epsilon_at)?;
    Ok(Calibrated { value: if is_noise { 1.0 / value } else { value }, epsilon })
}

/// Whole epochs of the most steps.
fn whole_epochs(
    accountant: &dyn Accountant,
    range: SearchRange,
    target: &PrivacyTarget,
    training: &Training,
) -> Result<Calibrated, AccountingError> {
    let steps_per_epoch = training.steps_per_epoch;
    if !(1..=100_000_000).contains(&steps_per_epoch) {
        return Err(argument("steps_per_epoch", steps_per_epoch as f64, "in 1 to 10^8"));
    }
    let error = target.error.unwrap_or(range.error);
    let high = range.high / steps_per_epoch as f64;
    let search = Search { name: "epochs", target: *target, error, low: 1.0, high, whole: true };
    let steps = match in_range(accountant, Parameter::Steps, range, target, training) {
        Err(AccountingError::Unreachable { .. }) => return Err(search.unreachable()),
        steps => steps?.value as u64,
    };
    let epochs = steps / steps_per_epoch;
    if epochs == 0 {
        return Err(search.unreachable());
    }
    let training = Training { epochs, ..*training };
    let query = Query::upper(training, Given::Delta(target.delta));
    let error = Some(range.query_error(0.5 * error));
    let bound = accountant.account(&Query { error, ..query })?;
    Ok(Calibrated { value: epochs as f64, epsilon: bound.epsilon })
}
