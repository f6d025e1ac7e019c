//! Checks of recorded outputs.

mod fixed_order;
pub mod independence;
mod noise_reuse;
mod noiseless;
mod output_spread;
mod shuffle_window;

pub use fixed_order::StepEffect;
pub use noise_reuse::NoiseReuse;
pub use noiseless::is_noiseless;
pub use output_spread::OutputSpread;
pub use shuffle_window::{ShuffleEvidence, ShuffleWindow};
