//! GPUs through wgpu: adapters, open devices and submissions. Kernels belong to workloads.

mod adapter;
mod open;
mod reopening;
mod submissions;

pub use adapter::{Adapter, AdapterFacts, adapters, find, preferred};
pub use open::{CAUGHT_PANIC, OpenDevice, Reading};
pub use reopening::Reopening;
pub use submissions::{Completion, SubmissionPace, SubmissionQueue};
