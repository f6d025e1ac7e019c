//! Scores of simulated observations of the batched Gaussian mechanism.

mod draws;
mod fast;
mod fixed;
mod math;
mod moving;
mod program;
mod scores;
mod setup;
mod slots;
mod steps;
mod sums;

pub use draws::Draws;
pub(crate) use fast::additions;
pub use fast::fast_normal_error;
pub(crate) use math::exp2_from_below;
pub(crate) use program::shared_constants;
pub use program::{Piece, Program, STATE_VALUES, Variant, WORKGROUP};
pub use scores::{Phase, ScoreKernel};
pub use setup::{GAPS, MAX_ENTRIES, NOISE_MULTIPLIERS, SAMPLING_RATES};
pub(crate) use sums::Sums;
