//! Errors in records of steps.

use crate::adjacency::Adjacency;
use crate::format::given;

/// An invalid record of steps.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepRecordError {
    /// A number outside its domain.
    #[error("{field} is {}; it must be {allowed}", given(*.value))]
    Number {
        /// Path of the field.
        field: String,
        /// Its value.
        value: f64,
        /// Its domain.
        allowed: &'static str,
    },
    /// A list of a length that other fields exclude.
    #[error("{field} has {entries} entries; it must have {allowed}")]
    Length {
        /// Path of the field.
        field: String,
        /// Number of its entries.
        entries: usize,
        /// Allowed numbers.
        allowed: String,
    },
    /// A relation that is not replayed, or replayed twice.
    #[error(
        "{field} is {}; it must be zero-out or add-remove, each once",
        match .adjacency {
            Adjacency::AddRemove => "add-remove",
            Adjacency::Replace => "replace",
            Adjacency::ZeroOut => "zero-out",
        }
    )]
    Adjacency {
        /// Path of the field.
        field: String,
        /// Its value.
        adjacency: Adjacency,
    },
    /// No noise multiplier is stated.
    #[error("the noise multiplier of step {step} is unknown; pass noise_multiplier")]
    UnknownNoise {
        /// The first step without one.
        step: usize,
    },
}
