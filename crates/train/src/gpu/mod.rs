//! DP-SGD on a GPU: waves of models that are trained together, with all parameters in device
//! memory. The CPU trainer is the reference of the self-test and the fallback.

mod cut;
#[cfg(not(target_arch = "wasm32"))] // threads wait for the device
mod derivatives;
mod device;
mod federated;
mod host_rows;
mod one_run;
mod pipelines;
#[doc(hidden)] // for tests of the kernels
pub mod plan;
mod self_test;
mod size;
mod subject;
mod trainer;
mod wave;

#[cfg(not(target_arch = "wasm32"))]
pub use derivatives::GpuDerivatives;
pub use federated::FederatedQueue;
pub(crate) use federated::GpuFederated;
pub(crate) use one_run::GpuOneRun;
pub use one_run::OneRunQueue;
#[doc(hidden)]
pub use pipelines::SourceEdit;
#[doc(hidden)]
pub use size::WaveLimits;
pub use trainer::{GpuDpSgd, OpenError, TrainingQueue};
