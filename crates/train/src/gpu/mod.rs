//! DP-SGD on a GPU: waves of models that are trained together, with all parameters in device
//! memory. The CPU trainer is the reference of the self-test and the fallback.

mod cut;
mod host_rows;
mod pipelines;
#[doc(hidden)] // for tests of the kernels
pub mod plan;
mod self_test;
mod size;
mod trainer;
mod wave;

#[doc(hidden)]
pub use size::WaveLimits;
pub use trainer::{GpuDpSgd, OpenError, TrainingQueue};
