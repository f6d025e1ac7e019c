//! DP-SGD on a GPU: waves of models that are trained together, their parameters resident, with the CPU
//! trainer as twin and as stand-in.

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
pub use trainer::{GpuDpSgd, OpenError};
