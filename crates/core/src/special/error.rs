//! Errors of the special functions.

use crate::format::given;
/// An argument outside the domain of a special function.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecialError {
    /// A probability outside the open interval (0, 1), or NaN.
    #[error("{name} = {}: must lie strictly between 0 and 1", given(*.value))]
    Probability {
        /// Name of the argument.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A point outside [0, 1], or NaN.
    #[error("{name} = {}: must lie in [0, 1]", given(*.value))]
    Unit {
        /// Name of the argument.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A shape of a beta distribution outside its domain, or NaN.
    #[error("{name} = {}: must lie in [0.5, 2e19]", given(*.value))]
    Shape {
        /// Name of the argument.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// An argument that must be positive and finite is not, or is NaN.
    #[error("{name} = {}: must be positive and finite", given(*.value))]
    Positive {
        /// Name of the argument.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// The logarithm of a probability is not negative and finite, or is NaN.
    #[error(
        "{name} = {}: the logarithm of a probability must be negative and finite",
        given(*.value)
    )]
    LnProbability {
        /// Name of the argument.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// More events than trials.
    #[error("events = {events}: there are only {trials} trials")]
    Events {
        /// Number of events.
        events: u64,
        /// Number of trials.
        trials: u64,
    },
}
