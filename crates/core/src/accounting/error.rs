//! Why nothing could be accounted.

/// An argument outside the domain of an accountant.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountingError {
    /// An argument outside its domain.
    #[error("{name} is {value}; it must be {allowed}")]
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
        "the privacy loss would need {points:.0} grid points of at most {most}; ask for a larger \
         error, or fewer steps or epochs"
    )]
    Grid {
        /// Points that the wanted error needs.
        points: f64,
        /// Most points.
        most: usize,
    },
    /// No value of the wanted argument reaches the target.
    #[error("no {name} between {low} and {high} gives epsilon = {epsilon} at delta = {delta}")]
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
