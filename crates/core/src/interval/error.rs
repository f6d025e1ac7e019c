//! Errors of the interval functions.

use crate::format::given;
/// An argument that no interval can be computed from.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IntervalError {
    /// More events than trials.
    #[error("events = {events}: there are only {trials} trials")]
    Events {
        /// Number of events.
        events: u64,
        /// Number of trials.
        trials: u64,
    },
    /// No trials.
    #[error("trials = 0: a rate needs at least one trial")]
    NoTrials,
    /// A one-sided tail outside (0, 1), or NaN.
    #[error("tail = {}: must lie strictly between 0 and 1", given(*.tail))]
    Tail {
        /// The tail.
        tail: f64,
    },
}
