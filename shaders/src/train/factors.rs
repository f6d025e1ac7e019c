//! Clipping factors: the kernel of `factors.wgsl`.

use super::kernel::Kernel;
use super::memory::Common;
use super::norms::{SquaredNorm, of_rows};
use crate::wgsl::wgsl;

/// The kernel of the clipping factors of all rows.
///
/// # Reference
/// Goodfellow, "Efficient per-example gradient computations" (2015), arXiv:1510.01799.
#[must_use]
pub fn factors(common: &Common, layers: &[SquaredNorm], clip_norm: f32) -> Kernel {
    let (builder, words) = of_rows(common, "factors", layers);
    builder
        .float("CLIP_NORM", clip_norm)
        .float("DOWN", 1.0 - 1.0 / 262_144.0)
        .part(wgsl!("factors.wgsl"))
        .finish(2 * words * u64::from(common.rows))
}
