//! Errors of plans.

use dpscope_core::audit::one_shot::OneShotError;
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
    /// Dimension of a noisy sum.
    #[error("dimension is {dimension}; it must be from {least} to {most}")]
    Dimension {
        /// The value.
        dimension: u64,
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// Noise of a sum.
    #[error("noise multiplier is {}; it must be from 0 to 1e6", given(*.noise_multiplier))]
    NoiseMultiplier {
        /// The value.
        noise_multiplier: f64,
    },
    /// Too little noise and too few canaries for the joint distribution of their cosines.
    #[error(
        "noise multiplier is {}: with so little noise and so few canaries their cosines must be drawn \
         in full dimension", given(*.noise_multiplier)
    )]
    SmallSum {
        /// The value.
        noise_multiplier: f64,
    },
    /// Canaries of a simulated run.
    #[error("design has {} canaries on average; a simulated run has at most 1e6", given(*.mean))]
    ManyCanaries {
        /// Their mean number.
        mean: f64,
    },
    /// Runs of a plan.
    #[error("repeats is {repeats}; it must be from 1 to 100000")]
    Repeats {
        /// The value.
        repeats: u64,
    },
    /// How the number of canaries is drawn, or the statement.
    #[error(transparent)]
    OneShot(#[from] OneShotError),
    /// Parameters of the mechanism.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}
