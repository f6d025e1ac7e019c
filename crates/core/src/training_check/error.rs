//! Errors in descriptions of trainings.

use std::borrow::Cow;
use std::fmt;

use crate::audit::claim::ClaimError;
use crate::format::given;
use crate::mechanism::MechanismError;

/// An invalid description of a training.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TrainingError {
    /// A field outside its domain.
    Argument {
        /// Name of the field.
        name: &'static str,
        /// Its value.
        value: f64,
        /// Its domain.
        allowed: Cow<'static, str>,
    },
    /// More than 10⁹ batches per epoch, or none.
    Batches {
        /// N/B, rounded as the loader does.
        value: f64,
    },
    /// Noise in the code that is outside the domain of the noise multiplier.
    DrawnNoise {
        /// σ that follows from it.
        noise_multiplier: f64,
    },
    /// A batch size above the size of the data set.
    BatchLargerThanData {
        /// Batch size B.
        batch_size: u64,
        /// Number of records N.
        dataset_size: u64,
    },
    /// A required field that is missing.
    Missing {
        /// Name of the field.
        name: &'static str,
    },
    /// A required field that is missing, although the call of the loader has it.
    MissingButInCall {
        /// Name of the field.
        name: &'static str,
        /// The argument, as in code.
        argument: String,
    },
    /// An argument in the call of the loader that the fields contradict.
    Contradicted {
        /// The argument, as in code.
        argument: String,
        /// Names of the fields; of two, the first is divided by the second.
        names: &'static [&'static str],
        /// What the fields say.
        value: String,
    },
    /// Two fields that exclude each other.
    Both {
        /// Names of the fields.
        names: [&'static str; 2],
    },
    /// A parameter that batches of no sampler have.
    Unused {
        /// Name of the field.
        name: &'static str,
    },
    /// A field of the noise without its standard deviation.
    WithoutNoise {
        /// Name of the field.
        name: &'static str,
    },
    /// A parameter of the sampler that is missing, invalid, or of another one.
    Sampler(MechanismError),
    /// An invalid claim.
    Claim(ClaimError),
}

impl TrainingError {
    /// The message, with the fields as `name` calls them.
    ///
    /// # Example
    /// ```
    /// use dpscope_core::training_check::TrainingError;
    /// let missing = TrainingError::Missing { name: "max_batch_size" };
    /// let options = missing.in_terms_of(|field| format!("--{}", field.replace('_', "-")));
    /// assert_eq!(options, "--max-batch-size is missing; add it");
    /// ```
    pub fn in_terms_of(&self, name: impl Fn(&'static str) -> String) -> String {
        match self {
            TrainingError::Argument { name: field, value, allowed } => {
                format!("{} is {}; it must be {allowed}", name(field), given(*value))
            }
            TrainingError::Batches { value } => format!(
                "{} / {} is {}; it must be at most 1e9 batches per epoch",
                name("dataset_size"),
                name("batch_size"),
                given(*value)
            ),
            TrainingError::DrawnNoise { noise_multiplier } => format!(
                "the noise multiplier of {} is {}; it must be in 1e-6 to 10000: check also {} and {}",
                name("noise_std"),
                given(*noise_multiplier),
                name("clip_norm"),
                name("noise_on")
            ),
            TrainingError::BatchLargerThanData { batch_size, dataset_size } => format!(
                "{} is {batch_size} and {} is {dataset_size}; a batch cannot have more records than the \
                 data set",
                name("batch_size"),
                name("dataset_size")
            ),
            TrainingError::Missing { name: field } => format!("{} is missing; add it", name(field)),
            TrainingError::MissingButInCall { name: field, argument } => {
                format!("{} is missing; add it: the loader has `{argument}`", name(field))
            }
            TrainingError::Contradicted { argument, names, value } => {
                let names: Vec<String> = names.iter().map(|field| name(field)).collect();
                format!(
                    "the loader has `{argument}`, but {} is {value}; correct one of them, or leave \
                     the argument out of the call",
                    names.join(" / ")
                )
            }
            TrainingError::Both { names: [one, other] } => {
                format!("{} and {} exclude each other; leave one out", name(one), name(other))
            }
            TrainingError::Unused { name: field } => {
                format!(
                    "{} has no meaning for the batches of this loader; leave it out",
                    name(field)
                )
            }
            TrainingError::WithoutNoise { name: field } => format!(
                "{} has no effect without {}; set both, or leave it out",
                name(field),
                name("noise_std")
            ),
            TrainingError::Sampler(error) => error.in_terms_of(name),
            TrainingError::Claim(error) => error.to_string(),
        }
    }
}

impl fmt::Display for TrainingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_terms_of(str::to_owned))
    }
}

impl std::error::Error for TrainingError {}

impl From<MechanismError> for TrainingError {
    fn from(error: MechanismError) -> Self {
        TrainingError::Sampler(error)
    }
}

impl From<ClaimError> for TrainingError {
    fn from(error: ClaimError) -> Self {
        TrainingError::Claim(error)
    }
}

/// Refuses a number outside `low` to `high`, and NaN.
pub(super) fn within(
    name: &'static str,
    value: f64,
    [low, high]: [f64; 2],
    allowed: impl Into<Cow<'static, str>>,
) -> Result<(), TrainingError> {
    if value >= low && value <= high {
        return Ok(());
    }
    Err(TrainingError::Argument { name, value, allowed: allowed.into() })
}
