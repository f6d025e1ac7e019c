//! Checks of recorded outputs.

pub mod independence;
mod output_spread;
mod shuffle_window;

pub use output_spread::OutputSpread;
pub use shuffle_window::{ShuffleEvidence, ShuffleWindow};
