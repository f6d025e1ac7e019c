//! Pooling and activations that follow no layer with weights: the kernels of `pooling.wgsl`.

use super::convolution::Picture;
use super::kernel::{Kernel, WORKGROUP};
use super::memory::{Common, Stage};
use crate::wgsl::wgsl;

/// What becomes of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// Each value by itself: for its activation alone.
    Identity,
    /// Its mean.
    Average,
    /// Its maximum.
    Maximum,
}

/// A layer without weights on R rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolingLayer {
    /// Where its numbers lie.
    pub stage: Stage,
    /// What becomes of a block.
    pub pooling: Pooling,
    /// What comes in.
    pub input: Picture,
    /// The side of a block, 1 where there are none.
    pub size: u32,
}

impl PoolingLayer {
    /// Outputs from inputs.
    #[must_use]
    pub fn forward(&self, common: &Common) -> Kernel {
        self.kernel(common, true)
    }

    /// Slopes by the inputs from those by the outputs.
    #[must_use]
    pub fn slopes(&self, common: &Common) -> Kernel {
        self.kernel(common, false)
    }

    fn kernel(&self, common: &Common, forward: bool) -> Kernel {
        let values = if forward { self.stage.outputs } else { self.stage.inputs };
        let threads = u64::from(values) * u64::from(common.rows);
        let name = if forward { "pooling forward" } else { "pooling slopes" };
        let Picture { height, width, .. } = self.input;
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
