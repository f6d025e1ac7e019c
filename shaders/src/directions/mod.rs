//! Products of canary directions with the change of a model, by blocks.

mod products;
mod program;

pub use products::{BLOCK, SUMS, add_running_sums, running_sums};
pub use program::DirectionProgram;
