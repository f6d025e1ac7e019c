//! Noise, steps or epochs for a target ε and δ.

mod request;
mod search;
mod target;

pub use request::{Calibration, CalibrationError};
pub(crate) use target::error_near;
pub use target::{Calibrated, Parameter, PrivacyTarget, SearchRange};

use search::{EpsilonAt, Search};

use super::error::argument;
use super::{Accountant, AccountingError, Given, Query, Training};

/// The least noise, or the most steps or epochs, with which a training run is (ε, δ)-DP.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `accountant` | proves upper bounds on ε | any with an upper side |
/// | `parameter` | what is calibrated | – |
/// | `target` | ε, δ, error | see [`PrivacyTarget`] |
/// | `training` | the other parameters; the calibrated one is ignored | see the accountant |
///
/// An accountant of single steps ([`Poisson`](super::Poisson)) calibrates epochs as the maximum
/// number of steps, rounded down to whole epochs.
///
/// # Guarantee
/// ε at the result, rounded up, is at most the target
/// (`tests/oracles/accounting.rs::calibrated_noise_reaches_the_target`) and within the error of it;
/// for steps and epochs, one more would exceed the target or be within the error of it
/// (`tests/oracles/accounting.rs::calibrated_steps_reach_the_target`,
/// `tests/oracles/accounting.rs::calibrated_epochs_reach_the_target`,
/// `tests/oracles/accounting.rs::calibrated_balls_in_bins_reach_the_target`).
///
/// # Errors
/// [`AccountingError`] of the accountant; [`AccountingError::Unreachable`] where no value in its
/// range satisfies the target; [`AccountingError::NotCalibrated`] for steps, if the accountant has no
/// single steps.
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
    let found = search.largest(range.start, epsilon_at)?;
    Ok(if is_noise { Calibrated { value: 1.0 / found.value, ..found } } else { found })
}

/// The maximum number of steps, in whole epochs.
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
        steps => steps?,
    };
    let epochs = steps.value as u64 / steps_per_epoch;
    if epochs == 0 {
        return Err(search.unreachable());
    }
    let training = Training { epochs, ..*training };
    let query = Query::upper(training, Given::Delta(target.delta));
    let error = Some(range.query_error(0.5 * error));
    let bound = accountant.account(&Query { error, ..query })?;
    let Calibrated { is_end_of_range, .. } = steps;
    Ok(Calibrated { value: epochs as f64, epsilon: bound.epsilon, is_end_of_range })
}
