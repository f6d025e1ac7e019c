//! Errors of the score kernels.

use dpscope_core::format::given;
/// Arguments outside the domain of a kernel.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// Noise multiplier outside [`crate::bgm::NOISE_MULTIPLIERS`].
    #[error("noise_multiplier is {}; it must be between 0.001 and 10000", given(*.value))]
    NoiseMultiplier {
        /// The invalid value.
        value: f64,
    },
    /// No epochs.
    #[error("epochs is 0; it must be at least 1")]
    Epochs,
    /// No entries, or too many for f32 sums.
    #[error("entries is {value}; it must be between 1 and 16777216")]
    Entries {
        /// The invalid value.
        value: u32,
    },
    /// A gap below 1 (c − b < 0) or too large for f32.
    #[error("gap is {}; it must be between 1 and 1000000", given(*.value))]
    Gap {
        /// The invalid value.
        value: f64,
    },
    /// A sampling rate outside the unit interval or below the resolution of a 32-bit word.
    #[error("sampling_rate is {}; it must be between 1e-9 and 1", given(*.value))]
    SamplingRate {
        /// The invalid value.
        value: f64,
    },
    /// The target in no slot of an epoch, or in more than there are.
    #[error("uses_per_epoch is {value}; it must be between 1 and {entries}, the entries")]
    UsesPerEpoch {
        /// The invalid value.
        value: u32,
        /// Number of entries.
        entries: u32,
    },
    /// Wrong number of weights.
    #[error("{weights} weights are given for {entries} entries; there must be one per entry")]
    WeightCount {
        /// Number of weights.
        weights: usize,
        /// Number of entries.
        entries: u32,
    },
    /// A weight that is not a positive probability.
    #[error("weight {index} is {}; weights must be above 0 and at most 1", given(*.value))]
    Weight {
        /// Index of the weight, from 0.
        index: usize,
        /// The invalid value.
        value: f64,
    },
    /// A noise multiplier of the exact pair at which exponents exceed the range of f32.
    #[error("noise_multiplier is {}; it must be between 0.01 and 10000", given(*.value))]
    PairNoiseMultiplier {
        /// The invalid value.
        value: f64,
    },
    /// Epochs of the exact pair that are too short, or too long for f32 sums.
    #[error("steps_per_epoch is {value}; it must be between 2 and 65536")]
    PairSteps {
        /// The invalid value.
        value: usize,
    },
    /// Too many components of a proposal.
    #[error("the proposal has {value} components; at most 16 are supported")]
    Components {
        /// The invalid value.
        value: usize,
    },
    /// Weights whose sum exceeds 1.
    #[error("the sum of the weights is {}; it must be at most 1", given(*.value))]
    WeightTotal {
        /// The sum.
        value: f64,
    },
}

/// The caller's `keep_going` returned false; there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;
