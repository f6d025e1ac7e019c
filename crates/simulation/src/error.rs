//! Errors of plans.

use dpscope_core::format::given;
use dpscope_core::mechanism::MechanismError;

/// An invalid plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Observations count both worlds together.
    #[error(
        "observations is {observations}; it counts both worlds together and must be even, from 2 \
         to 2^53"
    )]
    Observations {
        /// The value.
        observations: u64,
    },
    /// Too few observations to halve each world.
    #[error(
        "observations is {observations}, one in each world, and the rule split halves each world; \
         use at least 4"
    )]
    SplitObservations {
        /// The value.
        observations: u64,
    },
    /// δ of an audit.
    #[error(
        "delta is {}; it must lie strictly between 0 and 1, e.g. 1e-5{}", given(*.delta),
        if *.delta == 0.0 { ": Gaussian noise has no finite epsilon at delta 0" } else { "" }
    )]
    Delta {
        /// The value.
        delta: f64,
    },
    /// Significance of an audit.
    #[error(
        "significance is {}; it must lie strictly between 0 and 1, e.g. 0.05",
        given(*.significance)
    )]
    Significance {
        /// The value.
        significance: f64,
    },
    /// Cuts of the simultaneous rule.
    #[error("cuts is {cuts}; it must be 1 to 64")]
    Cuts {
        /// The value.
        cuts: u32,
    },
    /// A seed that does not fit a JSON number.
    #[error("seed is {seed}; it must be below 2^53")]
    Seed {
        /// The value.
        seed: u64,
    },
    /// A rule that simulations do not support.
    #[error("simulations do not support the threshold rule `fixed`; use simultaneous or split")]
    Rule,
    /// Parameters of the mechanism.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}
