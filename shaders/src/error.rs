//! Errors of the score kernels.

use dpscope_core::format::given;
/// A law that the kernel does not simulate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// Noise multiplier outside [`crate::bgm::NOISE_MULTIPLIERS`].
    #[error("noise_multiplier must be between 0.001 and 10000, and is {}", given(*.value))]
    NoiseMultiplier {
        /// What was given.
        value: f64,
    },
    /// No epoch.
    #[error("epochs must be at least 1, and is 0")]
    Epochs,
    /// No entry, or too many for the sums in f32.
    #[error("entries must be between 1 and 16777216, and is {value}")]
    Entries {
        /// What was given.
        value: u32,
    },
    /// A gap below 1 (c − b < 0) or too large for f32.
    #[error("gap must be between 1 and 1000000, and is {}", given(*.value))]
    Gap {
        /// What was given.
        value: f64,
    },
    /// An inclusion probability outside the unit interval, or below what a 32-bit word resolves.
    #[error("sampling_rate must be between 1e-9 and 1, and is {}", given(*.value))]
    SamplingRate {
        /// What was given.
        value: f64,
    },
    /// Not one weight an entry.
    #[error("weights must hold one value for each of the {entries} entries, and hold {weights}")]
    WeightCount {
        /// Weights given.
        weights: usize,
        /// Entries of the law.
        entries: u32,
    },
    /// A slot that the target cannot fall in, or a weight that is no probability.
    #[error("weights must be above 0 and at most 1, and weight {index} is {}", given(*.value))]
    Weight {
        /// Place of the weight, from 0.
        index: usize,
        /// What was given.
        value: f64,
    },
    /// Noise of the exact pair at which exponents leave the range of f32.
    #[error("noise_multiplier must be between 0.01 and 10000, and is {}", given(*.value))]
    PairNoiseMultiplier {
        /// What was given.
        value: f64,
    },
    /// Epochs of the exact pair that are too short, or too long for sums in f32.
    #[error("steps_per_epoch must be between 2 and 65536, and is {value}")]
    PairSteps {
        /// What was given.
        value: usize,
    },
    /// A proposal of too many components.
    #[error("a proposal must have at most 16 components, and has {value}")]
    Components {
        /// What was given.
        value: usize,
    },
    /// Weights that are no probabilities together.
    #[error("the weights' total must be at most 1, and is {}", given(*.value))]
    WeightTotal {
        /// The total.
        value: f64,
    },
}

/// The caller's `keep_going` said no; the output holds no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;
