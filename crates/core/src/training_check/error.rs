//! Why a set-up cannot be checked.

use crate::audit::claim::ClaimError;
use crate::format::given;
use crate::mechanism::MechanismError;

/// A description that no training run has.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrainingError {
    /// An argument outside its domain.
    #[error("{name} is {}; it must be {allowed}", given(*.value))]
    Argument {
        /// Name of the argument.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Its domain.
        allowed: &'static str,
    },
    /// A batch that holds more records than there are.
    #[error(
        "batch_size is {batch_size} and dataset_size is {dataset_size}; a batch contains at most \
         all records"
    )]
    BatchLargerThanData {
        /// B.
        batch_size: u64,
        /// N.
        dataset_size: u64,
    },
    /// A field that is needed.
    #[error("{name} is missing; add it")]
    Missing {
        /// Name of the field.
        name: &'static str,
    },
    /// A detail of noise without its standard deviation.
    #[error("{name} is set without noise_std; set noise_std as well, or leave it out")]
    WithoutNoise {
        /// Name of the field.
        name: &'static str,
    },
    /// A buffered loader without its size, or a size for a loader without a buffer.
    #[error(transparent)]
    Sampler(#[from] MechanismError),
    /// A claim that is none.
    #[error(transparent)]
    Claim(#[from] ClaimError),
}

/// Refuses a number outside `low` to `high`, and NaN.
pub(super) fn within(
    name: &'static str,
    value: f64,
    [low, high]: [f64; 2],
    allowed: &'static str,
) -> Result<(), TrainingError> {
    if value >= low && value <= high {
        return Ok(());
    }
    Err(TrainingError::Argument { name, value, allowed })
}
