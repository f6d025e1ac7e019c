//! A black-box attack on released rows: features of a run, and a forest that tells the worlds apart.

mod audit;
mod distance;
mod features;
mod forest;

pub use audit::{AttackError, AttackOptions, AttackResult, LEAST_RUNS, attack, division};
pub use distance::{Nearness, RowDistance};
pub use features::Features;
pub use forest::{Forest, ForestOptions};
