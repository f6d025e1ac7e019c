//! The browser's GPU.

use dpscope_engine::gpu::{Adapter, adapters};

use crate::failure::{Failure, FailureKind};

/// The first adapter that is hardware, or any if `software` accepts a rasteriser on the CPU.
///
/// # Errors
/// There is none.
pub(crate) async fn found_adapter(software: bool) -> Result<Adapter, Failure> {
    let mut found = adapters().await.into_iter();
    found.find(|adapter| software || adapter.facts().hardware).ok_or_else(|| {
        Failure::of(FailureKind::Device, "no GPU found in this browser; use the CPU")
    })
}
