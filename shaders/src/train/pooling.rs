//! Layers without weights: pooling, functions of single values, and activations that do not follow
//! a layer with weights: the kernels of `pooling.wgsl`.

use super::convolution::ImageShape;
use super::kernel::{Kernel, WORKGROUP};
use super::memory::{Common, LayerMemory};
use crate::wgsl::wgsl;

/// 1/√(2π).
const FRAC_1_SQRT_2PI: f32 = 0.398_942_3;

/// What a layer without weights computes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pooling {
    /// None: only the activation is applied.
    Identity,
    /// Mean of each block.
    Average,
    /// Maximum of each block.
    Maximum,
    /// x·Φ(x).
    Gelu,
    /// ln(1 + e^x).
    Softplus,
    /// x times a constant.
    Scale(f32),
}

impl Pooling {
    /// Number of the kind in the kernel.
    fn kind(self) -> u32 {
        match self {
            Pooling::Identity => 0,
            Pooling::Average => 1,
            Pooling::Maximum => 2,
            Pooling::Gelu => 3,
            Pooling::Softplus => 4,
            Pooling::Scale(_) => 5,
        }
    }

    /// Floating-point operations per value.
    fn operations(self) -> u64 {
        match self {
            Pooling::Gelu | Pooling::Softplus => 60,
            _ => 2,
        }
    }
}

/// A layer without weights on R rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolingLayer {
    /// Memory layout.
    pub stage: LayerMemory,
    /// What it computes.
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
        let factor = match self.pooling {
            Pooling::Scale(factor) => factor,
            _ => 1.0 / square as f32,
        };
        self.stage
            .draft(common, name, threads.div_ceil(WORKGROUP.into()))
            .flag("FORWARD", forward)
            .float("FACTOR", factor)
            .float("SQRT_HALF", std::f32::consts::FRAC_1_SQRT_2)
            .float("NORMAL_AT_0", FRAC_1_SQRT_2PI)
            .constants(&[
                ("KIND", self.pooling.kind()),
                ("SIZE", self.size),
                ("HEIGHT", height),
                ("WIDTH", width),
                ("HEIGHT_OUT", height / self.size),
                ("WIDTH_OUT", width / self.size),
            ])
            .part(wgsl!("pooling.wgsl"))
            .finish(threads * u64::from(square) * self.pooling.operations())
    }
}
