//! A browser's GPU responds only after the calling function returns, but directions are multiplied
//! synchronously, so the CPU multiplies them.

use std::marker::PhantomData;
use std::ops::Range;

use dpscope_engine::Control;

use super::GpuBackend;
use crate::directions::Products;

/// The multiplication of nothing.
pub(crate) struct GpuDirections<'a>(PhantomData<&'a GpuBackend>);

impl GpuBackend {
    pub(crate) fn directions(&self, _: u64) -> GpuDirections<'_> {
        GpuDirections(PhantomData)
    }
}

impl GpuDirections<'_> {
    /// No products.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn add(
        &mut self,
        _: Range<u64>,
        _: &[f32],
        _: &mut [Products],
        _: &dyn Control,
    ) -> Result<(), String> {
        Err("a browser's GPU cannot be waited for here".to_owned())
    }
}
