//! Why an accountant has no answer.

use std::borrow::Cow;

use super::Kind;
use crate::adjacency::Directions;
use crate::format::given;

/// Why an accountant has no answer.
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
        allowed: Cow<'static, str>,
    },
    /// A grid that would take too much memory.
    #[error("the privacy loss would need a grid of more than {most} points")]
    Grid {
        /// Points that the required error would need.
        points: f64,
        /// Maximum number of points.
        most: usize,
    },
    /// No finite ε reaches this δ.
    #[error(
        "delta is {}; it must be larger: no finite epsilon is proven at this delta",
        given(*.delta)
    )]
    Infinite {
        /// The δ that no finite ε reaches.
        delta: f64,
    },
    /// The accountant has no value of this kind or direction.
    #[error("this accountant has no {} value, directions {directions:?}", .kind.name())]
    NoValue {
        /// The side of the query.
        kind: Kind,
        /// The directions of the query.
        directions: Directions,
    },
    /// No value of the calibrated parameter reaches the target.
    #[error(
        "no {name} between {} and {} reaches epsilon = {} at delta = {}",
        given(*.low), given(*.high), given(*.epsilon), given(*.delta)
    )]
    Unreachable {
        /// The calibrated parameter.
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
    /// The accountant does not calibrate this parameter.
    #[error("this accountant does not calibrate {name}")]
    NotCalibrated {
        /// The parameter.
        name: &'static str,
    },
}

/// Refuses a noise multiplier or a sampling rate outside the domain of what draws each step anew.
pub(super) fn check_noise_and_rate(
    noise_multiplier: f64,
    sampling_rate: f64,
) -> Result<(), AccountingError> {
    if !(0.01..=1e4).contains(&noise_multiplier) {
        return Err(argument("noise_multiplier", noise_multiplier, "in [0.01, 10000]"));
    }
    if !(1e-9..=1.0).contains(&sampling_rate) {
        return Err(argument("sampling_rate", sampling_rate, "in [1e-9, 1]"));
    }
    Ok(())
}

/// An argument outside its domain.
pub(super) fn argument(
    name: &'static str,
    value: f64,
    allowed: impl Into<Cow<'static, str>>,
) -> AccountingError {
    AccountingError::Argument { name, value, allowed: allowed.into() }
}

/// Whether an error means that a grid would be too large for this noise.
pub(super) fn is_of_the_grid(reason: &AccountingError) -> bool {
    matches!(
        reason,
        AccountingError::Grid { .. } | AccountingError::Argument { name: "noise_multiplier", .. }
    )
}
