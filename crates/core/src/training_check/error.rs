//! Errors in descriptions of trainings.

use crate::audit::claim::ClaimError;
use crate::format::given;
use crate::mechanism::MechanismError;

/// An invalid description of a training.
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
    /// A batch size above the size of the data set.
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
    /// A required field that is missing.
    #[error("{name} is missing; add it")]
    Missing {
        /// Name of the field.
        name: &'static str,
    },
    /// Two fields that exclude each other.
    #[error("{} and {} exclude each other; leave one out", .names[0], .names[1])]
    Both {
        /// Names of the fields.
        names: [&'static str; 2],
    },
    /// A buffer for batches without one.
    #[error("buffer_examples is set, but the loader has no buffer of records; leave it out")]
    BufferUnused,
    /// A maximum batch size for batches that are not truncated.
    #[error("max_batch_size is set, but the loader does not truncate batches; leave it out")]
    MaxBatchSizeUnused,
    /// A field of the noise without its standard deviation.
    #[error("{name} is set without noise_std; set noise_std as well, or leave it out")]
    WithoutNoise {
        /// Name of the field.
        name: &'static str,
    },
    /// A buffered loader without a buffer size, or a buffer size for another loader.
    #[error(transparent)]
    Sampler(#[from] MechanismError),
    /// An invalid claim.
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
