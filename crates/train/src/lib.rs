//! Small networks with per-example gradients by hand, for DP-SGD on many of them.

mod gradient;
mod layers;
pub mod model;

pub use gradient::{NormRoute, Rows, Workspace};
pub use layers::{Dual, Scalar};
pub use model::{LayerSpec, ModelError, ModelSpec, Network, Shape};
