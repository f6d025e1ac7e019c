//! Gradients: the reference for one example, and sums of clipped ones for a batch in f32.
//!
//! A batch is worked on in groups. Linear layers have their values row by row, one an example, and
//! are products of matrices. Convolutions and pooling have them in lanes: each value of a layer is 16
//! numbers, one an example, so that whatever the layer's shape, loops run over full vectors. An
//! elementwise layer has the layout of the layer that follows.

mod buffer;
mod clipped;
mod convolution;
pub(crate) mod elementary;
mod instruction_set;
mod linear;
mod matrix;
mod plan;
mod pointwise;
mod pooling;
mod products;
mod reference;
mod workspace;

pub use clipped::Rows;
pub use plan::NormMethod;
pub use workspace::Workspace;
