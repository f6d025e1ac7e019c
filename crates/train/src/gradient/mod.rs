//! Gradients: a reference for one example, and the f32 sum of clipped per-example gradients of a
//! batch.
//!
//! A batch is processed in groups. Linear layers store their values row by row, one row per
//! example, and are matrix products. Convolutions and pooling use lanes: each value of a layer is
//! 16 numbers, one per example, so that loops run over full vectors whatever the shape of the
//! layer. An elementwise layer uses the layout of the next layer.

mod backward;
mod batch;
mod buffer;
mod clipped;
mod convolution;
mod dual;
pub(crate) mod elementary;
mod forward;
mod group_norm;
mod instruction_set;
mod lane_sums;
mod linear;
mod matrix;
mod norm_method;
mod pass;
mod plan;
mod plane;
mod pointwise;
mod pooling;
mod products;
mod reference;
mod row_directions;
mod row_products;
mod row_space;
mod second_order;
mod sparse_products;
mod transposition;
mod updates;
mod workspace;

pub use batch::{BatchRows, SparseRow};
pub(crate) use buffer::{Buffer, SLACK, gap};
pub use clipped::Rows;
pub(crate) use instruction_set::InstructionSet;
pub use norm_method::NormMethod;
pub(crate) use row_space::RowSpace;
pub(crate) use second_order::SecondOrderWorkspace;
pub use workspace::Workspace;
