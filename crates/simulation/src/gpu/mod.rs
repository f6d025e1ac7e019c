//! The programs of `dpscope-shaders` on the devices of `dpscope-engine`.
#![cfg_attr(
    target_arch = "wasm32",
    expect(clippy::arc_with_non_send_sync, reason = "a browser's GPU stays on its thread")
)]

mod backend;
mod counting;
mod device;
mod device_program;
#[cfg_attr(target_arch = "wasm32", path = "directions_absent.rs")]
mod directions;
#[cfg_attr(target_arch = "wasm32", path = "pair_absent.rs")]
mod pair;
mod pieces;
mod record;
mod self_test;
mod source;
#[cfg_attr(target_arch = "wasm32", path = "spirv_absent.rs")]
mod spirv;

pub use backend::GpuBackend;
pub(crate) use counting::Work;
pub use counting::{GpuCounting, SubmittedWave};
pub(crate) use pair::GpuPair;
#[doc(hidden)]
pub use pieces::PieceLimits;
