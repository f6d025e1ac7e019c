//! Why nothing could be accounted.

use crate::format::given;
/// An argument outside the domain of an accountant.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountingError {
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
    /// A grid that would take too much memory.
    #[error(
        "the privacy loss would need {} grid points of at most {most}; ask for a larger \
         error, or fewer steps or epochs",
        given(.points.round())
    )]
    Grid {
        /// Points that the wanted error needs.
        points: f64,
        /// Most points.
        most: usize,
    },
    /// No value of the wanted argument reaches the target.
    #[error(
        "no {name} between {} and {} gives epsilon = {} at delta = {}",
        given(*.low), given(*.high), given(*.epsilon), given(*.delta)
    )]
    Unreachable {
        /// What is calibrated.
        name: &'static str,
        /// Lowest value tried.
        low: f64,
        /// Highest value tried.
        high: f64,
        /// Target ε, nats.
        epsilon: f64,
        /// Target δ.
        delta: f64,
    },
}

/// An argument outside its domain.
pub(super) fn argument(name: &'static str, value: f64, allowed: &'static str) -> AccountingError {
    AccountingError::Argument { name, value, allowed }
}
