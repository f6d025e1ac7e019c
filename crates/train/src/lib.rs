//! DP-SGD on many small models at once, with an attacker's canary in place: what an audit of a training
//! procedure observes.
//!
//! A [`Training`] is a network, data, a mechanism and settings; a [`DpSgd`] trains its runs, and is a
//! backend of `dpscope-engine`.

mod canary;
pub mod data;
mod description;
mod error;
#[cfg(feature = "gpu")]
pub mod gpu;
mod gradient;
mod layers;
pub mod model;
mod observed;
mod rate;
mod run;
mod trainer;
mod training;

pub use canary::{Canary, CanaryDirection};
pub use description::{DataDescription, TrainingDescription};
pub use error::TrainError;
pub use gradient::{NormMethod, Rows, Workspace};
pub use layers::{Dual, Scalar};
pub use model::{LayerSpec, ModelError, ModelSpec, Network, Shape};
pub use rate::{RateSearch, search_learning_rate};
pub use trainer::{DpSgd, OutputSink};
pub use training::{Training, TrainingSettings};
