//! Convolutions as implicit matrix products: the kernels of `convolution.wgsl`.

use super::kernel::{Kernel, KernelBuilder};
use super::memory::{Common, LayerMemory};
use super::products::{Along, Product, ProductFunctions, Tile};
use super::saved;
use crate::wgsl::wgsl;

/// Shape of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageShape {
    /// Number of channels.
    pub channels: u32,
    /// Rows per channel.
    pub height: u32,
    /// Values per row.
    pub width: u32,
}

impl ImageShape {
    /// Values per channel.
    #[must_use]
    pub const fn positions(&self) -> u32 {
        self.height * self.width
    }
}

/// A convolution on R rows.
///
/// The squared norm of a per-example gradient is computed from the gradient itself, tile by tile.
/// If the gradient is small compared with the activations it is saved until the clipping factors
/// are known; otherwise it is computed a second time, from the scaled output gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvolutionLayer {
    /// Memory layout.
    pub stage: LayerMemory,
    /// Shape of the input.
    pub input: ImageShape,
    /// Shape of the output.
    pub output: ImageShape,
    /// Side of a window.
    pub kernel: u32,
    /// Distance between windows.
    pub stride: u32,
    /// Zeros added on each side of the input.
    pub padding: u32,
}

/// Gradients are saved if they are at most this many times larger than the activations.
const SAVE_LIMIT: u64 = 3;

impl ConvolutionLayer {
    const fn taps(&self) -> u64 {
        self.input.channels as u64 * self.kernel as u64 * self.kernel as u64
    }

    /// Number of weights and biases.
    #[must_use]
    pub const fn parameters(&self) -> u64 {
        self.output.channels as u64 * (self.taps() + 1)
    }

    /// Words per row of the saved gradients; 0 if they are not saved.
    #[must_use]
    pub const fn saved_words(&self) -> u64 {
        let activations = self.output.channels as u64 * self.output.positions() as u64;
        if self.parameters() <= SAVE_LIMIT * activations { self.parameters() } else { 0 }
    }

    /// Partial sums of squares per row.
    #[must_use]
    pub fn partials(&self, common: &Common) -> u64 {
        let product = self.row_gradients(common);
        Tile::of(&product, common.numbers).count(&product)
    }

    fn row_gradients(&self, common: &Common) -> Product {
        Product {
            rows: self.output.channels.into(),
            columns: self.taps() + 1,
            terms: self.output.positions().into(),
            count: common.rows.into(),
        }
    }

    /// Forward pass.
    #[must_use]
    pub fn forward(&self, common: &Common) -> Kernel {
        let product = Product {
            rows: self.output.channels.into(),
            columns: u64::from(common.rows) * u64::from(self.output.positions()),
            terms: self.taps(),
            count: 1,
        };
        self.product(common, &product, "forward", [Along::Terms, Along::Tile])
    }

    /// Gradient with respect to the inputs.
    #[must_use]
    pub fn input_gradient(&self, common: &Common) -> Kernel {
        let square = u64::from(self.kernel) * u64::from(self.kernel);
        let product = Product {
            rows: self.input.channels.into(),
            columns: u64::from(common.rows) * u64::from(self.input.positions()),
            terms: u64::from(self.output.channels) * square,
            count: 1,
        };
        self.product(common, &product, "input_gradient", [Along::Terms, Along::Tile])
    }

    /// Per-example gradients, saved or not, and sums of their squares.
    #[must_use]
    pub fn gradients(&self, common: &Common) -> Kernel {
        let product = self.row_gradients(common);
        self.product(common, &product, "gradients", [Along::Terms, Along::Tile])
    }

    /// Sum of clipped gradients, Σ factor·gradient over the rows.
    #[must_use]
    pub fn sums(&self, common: &Common) -> Kernel {
        if self.saved_words() > 0 {
            return saved::sums(&self.stage, common, self.parameters());
        }
        self.direct_sums(common)
    }

    /// Sum of clipped gradients, computed without per-example gradients.
    #[must_use]
    pub fn direct_sums(&self, common: &Common) -> Kernel {
        let product = Product {
            terms: u64::from(common.rows) * u64::from(self.output.positions()),
            count: 1,
            ..self.row_gradients(common)
        };
        self.product(common, &product, "sums", [Along::Terms, Along::Tile])
    }

    fn product(
        &self,
        common: &Common,
        product: &Product,
        name: &'static str,
        [left, right]: [Along; 2],
    ) -> Kernel {
        let tile = Tile::of(product, common.numbers);
        let groups = tile.count(product) * product.count;
        let parts = ProductFunctions { name, left, right, has_end: name == "gradients" };
        let builder = self.stage.draft(common, &format!("convolution {name}"), groups);
        tile.kernel(self.constants(builder).part(wgsl!("convolution.wgsl")), product, &parts)
    }

    fn constants(&self, builder: KernelBuilder) -> KernelBuilder {
        builder.flag("SAVES_GRADIENTS", self.saved_words() > 0).constants(&[
            ("CHANNELS_IN", self.input.channels),
            ("HEIGHT", self.input.height),
            ("WIDTH", self.input.width),
            ("CHANNELS", self.output.channels),
            ("HEIGHT_OUT", self.output.height),
            ("WIDTH_OUT", self.output.width),
            ("KERNEL", self.kernel),
            ("STRIDE", self.stride),
            ("PADDING", self.padding),
        ])
    }
}
