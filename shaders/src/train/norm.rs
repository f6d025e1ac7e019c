//! Group normalisation: the kernels of `norm.wgsl`.

use super::convolution::ImageShape;
use super::kernel::{Kernel, WORKGROUP};
use super::memory::{Common, LayerMemory};
use super::saved;
use crate::wgsl::wgsl;

/// Floating-point operations per value, forward and backward.
const OPERATIONS: [u64; 2] = [8, 18];

/// Group normalisation on R rows, with a weight and a bias per channel; weights precede biases.
///
/// Per-example gradients, two words per channel, are saved until the clipping factors are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormLayer {
    /// Memory layout.
    pub stage: LayerMemory,
    /// Shape of the input.
    pub input: ImageShape,
    /// Number of groups of channels.
    pub groups: u32,
    /// Constant added to variances.
    pub epsilon: f32,
}

impl NormLayer {
    /// Number of weights and biases, the words per row of the saved gradients.
    #[must_use]
    pub const fn parameters(&self) -> u64 {
        2 * self.input.channels as u64
    }

    /// Partial sums of squares per row.
    #[must_use]
    pub const fn partials(&self) -> u64 {
        self.groups as u64
    }

    /// Forward pass.
    #[must_use]
    pub fn forward(&self, common: &Common) -> Kernel {
        self.kernel(common, "norm forward", true, false)
    }

    /// Per-example gradients, sums of their squares and, if wanted, the gradient with respect to
    /// the inputs.
    #[must_use]
    pub fn gradients(&self, common: &Common, has_input_gradient: bool) -> Kernel {
        self.kernel(common, "norm gradients", false, has_input_gradient)
    }

    /// Sum of clipped gradients, Σ factor·gradient over the rows.
    #[must_use]
    pub fn sums(&self, common: &Common) -> Kernel {
        saved::sums(&self.stage, common, self.parameters())
    }

    fn kernel(
        &self,
        common: &Common,
        name: &str,
        forward: bool,
        has_input_gradient: bool,
    ) -> Kernel {
        let groups = u64::from(common.rows) * u64::from(self.groups);
        let (channels, positions) = (self.input.channels / self.groups, self.input.positions());
        let lanes = positions.next_power_of_two().min(WORKGROUP);
        let values = groups * u64::from(channels) * u64::from(positions);
        self.stage
            .draft(common, name, groups)
            .flag("FORWARD", forward)
            .flag("HAS_INPUT_GRADIENT", has_input_gradient)
            .float("EPSILON", self.epsilon)
            .float("SHARE", (1.0 / (f64::from(channels) * f64::from(positions))) as f32)
            .constants(&[
                ("NORM_GROUPS", self.groups),
                ("ALL_CHANNELS", self.input.channels),
                ("CHANNELS", channels),
                ("POSITIONS", positions),
                ("LANES", lanes),
            ])
            .part(wgsl!("norm.wgsl"))
            .finish(values * OPERATIONS[usize::from(!forward)])
    }
}
