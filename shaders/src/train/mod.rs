//! Training: the batches of each run, and the GPU kernels of DP-SGD, whose CPU twins are in
//! dpscope-train.

mod batches;
mod convolution;
mod factors;
mod finish;
mod initialize;
mod kernel;
mod linear;
mod loss;
mod memory;
mod norm;
mod numbers;
mod order;
mod output;
mod params;
mod pooling;
mod products;
mod saved;
mod selection;

pub use batches::{Batches, EpochBatches};
pub use convolution::{ConvolutionLayer, ImageShape};
pub use factors::{SquaredNorm, factors};
pub use finish::Finish;
pub use initialize::Initialization;
pub use kernel::Kernel;
pub use linear::LinearLayer;
pub use loss::Loss;
pub use memory::{Activation, Common, LayerMemory, Packing, Source};
pub use norm::NormLayer;
pub use numbers::Numbers;
pub use order::Order;
pub use params::PassParams;
pub use pooling::{Pooling, PoolingLayer};
pub use selection::RowSelection;
