//! Importance sampling of the exact pair of a shuffled run: sums over epochs drawn from a proposal.

mod draws;
mod error;
mod program;

pub use draws::{MAX_STEPS, PairKernel, VALUES};
pub use program::PairProgram;
