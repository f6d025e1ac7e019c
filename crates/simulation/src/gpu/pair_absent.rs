//! A browser's GPU responds only after the calling function returns, but sampling the exact pair is
//! synchronous, so the CPU draws.

use std::marker::PhantomData;

use dpscope_engine::{Control, UnitRange};
use dpscope_shaders::PairKernel;
use dpscope_shaders::pair::VALUES;

use super::GpuBackend;

/// The drawing of nothing.
pub(crate) struct GpuPair<'a>(PhantomData<&'a GpuBackend>);

impl GpuBackend {
    pub(crate) fn pair<'a>(&'a self, _: &PairKernel) -> GpuPair<'a> {
        GpuPair(PhantomData)
    }
}

impl GpuPair<'_> {
    /// No values.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn values(
        &mut self,
        _: &PairKernel,
        _: UnitRange,
        _: &dyn Control,
    ) -> Result<Vec<[u32; VALUES]>, String> {
        Err("a browser's GPU cannot be waited for here".to_owned())
    }
}
