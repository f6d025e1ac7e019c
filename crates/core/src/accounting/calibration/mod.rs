//! Noise, steps or epochs for a target ε and δ.

mod request;
mod search;
mod target;

pub use request::{Calibration, CalibrationError};
pub(crate) use target::error_near;
pub use target::{Calibrated, Parameter, PrivacyTarget, SearchRange};

pub(crate) use search::noise_above;
use search::{EpsilonAt, Search};

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
/// If the target has no error, the accountant's answer at the result, to a query without an error as
/// everywhere else, is at most the target. A noise multiplier has few digits and is shown exactly as it
/// was evaluated.
///
/// # Guarantee
/// ε at the result, rounded up, is at most the target
/// (`tests/oracles/accounting.rs::calibrated_noise_reaches_the_target`) and within the error of it;
/// for steps and epochs, one more would exceed the target or be within the error of it
/// (`tests/oracles/accounting.rs::calibrated_steps_reach_the_target`,
/// `tests/oracles/accounting.rs::calibrated_epochs_reach_the_target`,
/// `tests/oracles/accounting.rs::calibrated_balls_in_bins_reach_the_target`). The accountant's own bound
/// there is at most the target
/// (`tests/agreement/calibration.rs::calibrated_values_pass_their_own_check`).
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
    let range = accountant.search_range(parameter, target, training)?;
    let range = range.ok_or(AccountingError::NotCalibrated { name: parameter.name() })?;
    let search = Search {
        name: parameter.name(),
        target: *target,
        error: target.error.unwrap_or(range.error),
        low: range.low,
        high: range.high,
        whole: parameter != Parameter::Noise,
    };
    let epsilon_at: &EpsilonAt<'_> = &|value, error| {
        let query = Query::upper(parameter.at(training, value), Given::Delta(target.delta));
        let error = error.map(|error| range.query_error(error));
        match accountant.account(&Query { error, ..query }) {
            Ok(bound) => Ok(bound.epsilon),
            Err(AccountingError::Infinite { .. }) => Ok(f64::INFINITY),
            Err(error) => Err(error),
        }
    };
    search.largest(range.start, epsilon_at)
}
