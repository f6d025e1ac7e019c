//! The exact pair of a shuffled run: sums over epochs that are drawn from a proposal.

mod draws;
mod error;
mod program;

pub use draws::{MOST_STEPS, PairKernel, VALUES};
pub use program::PairProgram;
