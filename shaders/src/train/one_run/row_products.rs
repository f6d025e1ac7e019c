//! Products of gradients with the noisy sum: the kernel of `row_products.wgsl`.

use std::fmt::Write;

use super::super::kernel::Kernel;
use super::super::memory::{Activation, Common, LayerMemory};
use super::super::norms::{SquaredNorm, of_rows};
use super::consecutive::EvaluatedRecords;
use crate::wgsl::wgsl;

impl EvaluatedRecords {
    /// The kernel of ‖g‖² of each record and its product with the noisy sum: two words per record,
    /// for `steps` steps in turn. Each layer has the derivative of its outputs along the sum.
    #[must_use]
    pub fn row_products(
        &self,
        common: &Common,
        layers: &[SquaredNorm],
        along: &[Along],
        steps: u32,
    ) -> Kernel {
        let mut text = String::from("fn along(local: u32, row: u32) -> f32 {\nvar sum = 0.0;\n");
        let mut words = 0;
        for Along { outputs, output_gradient, derivative } in along {
            let place = |first| format!("model * VALUES + {first}u + row * {outputs}u");
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "sum += products(local, {}, {}, {outputs}u);",
                place(output_gradient),
                place(derivative)
            );
            words += u64::from(*outputs);
        }
        text.push_str("return sum;\n}\n");
        let (builder, squares) = of_rows(common, "row_products", layers);
        builder
            .constants(&self.constants())
            .constant("STEPS_PER_READING", steps)
            .part(&text)
            .part(wgsl!("row_products.wgsl"))
            .finish(2 * (words + squares) * u64::from(common.rows))
    }
}

/// Outputs of a layer with weights, and their derivative along the noisy sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Along {
    /// Outputs per row.
    pub outputs: u32,
    /// Offset of the gradient of the loss with respect to the outputs in `values`.
    pub output_gradient: u32,
    /// Offset of the derivative in `values`.
    pub derivative: u32,
}

/// The kernel of the derivative of a layer's outputs along the noisy sum, stored at `derivative`,
/// from the forward pass of the layer in the same memory.
#[must_use]
pub fn along_sum(
    stage: &LayerMemory,
    derivative: u32,
    forward: impl FnOnce(LayerMemory) -> Kernel,
) -> Kernel {
    let stage = LayerMemory { output: derivative, activation: Activation::Identity, ..*stage };
    let kernel = forward(stage);
    let name = format!("{} along the sum", kernel.name());
    kernel.with_sums_as_parameters(&name)
}
