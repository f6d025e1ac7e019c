//! GPUs through wgpu: the programs of `dpscope-shaders` on whatever adapter there is.
#![cfg_attr(
    target_arch = "wasm32",
    expect(clippy::arc_with_non_send_sync, reason = "a browser's GPU stays on its thread")
)]

mod adapter;
mod backend;
mod counting;
mod device;
mod device_program;
mod open;
#[cfg_attr(target_arch = "wasm32", path = "pair_absent.rs")]
mod pair;
mod pieces;
mod record;
mod self_test;
mod source;
#[cfg_attr(target_arch = "wasm32", path = "spirv_absent.rs")]
mod spirv;
mod stages;
mod submissions;

pub use adapter::{Adapter, AdapterFacts, adapters, find, preferred};
pub use backend::{GpuBackend, REOPENINGS};
pub(crate) use counting::{GpuCounting, Wave};
pub use open::{CAUGHT_PANIC, GpuError, OpenDevice, Reading};
pub(crate) use pair::GpuPair;
#[doc(hidden)]
pub use pieces::PieceLimits;
pub use submissions::{Completion, SubmissionPace, SubmissionQueue};
