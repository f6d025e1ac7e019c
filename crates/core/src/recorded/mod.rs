//! Checks of recorded outputs.

mod batch_mean;
mod canary;
mod fixed_order;
pub mod independence;
mod noise_reuse;
mod noiseless;
mod output_spread;
mod shuffle_window;

pub use batch_mean::OtherBatchMean;
pub use canary::{CanaryEstimate, CanarySize};
pub use fixed_order::StepEffect;
pub use noise_reuse::NoiseReuse;
pub use noiseless::is_noiseless;
pub use output_spread::OutputSpread;
pub use shuffle_window::{ShuffleEvidence, ShuffleWindow};
