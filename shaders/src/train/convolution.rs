//! Convolutions as products of matrices whose windows are never stored: the kernels of
//! `convolution.wgsl`.

use super::kept;
use super::kernel::{Draft, Kernel};
use super::memory::{Common, Stage};
use super::products::{Along, Parts, Product, Tile};
use crate::wgsl::wgsl;

/// Channels, rows and columns of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Picture {
    /// Channels.
    pub channels: u32,
    /// Rows of a channel.
    pub height: u32,
    /// Values of a row.
    pub width: u32,
}

impl Picture {
    /// Values of a channel.
    #[must_use]
    pub const fn positions(&self) -> u32 {
        self.height * self.width
    }
}

/// A convolution on R rows.
///
/// The squared norm of a row's gradient is found from the gradient itself, tile by tile. Where that
/// is small beside what flows, it is kept until the factors are known; else it is made again from
/// clipped slopes, which costs as many products as it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvolutionLayer {
    /// Where its numbers lie.
    pub stage: Stage,
    /// What comes in.
    pub input: Picture,
    /// What comes out.
    pub output: Picture,
    /// The side of a window.
    pub kernel: u32,
    /// From window to window.
    pub stride: u32,
    /// Zeros on each side of the input.
    pub padding: u32,
}

/// What flows may be this much less than a gradient that is kept.
const KEPT: u64 = 3;

impl ConvolutionLayer {
    const fn taps(&self) -> u64 {
        self.input.channels as u64 * self.kernel as u64 * self.kernel as u64
    }

    /// Weights and biases.
    #[must_use]
    pub const fn parameters(&self) -> u64 {
        self.output.channels as u64 * (self.taps() + 1)
    }

    /// Words a row of the gradients that are kept.
    #[must_use]
    pub const fn kept_words(&self) -> u64 {
        let flows = self.output.channels as u64 * self.output.positions() as u64;
        if self.parameters() <= KEPT * flows { self.parameters() } else { 0 }
    }

    /// Sums of squares a row.
    #[must_use]
    pub fn partials(&self, common: &Common) -> u64 {
        let product = self.row_gradients(common);
        Tile::of(&product).count(&product)
    }

    fn row_gradients(&self, common: &Common) -> Product {
        Product {
            rows: self.output.channels.into(),
            columns: self.taps() + 1,
            terms: self.output.positions().into(),
            count: common.rows.into(),
        }
    }

    /// Outputs from inputs.
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

    /// Slopes by the inputs from those by the outputs.
    #[must_use]
    pub fn slopes(&self, common: &Common) -> Kernel {
        let square = u64::from(self.kernel) * u64::from(self.kernel);
        let product = Product {
            rows: self.input.channels.into(),
            columns: u64::from(common.rows) * u64::from(self.input.positions()),
            terms: u64::from(self.output.channels) * square,
            count: 1,
        };
        self.product(common, &product, "slopes", [Along::Terms, Along::Tile])
    }

    /// Gradients of the rows, kept or not, and sums of their squares.
    #[must_use]
    pub fn gradients(&self, common: &Common) -> Kernel {
        let product = self.row_gradients(common);
        self.product(common, &product, "gradients", [Along::Terms, Along::Tile])
    }

    /// Σ factor·gradient over the rows.
    #[must_use]
    pub fn sums(&self, common: &Common) -> Kernel {
        if self.kept_words() > 0 {
            return kept::sums(&self.stage, common, self.parameters());
        }
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
        let tile = Tile::of(product);
        let groups = tile.count(product) * product.count;
        let parts = Parts { name, left, right, has_end: name == "gradients" };
        let draft = self.stage.draft(common, &format!("convolution {name}"), groups);
        tile.kernel(self.constants(draft).part(wgsl!("convolution.wgsl")), product, &parts)
    }

    fn constants(&self, draft: Draft) -> Draft {
        draft.flag("KEEPS", self.kept_words() > 0).constants(&[
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
