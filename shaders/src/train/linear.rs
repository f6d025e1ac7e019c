//! Linear layers as products of matrices: the kernels of `linear.wgsl`.

use super::kernel::Kernel;
use super::memory::{Common, Stage};
use super::products::{Along, Parts, Product, Tile};
use crate::wgsl::wgsl;

/// A linear layer on R rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinearLayer {
    /// Where its numbers lie.
    pub stage: Stage,
}

impl LinearLayer {
    /// Outputs from inputs.
    #[must_use]
    pub fn forward(&self, common: &Common) -> Kernel {
        let Stage { inputs, outputs, .. } = self.stage;
        let parts =
            Parts { name: "forward", left: Along::Terms, right: Along::Terms, has_end: false };
        self.kernel(common, [common.rows, outputs, inputs], &parts)
    }

    /// Slopes by the inputs from those by the outputs.
    #[must_use]
    pub fn slopes(&self, common: &Common) -> Kernel {
        let Stage { inputs, outputs, .. } = self.stage;
        let parts =
            Parts { name: "slopes", left: Along::Terms, right: Along::Tile, has_end: false };
        self.kernel(common, [common.rows, inputs, outputs], &parts)
    }

    /// Σ factor·gradient over the rows.
    #[must_use]
    pub fn sums(&self, common: &Common) -> Kernel {
        let Stage { inputs, outputs, .. } = self.stage;
        let parts = Parts { name: "sums", left: Along::Tile, right: Along::Tile, has_end: false };
        self.kernel(common, [outputs, inputs + 1, common.rows], &parts)
    }

    fn kernel(&self, common: &Common, sizes: [u32; 3], parts: &Parts) -> Kernel {
        let [rows, columns, terms] = sizes.map(u64::from);
        let product = Product { rows, columns, terms, count: 1 };
        let tile = Tile::of(&product);
        let name = format!("linear {}", parts.name);
        let draft = self.stage.draft(common, &name, tile.count(&product));
        tile.kernel(draft.part(wgsl!("linear.wgsl")), &product, parts)
    }
}
