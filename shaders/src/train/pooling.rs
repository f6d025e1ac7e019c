//! Pooling, and activations that do not follow a layer with weights: the kernels of `pooling.wgsl`.

use super::convolution::ImageShape;
use super::kernel::{Kernel, WORKGROUP};
use super::memory::{Common, LayerMemory};
use crate::wgsl::wgsl;

/// Type of pooling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// None: only the activation is applied.
    Identity,
    /// Mean of each block.
    Average,
    /// Maximum of each block.
    Maximum,
}

/// A layer without weights on R rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolingLayer {
    /// Memory layout.
    pub stage: LayerMemory,
    /// Type of pooling.
    pub pooling: Pooling,
    /// Shape of the input.
    pub input: ImageShape,
    /// Side of a block, 1 without pooling.
    pub size: u32,
}

impl PoolingLayer {
    /// Forward pass.
    #[must_use]
    pub fn forward(&self, common: &Common) -> Kernel {
        self.kernel(common, true)
    }

    /// Gradient with respect to the inputs.
    #[must_use]
    pub fn input_gradient(&self, common: &Common) -> Kernel {
        self.kernel(common, false)
    }

    fn kernel(&self, common: &Common, forward: bool) -> Kernel {
        let values = if forward { self.stage.outputs } else { self.stage.inputs };
        let threads = u64::from(values) * u64::from(common.rows);
        let name = if forward { "pooling forward" } else { "pooling input_gradient" };
        let ImageShape { height, width, .. } = self.input;
        let square = self.size * self.size;
        self.stage
            .draft(common, name, threads.div_ceil(WORKGROUP.into()))
            .flag("FORWARD", forward)
            .float("SHARE", 1.0 / square as f32)
            .constants(&[
                ("KIND", self.pooling as u32),
                ("SIZE", self.size),
                ("HEIGHT", height),
                ("WIDTH", width),
                ("HEIGHT_OUT", height / self.size),
                ("WIDTH_OUT", width / self.size),
            ])
            .part(wgsl!("pooling.wgsl"))
            .finish(threads * u64::from(square) * 2)
    }
}
