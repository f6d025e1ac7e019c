//! Squared per-example gradient norms: the functions of `norms.wgsl`.

use std::fmt::Write;

use super::kernel::KernelBuilder;
use super::memory::{Common, LayerMemory, Source};
use crate::wgsl::wgsl;

/// Computation of the squared per-example gradient norm of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SquaredNorm {
    /// (‖inputs‖² + 1)·‖output gradient‖², for a linear layer.
    Linear(LayerMemory),
    /// The sum of this many partial sums per row, for a convolution.
    Summed(LayerMemory, u32),
}

/// A kernel with one workgroup per row and a function `total`, the squared norm of the row's
/// gradient, and the words that it reads per row.
pub(super) fn of_rows(common: &Common, name: &str, layers: &[SquaredNorm]) -> (KernelBuilder, u64) {
    let records = layers.iter().find_map(|layer| match layer {
        SquaredNorm::Linear(stage) if matches!(stage.source, Source::Records { .. }) => {
            Some(*stage)
        }
        _ => None,
    });
    let any =
        layers.first().map(|(SquaredNorm::Linear(stage) | SquaredNorm::Summed(stage, _))| *stage);
    let mut total = String::from(
        "fn total(local: u32, row: u32) -> f32 {\nvar square = 0.0;\nvar x = vec2<f32>();\n",
    );
    let mut words = 0;
    for layer in layers {
        match layer {
            SquaredNorm::Linear(stage) => {
                let inputs = match stage.source {
                    Source::Values(first) => part("squares", first, stage.inputs),
                    Source::Records { .. } => "record_squares(local, row)".to_owned(),
                };
                let gradients = part("squares", stage.output_gradient, stage.outputs);
                let _ = writeln!(total, "x = joined(local, vec2<f32>({inputs}, {gradients}));");
                total.push_str("square += (x.x + 1.0) * x.y;\n");
                words += u64::from(stage.inputs) + u64::from(stage.outputs);
            }
            SquaredNorm::Summed(stage, count) => {
                let summed = part("summed", stage.partials, *count);
                let _ = writeln!(total, "square += joined(local, vec2<f32>({summed}, 0.0)).x;");
                words += u64::from(*count);
            }
        }
    }
    total.push_str("return square;\n}\n");
    let groups = u64::from(common.rows);
    let builder = match records.or(any) {
        Some(stage) => stage.draft(common, name, groups),
        None => common.draft(name, groups),
    };
    (builder.part(&total).part(wgsl!("norms.wgsl")), words)
}

fn part(function: &str, first: u32, count: u32) -> String {
    format!("{function}(local, model * VALUES + {first}u + row * {count}u, {count}u)")
}
