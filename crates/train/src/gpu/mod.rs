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
mod queue;
mod self_test;
mod size;
mod subject;
mod training;
mod watch;
mod wave;

#[cfg(not(target_arch = "wasm32"))]
pub use derivatives::GpuDerivatives;
pub(crate) use device::WaveDevice;
#[doc(hidden)]
pub use pipelines::SourceEdit;
#[doc(hidden)] // sealed: its methods need the kernels of this crate
pub use queue::OnDevice;
pub use queue::{ModelsQueue, OpenError, default_memory_bytes};
#[doc(hidden)]
pub use size::WaveLimits;
