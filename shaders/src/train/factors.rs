//! Norms and clipping factors of rows: the kernel of `factors.wgsl`.

use std::fmt::Write;

use super::kernel::Kernel;
use super::memory::{Common, Source, Stage};
use crate::wgsl::wgsl;

/// How the squared norm of a layer's gradient is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Squares {
    /// (‖inputs‖² + 1)·‖slopes‖², of a linear layer.
    Linear(Stage),
    /// The sum of so many parts a row, of a convolution.
    Summed(Stage, u32),
}

/// Factors of all rows.
///
/// # Reference
/// Goodfellow, "Efficient per-example gradient computations" (2015), arXiv:1510.01799.
#[must_use]
pub fn factors(common: &Common, layers: &[Squares], clip_norm: f32) -> Kernel {
    let records = layers.iter().find_map(|layer| match layer {
        Squares::Linear(stage) if matches!(stage.source, Source::Records { .. }) => Some(*stage),
        _ => None,
    });
    let any = layers.first().map(|(Squares::Linear(stage) | Squares::Summed(stage, _))| *stage);
    let mut total = String::from(
        "fn total(local: u32, row: u32) -> f32 {\nvar square = 0.0;\nvar x = vec2<f32>();\n",
    );
    let mut words = 0;
    for layer in layers {
        match layer {
            Squares::Linear(stage) => {
                let inputs = match stage.source {
                    Source::Values(first) => part("squares", first, stage.inputs),
                    Source::Records { .. } => "record_squares(local, row)".to_owned(),
                };
                let slopes = part("squares", stage.slopes, stage.outputs);
                let _ = writeln!(total, "x = joined(local, vec2<f32>({inputs}, {slopes}));");
                total.push_str("square += (x.x + 1.0) * x.y;\n");
                words += u64::from(stage.inputs) + u64::from(stage.outputs);
            }
            Squares::Summed(stage, count) => {
                let summed = part("summed", stage.partials, *count);
                let _ = writeln!(total, "square += joined(local, vec2<f32>({summed}, 0.0)).x;");
                words += u64::from(*count);
            }
        }
    }
    total.push_str("return square;\n}\n");
    let groups = u64::from(common.rows);
    let draft = match records.or(any) {
        Some(stage) => stage.draft(common, "factors", groups),
        None => common.draft("factors", groups),
    };
    draft
        .float("CLIP_NORM", clip_norm)
        .float("DOWN", 1.0 - 1.0 / 262_144.0)
        .part(&total)
        .part(wgsl!("factors.wgsl"))
        .finish(2 * words * groups)
}

fn part(function: &str, first: u32, count: u32) -> String {
    format!("{function}(local, model * VALUES + {first}u + row * {count}u, {count}u)")
}
