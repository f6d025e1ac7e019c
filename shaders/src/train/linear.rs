//! Linear layers as matrix products: the kernels of `linear.wgsl`.

use super::kernel::Kernel;
use super::memory::{Common, LayerMemory};
use super::products::{Along, Product, ProductFunctions, Tile};
use crate::wgsl::wgsl;

/// A linear layer on R rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearLayer {
    /// Memory layout.
    pub stage: LayerMemory,
}

impl LinearLayer {
    /// Forward pass.
    #[must_use]
    pub fn forward(&self, common: &Common) -> Kernel {
        let LayerMemory { inputs, outputs, .. } = self.stage;
        let parts = ProductFunctions {
            name: "forward",
            left: Along::Terms,
            right: Along::Terms,
            has_end: false,
        };
        self.kernel(common, [common.rows, outputs, inputs], &parts)
    }

    /// Gradient with respect to the inputs.
    #[must_use]
    pub fn input_gradient(&self, common: &Common) -> Kernel {
        let LayerMemory { inputs, outputs, .. } = self.stage;
        let parts = ProductFunctions {
            name: "input_gradient",
            left: Along::Terms,
            right: Along::Tile,
            has_end: false,
        };
        self.kernel(common, [common.rows, inputs, outputs], &parts)
    }

    /// Sum of clipped gradients, Σ factor·gradient over the rows.
    #[must_use]
    pub fn sums(&self, common: &Common) -> Kernel {
        let LayerMemory { inputs, outputs, .. } = self.stage;
        let parts = ProductFunctions {
            name: "sums",
            left: Along::Tile,
            right: Along::Tile,
            has_end: false,
        };
        self.kernel(common, [outputs, inputs + 1, common.rows], &parts)
    }

    fn kernel(&self, common: &Common, sizes: [u32; 3], parts: &ProductFunctions) -> Kernel {
        let [rows, columns, terms] = sizes.map(u64::from);
        let product = Product { rows, columns, terms, count: 1 };
        let tile = Tile::of(&product, common.numbers);
        let name = format!("linear {}", parts.name);
        let builder = self.stage.draft(common, &name, tile.count(&product));
        tile.kernel(builder.part(wgsl!("linear.wgsl")), &product, parts)
    }
}
